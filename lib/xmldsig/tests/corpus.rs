//! The fuzz targets' inputs, replayed without a fuzzer.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;

use common::identity;
use xmldsig::{Identity, Limits, Method, canonicalize, examine, sign_foreign, verify};

/// Runs `check` on every input of a target and says how many there were.
fn replay(target: &str, check: impl Fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| check(&std::fs::read(entry.unwrap().path()).unwrap()))
        .count()
}

#[test]
fn canonical_forms_are_stable() {
    let limits = Limits::default();
    let count = replay("canonicalize", |xml| {
        for method in [Method::Inclusive, Method::Exclusive] {
            if let Ok(once) = canonicalize(xml, method, &limits) {
                assert_eq!(canonicalize(&once, method, &limits).as_ref(), Ok(&once));
            }
        }
    });
    assert!(count >= 4);
}

#[test]
fn whatever_can_be_signed_verifies() {
    let limits = Limits::default();
    let count = replay("sign_foreign", |xml| {
        if let Ok(signed) = sign_foreign(xml, identity(), &limits) {
            verify(&signed.xml, &limits).unwrap();
        }
    });
    assert!(count >= 4);
}

#[test]
fn reports_agree_with_verdicts() {
    let limits = Limits::default();
    let count = replay("verify", |xml| {
        let report = examine(xml, &limits);
        assert_eq!(report.is_valid(), verify(xml, &limits).is_ok());
    });
    assert!(count >= 2);
}

#[test]
fn no_file_makes_the_p12_reader_panic() {
    assert!(replay("pkcs12", |file| drop(Identity::from_pkcs12(file, "clave"))) >= 2);
}
