//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-B6FCX42A.js",
        include_bytes!("../assets/console/chunk-B6FCX42A.js.gz"),
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
        "later-HVEI5ZPI.js",
        include_bytes!("../assets/console/later-HVEI5ZPI.js.gz"),
    ),
    (
        "main-SSYSOJJ2.js",
        include_bytes!("../assets/console/main-SSYSOJJ2.js.gz"),
    ),
    (
        "words.en-6P7VHY6Q.js",
        include_bytes!("../assets/console/words.en-6P7VHY6Q.js.gz"),
    ),
];
