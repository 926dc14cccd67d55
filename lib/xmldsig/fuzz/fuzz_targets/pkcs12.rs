#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| xmldsig_fuzz::pkcs12(file));
