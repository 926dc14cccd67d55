//! A canonical form is well-formed, and is its own canonical form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xmldsig::{Limits, Method, canonicalize};

fuzz_target!(|xml: &[u8]| {
    let limits = Limits::default();
    // Escaping can make it larger than what was read.
    let wide = Limits { max_bytes: limits.max_bytes * 10, ..limits };
    for method in [Method::Inclusive, Method::Exclusive] {
        if let Ok(once) = canonicalize(xml, method, &limits) {
            assert_eq!(canonicalize(&once, method, &wide).as_ref(), Ok(&once));
        }
    }
});
