//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-RFUEZK6D.js",
        include_bytes!("../assets/console/chunk-RFUEZK6D.js.gz"),
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
        "later-3P42B45C.js",
        include_bytes!("../assets/console/later-3P42B45C.js.gz"),
    ),
    (
        "main-X26DTDCT.js",
        include_bytes!("../assets/console/main-X26DTDCT.js.gz"),
    ),
    (
        "words.en-JK5JC3NS.js",
        include_bytes!("../assets/console/words.en-JK5JC3NS.js.gz"),
    ),
];
