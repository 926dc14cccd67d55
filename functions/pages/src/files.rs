//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-DE6TA3PX.js",
        include_bytes!("../assets/console/chunk-DE6TA3PX.js.gz"),
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
        "later-3NJOYTZX.js",
        include_bytes!("../assets/console/later-3NJOYTZX.js.gz"),
    ),
    (
        "main-NWWQK4CH.js",
        include_bytes!("../assets/console/main-NWWQK4CH.js.gz"),
    ),
    (
        "words.en-KWA32GJ6.js",
        include_bytes!("../assets/console/words.en-KWA32GJ6.js.gz"),
    ),
];
