//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-5QO6O3MZ.js",
        include_bytes!("../assets/console/chunk-5QO6O3MZ.js.gz"),
    ),
    (
        "console-VBJO3QPC.css",
        include_bytes!("../assets/console/console-VBJO3QPC.css.gz"),
    ),
    (
        "icon-33361B34.svg",
        include_bytes!("../assets/console/icon-33361B34.svg.gz"),
    ),
    (
        "later-PVVC4WPD.js",
        include_bytes!("../assets/console/later-PVVC4WPD.js.gz"),
    ),
    (
        "main-6U3N75L2.js",
        include_bytes!("../assets/console/main-6U3N75L2.js.gz"),
    ),
    (
        "words.en-MQUKDEVG.js",
        include_bytes!("../assets/console/words.en-MQUKDEVG.js.gz"),
    ),
];
