//! No file makes the reader of P12 files panic or work without end, and opening and inspecting agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xmldsig::{Identity, P12Problem, inspect_pkcs12};

fuzz_target!(|file: &[u8]| {
    let opened = Identity::from_pkcs12(file, "clave");
    let now = "2026-11-28T00:00:00Z".parse().unwrap();
    let inspection = inspect_pkcs12(file, "clave", now);
    let refusal = inspection.problems.iter().find_map(|problem| match problem {
        P12Problem::File(error) => Some(error),
        _ => None,
    });
    assert_eq!(opened.err().as_ref(), refusal);
});
