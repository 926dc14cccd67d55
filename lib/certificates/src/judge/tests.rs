use jiff::ToSpan as _;
use test_certificates::{Cipher, Party, file};
use xmldsig::{Certificate, Identity};

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    at("2026-11-28T12:00:00Z")
}

fn certificate(serial: &str, not_before: &str, not_after: &str) -> Certificate {
    let party = Party::new("Firmante", serial, at(not_before), at(not_after)).unwrap();
    let p12 = file(Some(&party), &[&party], Cipher::Aes256, "").unwrap();
    Identity::from_pkcs12(&p12, "", at(not_before))
        .unwrap()
        .certificate()
        .clone()
}

fn signed<'a>(leaf: &'a Certificate, signed_at: Option<Timestamp>, taxpayer: &'a Rnc) -> SignedBy<'a> {
    SignedBy {
        chain: Chain { leaf, others: &[] },
        signed_at,
        taxpayer: Some(taxpayer),
    }
}

#[test]
fn s3_a_backdated_signature_of_an_expired_certificate_is_refused() {
    let taxpayer: Rnc = "131880681".parse().unwrap();
    let expired = certificate("RNC131880681", "2019-01-01T00:00:00Z", "2020-01-01T00:00:00Z");
    let judged = |signed_at| check_dates(signed(&expired, Some(signed_at), &taxpayer), now());
    assert!(matches!(
        judged(at("2019-12-31T00:00:00Z")),
        Err(Refusal::Backdated { .. })
    ));
    assert!(matches!(
        judged(now()),
        Err(Refusal::Certificate(CertificateError::Expired { .. }))
    ));
    // It expired while the document was on its way.
    let lately = certificate("RNC131880681", "2025-11-26T00:00:00Z", "2026-11-27T00:00:00Z");
    assert_eq!(
        check_dates(signed(&lately, Some(at("2026-11-26T23:00:00Z")), &taxpayer), now()),
        Ok(())
    );
    // A valid certificate may have signed long ago.
    let valid = certificate("RNC131880681", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    assert_eq!(
        check_dates(signed(&valid, Some(at("2026-01-02T00:00:00Z")), &taxpayer), now()),
        Ok(())
    );
}

#[test]
fn a_certificate_that_is_not_valid_yet_does_not_become_so_by_a_time_in_the_future() {
    let taxpayer: Rnc = "131880681".parse().unwrap();
    let future = certificate("RNC131880681", "2026-12-01T00:00:00Z", "2027-12-01T00:00:00Z");
    for signed_at in [now(), at("2026-12-02T00:00:00Z"), Timestamp::MAX] {
        let judged = check_dates(signed(&future, Some(signed_at), &taxpayer), now());
        assert!(judged.is_err(), "{signed_at}: {judged:?}");
    }
    // The signer's clock is ahead.
    let soon = certificate("RNC131880681", "2026-11-28T12:10:00Z", "2027-12-01T00:00:00Z");
    let signed_at = now() + 20.minutes();
    assert_eq!(check_dates(signed(&soon, Some(signed_at), &taxpayer), now()), Ok(()));
}

#[test]
fn whom_a_signer_names_is_told_from_its_certificate() {
    let taxpayer: Rnc = "131880681".parse().unwrap();
    for (serial, speaks_for) in [
        ("RNC131880681", SpeaksFor::Taxpayer),
        ("IDCDO-00100000001", SpeaksFor::Person),
        ("RNC101672919", SpeaksFor::Other),
        ("IDCUS-131880681", SpeaksFor::Other),
    ] {
        let certificate = certificate(serial, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        let signer = Signer::of(signed(&certificate, None, &taxpayer));
        assert_eq!(signer.speaks_for, speaks_for, "{serial}");
    }
}
