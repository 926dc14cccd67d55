//! Verification of a company by the taxpayer's own certificate.

use ecf_testkit::{P12_PIN, RNC};
use test_certificates::{Cipher, Party, file};

use crate::{Api, p12_of, warnings};

/// An authority, and the P12 of a certificate that it issued to the company.
fn issued() -> (String, Vec<u8>) {
    let (from, to) = (
        "2026-01-01T00:00:00Z".parse().unwrap(),
        "2028-01-01T00:00:00Z".parse().unwrap(),
    );
    let authority = Party::authority("Autoridad", from, to, None).unwrap();
    let signer = authority.issue("Firmante", "RNC130000001", from, to).unwrap();
    let p12 = file(Some(&signer), &[&signer], Cipher::Aes256, P12_PIN).unwrap();
    (String::from_utf8(authority.certificate_pem().unwrap()).unwrap(), p12)
}

async fn is_verified(api: &Api) -> bool {
    let company = api.stack.table().company(&api.company.scope.company).await.unwrap();
    company.unwrap().verified
}

#[tokio::test]
async fn a_certificate_that_anybody_could_make_signs_but_does_not_verify() {
    let api = Api::with(&[]).await;
    let own = p12_of("IDCDO-130000001", "2026-01-01", "2028-01-01");
    let uploaded = api.upload(&own, P12_PIN).await.expect(201);
    assert_eq!(warnings(&uploaded), ["untrusted_issuer"]);
    assert!(!is_verified(&api).await);
    let msg = uploaded["warnings"][0]["msg"].as_str().unwrap();
    assert!(msg.contains("keeps no certificates of authorities"), "{msg}");

    let (authorities, _) = issued();
    api.stack.trust(&authorities).await;
    let uploaded = api.upload(&own, P12_PIN).await.expect(201);
    assert_eq!(warnings(&uploaded), ["untrusted_issuer"]);
    let msg = uploaded["warnings"][0]["msg"].as_str().unwrap();
    assert!(msg.contains("the certificate is its own issuer"), "{msg}");
    assert!(!is_verified(&api).await);
    let rnc = RNC.parse().unwrap();
    assert_eq!(api.stack.table().company_by_rnc(&rnc).await.unwrap(), None);
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_verifies_its_company() {
    let api = Api::with(&[]).await;
    let (authorities, p12) = issued();
    api.upload(&p12, P12_PIN).await.expect(201);
    assert!(!is_verified(&api).await);
    api.stack.trust(&authorities).await;
    let uploaded = api.upload(&p12, P12_PIN).await.expect(201);
    assert_eq!(warnings(&uploaded), [""; 0]);
    assert!(is_verified(&api).await);
}

#[tokio::test]
async fn who_is_trusted_is_asked_only_when_it_matters() {
    let api = Api::with(&[]).await;
    let (authorities, p12) = issued();
    api.stack.trust(&authorities).await;
    api.stack.calls().reset();
    let delegate = p12_of("IDCDO-00100000001", "2026-01-01", "2028-01-01");
    api.upload(&delegate, P12_PIN).await.expect(201);
    let without = api.stack.calls().count("GetSecretValue");
    api.upload(&p12, P12_PIN).await.expect(201);
    api.stack.calls().reset();
    // Verification is permanent, even if other authorities are trusted later.
    let own = p12_of("RNC130000001", "2026-01-01", "2028-01-01");
    let uploaded = api.upload(&own, P12_PIN).await.expect(201);
    assert_eq!(warnings(&uploaded), [""; 0]);
    assert_eq!(api.stack.calls().count("GetSecretValue"), without);
    assert!(is_verified(&api).await);
}

#[tokio::test]
async fn authorities_that_cannot_be_read_are_the_operators_to_mend_and_nothing_is_kept() {
    let api = Api::with(&[]).await;
    let (_, p12) = issued();
    for text in [
        "no certificate",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        api.stack.trust(text).await;
        let answer = api.upload(&p12, P12_PIN).await;
        assert_eq!(answer.expect(500)["detail"]["code"], "internal_error");
    }
    assert_eq!(api.listed().await, []);
    assert_eq!(
        api.stack.vault().certificate(&api.company.scope.company).await.unwrap(),
        None
    );
}
