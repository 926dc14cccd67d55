//! No file makes the reader of P12 files panic or work without end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xmldsig::Identity;

fuzz_target!(|file: &[u8]| {
    let _ = Identity::from_pkcs12(file, "clave");
});
