//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-4YG36SMQ.js",
        include_bytes!("../assets/console/chunk-4YG36SMQ.js.gz"),
    ),
    (
        "console-5QVLWBWG.css",
        include_bytes!("../assets/console/console-5QVLWBWG.css.gz"),
    ),
    (
        "icon-33361B34.svg",
        include_bytes!("../assets/console/icon-33361B34.svg.gz"),
    ),
    (
        "later-HF3F3CTE.js",
        include_bytes!("../assets/console/later-HF3F3CTE.js.gz"),
    ),
    (
        "main-WOEXKBFI.js",
        include_bytes!("../assets/console/main-WOEXKBFI.js.gz"),
    ),
    (
        "words.en-MQUKDEVG.js",
        include_bytes!("../assets/console/words.en-MQUKDEVG.js.gz"),
    ),
];
