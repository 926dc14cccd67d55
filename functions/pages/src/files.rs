//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-HLQ6EEVG.js",
        include_bytes!("../assets/console/chunk-HLQ6EEVG.js.gz"),
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
        "later-BXSOCON3.js",
        include_bytes!("../assets/console/later-BXSOCON3.js.gz"),
    ),
    (
        "main-HECY2IKC.js",
        include_bytes!("../assets/console/main-HECY2IKC.js.gz"),
    ),
    (
        "words.en-RYAR22EP.js",
        include_bytes!("../assets/console/words.en-RYAR22EP.js.gz"),
    ),
];
