//! The results of an inspection, for usable and unusable files.

#![expect(clippy::unwrap_used, reason = "tests")]

use jiff::Timestamp;
use test_certificates::{Cipher, Party};
use xmldsig::{CertificateError, P12Error, P12Problem, PublicKey, inspect_pkcs12};

const PASSWORD: &str = "prueba123";

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn from() -> Timestamp {
    instant("2026-01-01T00:00:00Z")
}

fn to() -> Timestamp {
    instant("2028-01-01T00:00:00Z")
}

fn now() -> Timestamp {
    instant("2026-11-28T00:00:00Z")
}

fn party(common_name: &str) -> Party {
    Party::new(common_name, "IDCDO-00100000009", from(), to()).unwrap()
}

#[test]
fn a_good_file_is_told_whole() {
    let root = Party::authority("Raíz", from(), to(), None).unwrap();
    let authority = Party::authority("Autoridad", from(), to(), Some(&root)).unwrap();
    let leaf = authority.issue("Ñandú", "IDCDO-00100000001", from(), to()).unwrap();
    let der = test_certificates::file(Some(&leaf), &[&root, &leaf, &authority], Cipher::Aes256, PASSWORD).unwrap();
    let found = inspect_pkcs12(&der, PASSWORD, now());
    assert_eq!(found.size_bytes, der.len());
    assert_eq!(found.password_fits, Some(true));
    assert_eq!(found.mac.unwrap().algorithm, "HMAC-SHA-256");
    let encryption: Vec<_> = found
        .encryption
        .iter()
        .map(|part| (part.algorithm.as_str(), part.iterations, part.supported, part.weak))
        .collect();
    let aes = "PBES2 with AES-256-CBC and PBKDF2-HMAC-SHA-256";
    assert_eq!(encryption, [(aes, Some(2048), true, false)]);
    assert_eq!(found.keys.len(), 1);
    assert_eq!(found.keys[0].kind, Some(PublicKey::Rsa { bits: 2048 }));
    assert_eq!(found.keys[0].friendly_name.as_deref(), Some("Ñandú"));
    let names: Vec<_> = found
        .certificates
        .iter()
        .map(|one| {
            (
                one.certificate.subject_cn.as_str(),
                one.has_key,
                one.certificate.is_authority,
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("Ñandú", true, false),
            ("Raíz", false, true),
            ("Autoridad", false, true)
        ]
    );
    assert_eq!(found.keys[0].certificate, Some(0));
    assert_eq!(found.chain, [0, 2, 1]);
    assert_eq!(found.problems, []);
}

#[test]
fn a_wrong_password_leaves_the_algorithms_and_the_name_of_the_key() {
    let leaf = party("Firma vieja");
    let der = test_certificates::file(Some(&leaf), &[&leaf], Cipher::Rc2With40Bits, PASSWORD).unwrap();
    let found = inspect_pkcs12(&der, "equivocada", now());
    assert_eq!(found.password_fits, Some(false));
    assert_eq!(found.mac.unwrap().algorithm, "HMAC-SHA-1");
    assert_eq!(found.encryption[0].algorithm, "PBE-SHA1-RC2-40");
    assert_eq!(found.keys[0].kind, None);
    assert_eq!(found.keys[0].friendly_name.as_deref(), Some("Firma vieja"));
    assert!(found.certificates.is_empty() && found.chain.is_empty());
    let weak = P12Problem::WeakEncryption {
        algorithm: "PBE-SHA1-RC2-40".to_owned(),
    };
    assert_eq!(
        found.problems,
        [P12Problem::File(P12Error::WrongPassword), weak.clone()]
    );
    let found = inspect_pkcs12(&der, PASSWORD, now());
    assert_eq!(found.certificates[0].certificate.subject_cn, "Firma vieja");
    assert_eq!(found.problems, [weak]);
}

#[test]
fn an_unsupported_cipher_is_named() {
    let leaf = party("Firma");
    let der = test_certificates::file(Some(&leaf), &[&leaf], Cipher::Rc4With128Bits, PASSWORD).unwrap();
    let found = inspect_pkcs12(&der, PASSWORD, now());
    assert_eq!(found.password_fits, Some(true));
    assert_eq!(found.encryption[0].algorithm, "PBE-SHA1-RC4-128");
    assert!(!found.encryption[0].supported);
    let codes: Vec<_> = found.problems.iter().map(P12Problem::code).collect();
    assert_eq!(codes, ["unsupported_cipher"]);
}

#[test]
fn dates_usage_and_mismatch_are_problems_of_the_signer() {
    let leaf = party("Firma");
    let der = test_certificates::file(Some(&leaf), &[&leaf], Cipher::TripleDes, PASSWORD).unwrap();
    let at = |now: &str| inspect_pkcs12(&der, PASSWORD, instant(now)).problems;
    assert!(matches!(
        at("2025-01-01T00:00:00Z").as_slice(),
        [P12Problem::Signer(CertificateError::NotYetValid { .. })]
    ));
    assert!(matches!(
        at("2029-01-01T00:00:00Z").as_slice(),
        [P12Problem::Signer(CertificateError::Expired { .. })]
    ));
    let encrypting = Party::without_signing_usage("Cifrado", "1", from(), to()).unwrap();
    let der = test_certificates::file(Some(&encrypting), &[&encrypting], Cipher::Aes256, PASSWORD).unwrap();
    let found = inspect_pkcs12(&der, PASSWORD, now());
    assert_eq!(found.problems, [P12Problem::Signer(CertificateError::KeyUsage)]);

    let foreign = party("Ajena");
    let der = test_certificates::file(Some(&leaf), &[&foreign], Cipher::Aes256, PASSWORD).unwrap();
    let found = inspect_pkcs12(&der, PASSWORD, now());
    assert_eq!(
        found.problems,
        [P12Problem::File(P12Error::KeyMismatch { certificates: 1 })]
    );
    assert_eq!(
        (found.keys[0].certificate, found.certificates[0].has_key),
        (None, false)
    );
    let der = test_certificates::file(None, &[&foreign], Cipher::Aes256, PASSWORD).unwrap();
    assert_eq!(
        inspect_pkcs12(&der, PASSWORD, now()).problems,
        [P12Problem::File(P12Error::NoKey)]
    );

    let authority = Party::authority("Autoridad", from(), to(), None).unwrap();
    let der = test_certificates::file(Some(&authority), &[&authority], Cipher::Aes256, PASSWORD).unwrap();
    let found = inspect_pkcs12(&der, PASSWORD, now());
    assert_eq!(
        found.problems,
        [
            P12Problem::Signer(CertificateError::KeyUsage),
            P12Problem::SignerIsAuthority
        ]
    );
}

#[test]
fn what_is_no_p12_is_told_once() {
    for (bytes, code) in [
        (&b"-----BEGIN"[..], "other_format"),
        (b"", "other_format"),
        (b"\x30\x03\x02\x01\x03", "damaged"),
        (&[0x30; 600 * 1024], "too_large"),
    ] {
        let found = inspect_pkcs12(bytes, PASSWORD, now());
        let codes: Vec<_> = found.problems.iter().map(P12Problem::code).collect();
        assert_eq!(codes, [code]);
        assert!(found.problems[0].is_fatal());
    }
}
