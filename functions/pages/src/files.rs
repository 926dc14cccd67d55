//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-KIHMOZGL.js",
        include_bytes!("../assets/console/chunk-KIHMOZGL.js.gz"),
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
        "later-U4VFSDVB.js",
        include_bytes!("../assets/console/later-U4VFSDVB.js.gz"),
    ),
    (
        "main-WD3H6N4Z.js",
        include_bytes!("../assets/console/main-WD3H6N4Z.js.gz"),
    ),
    (
        "words.en-RYAR22EP.js",
        include_bytes!("../assets/console/words.en-RYAR22EP.js.gz"),
    ),
];
