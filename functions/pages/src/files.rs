//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-NIZN6XX3.js",
        include_bytes!("../assets/console/chunk-NIZN6XX3.js.gz"),
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
        "later-Q5MXTOAB.js",
        include_bytes!("../assets/console/later-Q5MXTOAB.js.gz"),
    ),
    (
        "main-KNFDQ76C.js",
        include_bytes!("../assets/console/main-KNFDQ76C.js.gz"),
    ),
    (
        "words.en-RYAR22EP.js",
        include_bytes!("../assets/console/words.en-RYAR22EP.js.gz"),
    ),
];
