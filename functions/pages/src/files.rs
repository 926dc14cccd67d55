//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-6VJ7HO7J.js",
        include_bytes!("../assets/console/chunk-6VJ7HO7J.js.gz"),
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
        "later-FRO6EFT4.js",
        include_bytes!("../assets/console/later-FRO6EFT4.js.gz"),
    ),
    (
        "main-3LIETNVY.js",
        include_bytes!("../assets/console/main-3LIETNVY.js.gz"),
    ),
    (
        "words.en-T7HRDLOH.js",
        include_bytes!("../assets/console/words.en-T7HRDLOH.js.gz"),
    ),
];
