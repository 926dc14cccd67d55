#![no_main]

libfuzzer_sys::fuzz_target!(|xml: &[u8]| ecf_fuzz::receive(xml));
