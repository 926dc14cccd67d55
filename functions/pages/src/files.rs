//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-VKUOAGJU.js",
        include_bytes!("../assets/console/chunk-VKUOAGJU.js.gz"),
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
        "later-3YK4K56J.js",
        include_bytes!("../assets/console/later-3YK4K56J.js.gz"),
    ),
    (
        "main-3LGPTCMS.js",
        include_bytes!("../assets/console/main-3LGPTCMS.js.gz"),
    ),
    (
        "words.en-MJDBRA7W.js",
        include_bytes!("../assets/console/words.en-MJDBRA7W.js.gz"),
    ),
];
