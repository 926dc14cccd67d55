//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-PVIGMQ7Q.js",
        include_bytes!("../assets/console/chunk-PVIGMQ7Q.js.gz"),
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
        "later-NSZZG45W.js",
        include_bytes!("../assets/console/later-NSZZG45W.js.gz"),
    ),
    (
        "main-SKBVWVLC.js",
        include_bytes!("../assets/console/main-SKBVWVLC.js.gz"),
    ),
    (
        "words.en-LEQ2YZ7H.js",
        include_bytes!("../assets/console/words.en-LEQ2YZ7H.js.gz"),
    ),
];
