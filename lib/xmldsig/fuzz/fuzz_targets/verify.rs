//! Whatever is verified verifies again, and its report agrees.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xmldsig::{Limits, examine, verify};

fuzz_target!(|xml: &[u8]| {
    let limits = Limits::default();
    let report = examine(xml, &limits);
    assert_eq!(report.is_valid(), verify(xml, &limits).is_ok());
    assert_eq!(report.is_valid(), report.into_result().is_ok());
});
