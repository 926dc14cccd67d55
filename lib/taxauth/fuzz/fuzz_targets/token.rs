#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ecf_taxauth::fuzz::token(bytes));
