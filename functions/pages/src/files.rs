//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-XMLNVM6Q.js",
        include_bytes!("../assets/console/chunk-XMLNVM6Q.js.gz"),
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
        "later-SAU6H3UF.js",
        include_bytes!("../assets/console/later-SAU6H3UF.js.gz"),
    ),
    (
        "main-DMT265AH.js",
        include_bytes!("../assets/console/main-DMT265AH.js.gz"),
    ),
    (
        "words.en-LEQ2YZ7H.js",
        include_bytes!("../assets/console/words.en-LEQ2YZ7H.js.gz"),
    ),
];
