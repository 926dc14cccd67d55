#![no_main]

libfuzzer_sys::fuzz_target!(|xml: &[u8]| xmldsig_fuzz::canonicalize(xml));
