//! Whatever can be signed verifies.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use xmldsig::{Identity, Limits, sign_foreign, testing, verify};

fuzz_target!(|xml: &[u8]| {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(|| {
        let (from, to) = ("2020-01-01T00:00:00Z".parse().unwrap(), "2040-01-01T00:00:00Z".parse().unwrap());
        Identity::from_pkcs12(&testing::pkcs12("Firma", "1", "", from, to).unwrap(), "").unwrap()
    });
    let limits = Limits::default();
    if let Ok(signed) = sign_foreign(xml, identity, &limits) {
        let wide = Limits { max_bytes: limits.max_bytes * 10, max_depth: limits.max_depth + 8, ..limits };
        verify(&signed.xml, &wide).unwrap();
    }
});
