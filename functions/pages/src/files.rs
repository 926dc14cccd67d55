//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-BCLY3WMS.js",
        include_bytes!("../assets/console/chunk-BCLY3WMS.js.gz"),
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
        "later-6ABELI4H.js",
        include_bytes!("../assets/console/later-6ABELI4H.js.gz"),
    ),
    (
        "main-5GXXEYJP.js",
        include_bytes!("../assets/console/main-5GXXEYJP.js.gz"),
    ),
    (
        "words.en-MQUKDEVG.js",
        include_bytes!("../assets/console/words.en-MQUKDEVG.js.gz"),
    ),
];
