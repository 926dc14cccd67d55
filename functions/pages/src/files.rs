//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-Z3Q5C7BY.js",
        include_bytes!("../assets/console/chunk-Z3Q5C7BY.js.gz"),
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
        "later-UOZSZBNQ.js",
        include_bytes!("../assets/console/later-UOZSZBNQ.js.gz"),
    ),
    (
        "main-TYHTWVOD.js",
        include_bytes!("../assets/console/main-TYHTWVOD.js.gz"),
    ),
    (
        "words.en-MQUKDEVG.js",
        include_bytes!("../assets/console/words.en-MQUKDEVG.js.gz"),
    ),
];
