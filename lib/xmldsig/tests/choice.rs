//! Which key and certificate sign when a file has several.

#![expect(clippy::unwrap_used, reason = "tests")]

use jiff::Timestamp;
use openssl::ec::{EcGroup, EcKey};
use openssl::nid::Nid;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::PKey;
use openssl::stack::Stack;
use openssl::x509::X509;
use test_certificates::{Cipher, Mac, Party};
use xmldsig::{CertificateError, Identity, P12Error, P12Problem, inspect_pkcs12};

const PASSWORD: &str = "contraseña";

fn day(text: &str) -> Timestamp {
    format!("{text}T00:00:00Z").parse().unwrap()
}

fn now() -> Timestamp {
    day("2026-11-28")
}

fn party(name: &str, from: &str, to: &str) -> Party {
    Party::new(name, "IDCDO-00100000001", day(from), day(to)).unwrap()
}

fn for_encryption(to: &str) -> Party {
    Party::without_signing_usage("Cifrado", "IDCDO-00100000001", day("2026-01-01"), day(to)).unwrap()
}

fn several(keys: &[&Party], certificates: &[&Party]) -> Vec<u8> {
    test_certificates::assembled(keys, certificates, PASSWORD, Mac::Sha256).unwrap()
}

fn open_at(file: &[u8], now: Timestamp) -> Identity {
    Identity::from_pkcs12(file, PASSWORD, now).unwrap_or_else(|error| panic!("{error}"))
}

/// The end of the signer's validity. Opening and inspecting choose the same certificate, and the key matches.
fn ends(file: &[u8], now: Timestamp) -> Timestamp {
    let identity = open_at(file, now);
    identity.prove().unwrap();
    let found = inspect_pkcs12(file, PASSWORD, now);
    assert_eq!(found.certificates[found.chain[0]].certificate, *identity.certificate());
    assert_eq!(
        found.problems.iter().any(P12Problem::is_fatal),
        identity.choice().usable.is_empty(),
        "{:?}",
        found.problems
    );
    identity.certificate().not_after
}

#[test]
fn k7_a_reencrypted_file_holds_the_same_keys_and_certificates_and_opens_at_once() {
    let expired = party("Firma", "2024-01-01", "2026-01-01");
    let renewed = expired.renewed(day("2025-12-15"), day("2028-01-01")).unwrap();
    let next = party("Otra", "2027-12-01", "2030-01-01");
    let encryption = for_encryption("2031-01-01");
    let keys = [&encryption, &expired, &next];
    let file = several(&keys, &[&expired, &next, &renewed, &encryption]);
    let (opened, ours) = Identity::reencrypt_pkcs12(&file, PASSWORD, now(), &[7; 64]).unwrap();
    opened.prove().unwrap();
    assert_eq!(
        Identity::from_pkcs12(&ours.file, PASSWORD, now()).unwrap_err(),
        P12Error::WrongPassword,
        "the old password is not kept"
    );
    for moment in ["2025-01-01", "2026-11-28", "2029-01-01", "2040-01-01"].map(day) {
        let (before, after) = (
            open_at(&file, moment),
            Identity::from_pkcs12(&ours.file, &ours.password, moment).unwrap(),
        );
        after.prove().unwrap();
        assert_eq!(after.certificate(), before.certificate(), "{moment}");
        assert_eq!(after.choice(), before.choice(), "{moment}");
        assert_eq!(after.other_certificates(), before.other_certificates(), "{moment}");
    }
    let found = inspect_pkcs12(&ours.file, &ours.password, now());
    let protections = found.keys.iter().map(|key| key.protection.as_ref().unwrap());
    for protection in protections.chain(&found.mac) {
        assert_eq!(
            (protection.iterations, protection.weak),
            (Some(2048), false),
            "{protection:?}"
        );
    }
    assert_eq!(found.keys.len(), keys.len());
    assert!(found.mac.is_some());
    // Another reader also opens the file, and no random value repeats: neither between files nor between keys.
    let theirs = Pkcs12::from_der(&ours.file).unwrap().parse2(&ours.password).unwrap();
    assert!(theirs.pkey.is_some());
    let (_, again) = Identity::reencrypt_pkcs12(&file, PASSWORD, now(), &[8; 64]).unwrap();
    assert_ne!((&again.file, &again.password), (&ours.file, &ours.password));
    let refused = Identity::reencrypt_pkcs12(&file, "equivocada", now(), &[7; 64]);
    assert_eq!(refused.err(), Some(P12Error::WrongPassword));
}

#[test]
fn e1_a_renewed_certificate_signs_wherever_it_stands_in_the_file() {
    let expired = party("Firma", "2024-01-01", "2026-01-01");
    let renewed = expired.renewed(day("2025-12-15"), day("2028-01-01")).unwrap();
    for certificates in [[&expired, &renewed], [&renewed, &expired]] {
        // Written by us, and by OpenSSL, which writes the key's certificate first.
        let ours = several(&[&expired], &certificates);
        let theirs =
            test_certificates::file(Some(certificates[0]), &certificates, Cipher::TripleDes, PASSWORD).unwrap();
        for file in [ours, theirs] {
            assert_eq!(ends(&file, now()), day("2028-01-01"));
            let identity = open_at(&file, now());
            assert_eq!(identity.choice().unusable.len(), 1);
            assert_eq!(identity.other_certificates().len(), 1);
            // Before the renewal, and after all certificates have expired.
            assert_eq!(ends(&file, day("2025-12-14")), day("2026-01-01"));
            assert_eq!(ends(&file, day("2029-01-01")), day("2028-01-01"));
        }
    }
}

#[test]
fn e1_of_several_usable_certificates_the_one_that_lasts_longest_signs_and_the_inspection_says_so() {
    let short = party("Firma", "2026-01-01", "2027-01-01");
    let long = short.renewed(day("2026-11-01"), day("2028-11-01")).unwrap();
    let later = short.renewed(day("2026-12-01"), day("2029-12-01")).unwrap();
    let file = several(&[&short], &[&short, &later, &long]);
    assert_eq!(ends(&file, now()), day("2028-11-01"));
    assert_eq!(ends(&file, day("2026-10-01")), day("2027-01-01"));
    assert_eq!(ends(&file, day("2026-12-01")), day("2029-12-01"));
    let problems = inspect_pkcs12(&file, PASSWORD, now()).problems;
    let codes: Vec<_> = problems.iter().map(P12Problem::code).collect();
    assert_eq!(codes, ["not_chosen", "several_certificates"]);
    let subject = "C=DO, CN=Firma, serialNumber=IDCDO-00100000001";
    assert_eq!(
        problems[0].to_string(),
        format!("{subject}, valid from 2026-12-01T00:00:00Z to 2029-12-01T00:00:00Z: not valid yet")
    );
    assert_eq!(
        problems[1].to_string(),
        format!(
            "2 certificates of the file can sign now; {subject} signs, because it lasts longest, until 2028-11-01T00:00:00Z"
        )
    );
}

#[test]
fn e1_a_certificate_that_is_in_the_file_twice_counts_once() {
    let signer = party("Firma", "2026-01-01", "2028-01-01");
    let file = several(&[&signer], &[&signer, &signer]);
    assert_eq!(open_at(&file, now()).choice().usable.len(), 1);
    assert_eq!(inspect_pkcs12(&file, PASSWORD, now()).problems, []);
}

#[test]
fn e2_the_key_that_may_sign_is_taken_whichever_comes_first() {
    let encrypting = for_encryption("2030-01-01");
    let expired = party("Anterior", "2024-01-01", "2026-01-01");
    let signer = party("Firma", "2026-01-01", "2028-01-01");
    for other in [&encrypting, &expired] {
        for keys in [[other, &signer], [&signer, other]] {
            for certificates in [[other, &signer], [&signer, other]] {
                let file = several(&keys, &certificates);
                assert_eq!(ends(&file, now()), day("2028-01-01"));
                let found = inspect_pkcs12(&file, PASSWORD, now());
                assert!(found.certificates.iter().all(|one| one.has_key));
                let codes: Vec<_> = found.problems.iter().map(P12Problem::code).collect();
                assert_eq!(codes, ["not_chosen", "several_keys"]);
            }
        }
    }
}

#[test]
fn e2_a_key_that_cannot_sign_does_not_stand_in_the_way() {
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let elliptic = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
    let signer = party("Firma", "2026-01-01", "2028-01-01");
    let small = test_certificates::Party::with_bits(1024, "Chica", day("2026-01-01"), day("2030-01-01")).unwrap();
    assert_eq!(
        ends(&several(&[&small, &signer], &[&small, &signer]), now()),
        day("2028-01-01")
    );
    // A key without any certificate, and one whose certificate is missing.
    let orphan = party("Sin certificado", "2026-01-01", "2030-01-01");
    assert_eq!(
        ends(&several(&[&orphan, &signer], &[&signer]), now()),
        day("2028-01-01")
    );
    let certificate = X509::from_pem(&signer.certificate_pem().unwrap()).unwrap();
    let mut others = Stack::new().unwrap();
    others.push(certificate).unwrap();
    let file = Pkcs12::builder().pkey(&elliptic).ca(others).build2(PASSWORD).unwrap();
    let refused = Identity::from_pkcs12(&file.to_der().unwrap(), PASSWORD, now()).unwrap_err();
    assert_eq!(refused, P12Error::NotRsa);
}

#[test]
fn e2_when_no_certificate_may_sign_every_one_is_listed_with_its_reason() {
    let encrypting = for_encryption("2030-01-01");
    let expired = party("Anterior", "2024-01-01", "2026-01-01");
    let later = party("Siguiente", "2027-01-01", "2029-01-01");
    let file = several(&[&encrypting, &expired, &later], &[&encrypting, &expired, &later]);
    let identity = open_at(&file, now());
    assert!(identity.choice().usable.is_empty());
    // Among certificates for signing, the one that expires last represents the file.
    assert_eq!(ends(&file, now()), day("2029-01-01"));
    let reasons: Vec<_> = identity.choice().unusable.iter().map(|one| &one.reason).collect();
    assert!(
        matches!(
            reasons.as_slice(),
            [
                P12Error::Certificate(CertificateError::NotYetValid { .. }),
                P12Error::Certificate(CertificateError::Expired { .. }),
                P12Error::Certificate(CertificateError::KeyUsage),
            ]
        ),
        "{reasons:?}"
    );
    let problems = inspect_pkcs12(&file, PASSWORD, now()).problems;
    let fatal: Vec<_> = problems.iter().filter(|problem| problem.is_fatal()).collect();
    assert_eq!(fatal.len(), 3);
    assert_eq!(
        fatal[1].to_string(),
        "C=DO, CN=Anterior, serialNumber=IDCDO-00100000001, valid from 2024-01-01T00:00:00Z to 2026-01-01T00:00:00Z: expired"
    );
}

#[test]
fn e3_a_file_without_integrity_check_opens_and_says_so() {
    let signer = party("Firma", "2026-01-01", "2028-01-01");
    for (password, problem) in [("", P12Problem::NoMac), (PASSWORD, P12Problem::PasswordWithoutMac)] {
        let file = test_certificates::assembled(&[&signer], &[&signer], password, Mac::Absent).unwrap();
        assert!(!Identity::from_pkcs12(&file, password, now()).unwrap().has_mac());
        let found = inspect_pkcs12(&file, password, now());
        assert_eq!(found.problems, [problem]);
        assert_eq!(found.problems[0].is_fatal(), !password.is_empty());
    }
    let file = several(&[&signer], &[&signer]);
    assert!(open_at(&file, now()).has_mac());
    let wrong = Identity::from_pkcs12(&file, "equivocada", now()).unwrap_err();
    assert_eq!(wrong, P12Error::WrongPassword);
}
