//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-HKQMYTHE.js",
        include_bytes!("../assets/console/chunk-HKQMYTHE.js.gz"),
    ),
    (
        "console-PWCOM6KB.css",
        include_bytes!("../assets/console/console-PWCOM6KB.css.gz"),
    ),
    (
        "icon-33361B34.svg",
        include_bytes!("../assets/console/icon-33361B34.svg.gz"),
    ),
    (
        "later-4J2FWIYQ.js",
        include_bytes!("../assets/console/later-4J2FWIYQ.js.gz"),
    ),
    (
        "main-EBLPK6ZL.js",
        include_bytes!("../assets/console/main-EBLPK6ZL.js.gz"),
    ),
    (
        "words.en-MQUKDEVG.js",
        include_bytes!("../assets/console/words.en-MQUKDEVG.js.gz"),
    ),
];
