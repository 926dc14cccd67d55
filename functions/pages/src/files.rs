//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-Q4Y3IBLW.js",
        include_bytes!("../assets/console/chunk-Q4Y3IBLW.js.gz"),
    ),
    (
        "console-OZZ2ZF4P.css",
        include_bytes!("../assets/console/console-OZZ2ZF4P.css.gz"),
    ),
    (
        "icon-33361B34.svg",
        include_bytes!("../assets/console/icon-33361B34.svg.gz"),
    ),
    (
        "later-46C2FHQU.js",
        include_bytes!("../assets/console/later-46C2FHQU.js.gz"),
    ),
    (
        "main-IE7NTUDJ.js",
        include_bytes!("../assets/console/main-IE7NTUDJ.js.gz"),
    ),
    (
        "words.en-IDQC3PKV.js",
        include_bytes!("../assets/console/words.en-IDQC3PKV.js.gz"),
    ),
];
