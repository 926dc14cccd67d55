//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-GEQVVXQQ.js",
        include_bytes!("../assets/console/chunk-GEQVVXQQ.js.gz"),
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
        "later-GCTS4XOK.js",
        include_bytes!("../assets/console/later-GCTS4XOK.js.gz"),
    ),
    (
        "main-TQLANWIN.js",
        include_bytes!("../assets/console/main-TQLANWIN.js.gz"),
    ),
    (
        "words.en-6P7VHY6Q.js",
        include_bytes!("../assets/console/words.en-6P7VHY6Q.js.gz"),
    ),
];
