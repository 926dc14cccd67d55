//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-HO7BBM5H.js",
        include_bytes!("../assets/console/chunk-HO7BBM5H.js.gz"),
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
        "later-ABJWSJFA.js",
        include_bytes!("../assets/console/later-ABJWSJFA.js.gz"),
    ),
    (
        "main-DNOPPIMM.js",
        include_bytes!("../assets/console/main-DNOPPIMM.js.gz"),
    ),
    (
        "words.en-EI7OAL57.js",
        include_bytes!("../assets/console/words.en-EI7OAL57.js.gz"),
    ),
];
