//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-FBOGFULA.js",
        include_bytes!("../assets/console/chunk-FBOGFULA.js.gz"),
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
        "later-L6XMBV5Q.js",
        include_bytes!("../assets/console/later-L6XMBV5Q.js.gz"),
    ),
    (
        "main-ZV2KZ6XZ.js",
        include_bytes!("../assets/console/main-ZV2KZ6XZ.js.gz"),
    ),
    (
        "words.en-RYAR22EP.js",
        include_bytes!("../assets/console/words.en-RYAR22EP.js.gz"),
    ),
];
