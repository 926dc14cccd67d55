//! The files of the console, written by `console/build.mjs`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
    (
        "chunk-IJ3VYEDL.js",
        include_bytes!("../assets/console/chunk-IJ3VYEDL.js.gz"),
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
        "later-OHTVATQ2.js",
        include_bytes!("../assets/console/later-OHTVATQ2.js.gz"),
    ),
    (
        "main-G547ZL72.js",
        include_bytes!("../assets/console/main-G547ZL72.js.gz"),
    ),
    (
        "words.en-MJDBRA7W.js",
        include_bytes!("../assets/console/words.en-MJDBRA7W.js.gz"),
    ),
];
