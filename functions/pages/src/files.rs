//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-QL3DHLTR.js",
        include_bytes!("../assets/console/chunk-QL3DHLTR.js.gz"),
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
        "later-VJJTPKLB.js",
        include_bytes!("../assets/console/later-VJJTPKLB.js.gz"),
    ),
    (
        "main-4OETISSA.js",
        include_bytes!("../assets/console/main-4OETISSA.js.gz"),
    ),
    (
        "words.en-OV3AI76I.js",
        include_bytes!("../assets/console/words.en-OV3AI76I.js.gz"),
    ),
];
