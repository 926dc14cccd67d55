#![no_main]

libfuzzer_sys::fuzz_target!(|der: &[u8]| xmldsig_fuzz::certificate(der));
