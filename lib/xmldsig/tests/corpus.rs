//! The fuzz targets' inputs, replayed without a fuzzer.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;

use common::identity;
use openssl::x509::X509;
use xmldsig::{
    Certificate, Identity, Limits, Method, P12Problem, PublicKey, canonicalize, examine, inspect_pkcs12, sign_foreign,
    verify,
};

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
    let now = "2026-11-28T00:00:00Z".parse().unwrap();
    let count = replay("pkcs12", |file| {
        let opened = Identity::from_pkcs12(file, "clave");
        let problems = inspect_pkcs12(file, "clave", now).problems;
        let refusal = problems.iter().find_map(|problem| match problem {
            P12Problem::File(error) => Some(error),
            _ => None,
        });
        assert_eq!(opened.err().as_ref(), refusal);
    });
    assert!(count >= 2);
}

#[test]
fn certificates_are_read_as_openssl_reads_them() {
    let count = replay("certificate", |der| {
        let Ok(ours) = Certificate::from_der(der) else { return };
        let theirs = X509::from_der(der).unwrap();
        let key = theirs.public_key().unwrap();
        assert_eq!(ours.public_key, PublicKey::Rsa { bits: key.bits() });
    });
    assert!(count >= 3);
}
