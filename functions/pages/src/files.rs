//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-UOTW3DKG.js",
        include_bytes!("../assets/console/chunk-UOTW3DKG.js.gz"),
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
        "later-36MZS4X4.js",
        include_bytes!("../assets/console/later-36MZS4X4.js.gz"),
    ),
    (
        "main-JCJI7KQY.js",
        include_bytes!("../assets/console/main-JCJI7KQY.js.gz"),
    ),
    (
        "words.en-LEQ2YZ7H.js",
        include_bytes!("../assets/console/words.en-LEQ2YZ7H.js.gz"),
    ),
];
