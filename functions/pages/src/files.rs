//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-63VIIMO4.js",
        include_bytes!("../assets/console/chunk-63VIIMO4.js.gz"),
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
        "later-2W6LMIGW.js",
        include_bytes!("../assets/console/later-2W6LMIGW.js.gz"),
    ),
    (
        "main-SOSKHJLM.js",
        include_bytes!("../assets/console/main-SOSKHJLM.js.gz"),
    ),
    (
        "words.en-JK5JC3NS.js",
        include_bytes!("../assets/console/words.en-JK5JC3NS.js.gz"),
    ),
];
