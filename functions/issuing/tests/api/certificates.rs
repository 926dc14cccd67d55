//! The certificate that signs a receipt after a renewal.

use ecf_store::{CertificateFile, certificate_summary, certificates::CertificateActivated};
use ecf_testkit::P12_PIN;
use jiff::SignedDuration;
use serde_json::Value;
use xmldsig::{Limits, verify};

use crate::artifacts::signed_xml;
use crate::payloads::invoice;
use crate::{Api, id_of};

/// The steps of an upload, in their order.
async fn renew(api: &Api, common_name: &str) {
    let (now, company) = (api.stack.clock().now(), api.company.scope.company);
    let until = "2030-01-01T00:00:00Z".parse().unwrap();
    let p12 = test_certificates::pkcs12(common_name, "RNC130000001", P12_PIN, now, until).unwrap();
    let vault = api.stack.vault();
    let (identity, file) = CertificateFile::open(&p12, P12_PIN, now, &ecf_runtime::random()).unwrap();
    vault.renew_certificate(&company, &file).await.unwrap();
    let summary = certificate_summary(identity.certificate(), now);
    let activated = api
        .stack
        .table()
        .activate_certificate(&company, &summary, None, now)
        .await;
    assert_eq!(activated.unwrap(), CertificateActivated::Done);
}

async fn signer(api: &Api, issued: &Value) -> String {
    let xml = signed_xml(api, issued).await;
    verify(xml.as_bytes(), &Limits::default())
        .unwrap()
        .certificate
        .subject_cn
}

#[tokio::test]
async fn e5_receipts_are_signed_with_a_renewed_certificate_within_a_minute_and_without_further_reads() {
    let api = Api::start().await;
    let first = api.issue(&invoice("before")).await.expect(201);
    assert_eq!(signer(&api, &first).await, "PRUEBA DEL SISTEMA");
    renew(&api, "RENOVADA").await;
    api.stack.clock().advance(SignedDuration::from_secs(60));
    let renewed = api.issue(&invoice("after")).await.expect(201);
    assert_eq!(signer(&api, &renewed).await, "RENOVADA");

    // The next receipt reads neither the profile nor the vault.
    api.stack.calls().reset();
    let next = api.issue(&invoice("next")).await.expect(201);
    assert_eq!(api.stack.calls().count("GetSecretValue"), 0);
    assert_eq!(api.stack.calls().count("GetItem"), 1);
    assert_eq!(signer(&api, &next).await, "RENOVADA");
    assert_ne!(id_of(&next), id_of(&renewed));
    api.jobs().await;
}
