#![no_main]

libfuzzer_sys::fuzz_target!(|xml: &[u8]| xmldsig_fuzz::sign_foreign(xml));
