//! The P12 of a sign-up.

use base64::{Engine, prelude::BASE64_STANDARD};
use ecf_store::Identities;
use ecf_testkit::{P12_PIN, test_p12};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use test_certificates::{Mac, Party};

use crate::{Api, OWNER, company, company_with_certificate, fault, id_of};

fn with_p12(p12: &[u8], pin: &str) -> Value {
    let mut body = company(OWNER);
    body["p12_base64"] = json!(BASE64_STANDARD.encode(p12));
    body["pin"] = json!(pin);
    body
}

fn certificate_error(field: &str) -> (String, String) {
    (format!("body/{field}"), "certificate_error".to_owned())
}

#[tokio::test]
async fn the_owners_certificate_verifies_the_company_and_signs_for_it() {
    let api = Api::start().await;
    let registered = api.register(&company_with_certificate(OWNER)).await.expect(201);
    assert_eq!(registered["company"]["verified"], true);
    let certificate = &registered["certificate"];
    let serial = certificate["serial_number"].as_str().unwrap();
    let expected = json!({
        "public_id": certificate["public_id"], "alias": "PRUEBA DEL SISTEMA", "environment": "TesteCF",
        "is_active": true, "uploaded_at": "2026-11-27T16:00:00.000Z",
        "subject_cn": "PRUEBA DEL SISTEMA", "issuer": certificate["issuer"], "serial_number": serial,
        "not_before": "2026-01-01T04:00:00.000Z", "not_after": "2029-01-01T04:00:00.000Z", "days_until_expiry": 765,
    });
    assert_eq!(*certificate, expected);
    assert!(certificate["issuer"].as_str().unwrap().contains("PRUEBA DEL SISTEMA"));

    let id = id_of(&registered);
    let now = api.stack.clock().now();
    let identity = Identities::new(api.stack.vault()).of(&id, now).await.unwrap().unwrap();
    identity.prove().unwrap();
    let kept = api.stack.table().company(&id).await.unwrap().unwrap();
    let summary = kept.certificate.expect("the profile shows the certificate");
    assert_eq!(summary.sha256, identity.certificate().sha256_fingerprint);
    assert_eq!((summary.serial.as_str(), summary.stored_at), (serial, now));
    assert_eq!(certificate["public_id"], summary.id(&id).to_string());
}

#[tokio::test]
async fn a_delegates_certificate_signs_but_proves_nothing() {
    let api = Api::start().await;
    let registered = api.register(&company_with_certificate("130000001")).await.expect(201);
    assert_eq!(registered["company"]["verified"], false);
    assert_eq!(registered["certificate"]["subject_cn"], "PRUEBA DEL SISTEMA");
    let rnc = "130000001".parse().unwrap();
    assert_eq!(api.stack.table().company_by_rnc(&rnc).await.unwrap(), None);
}

#[tokio::test]
async fn a_wrong_pin_is_told_from_a_damaged_file() {
    let api = Api::start().await;
    let refused = api.register(&with_p12(test_p12(), "another")).await.expect(422);
    assert_eq!(fault(&refused), certificate_error("pin"));

    let mut flipped = test_p12().to_vec();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let cut = &test_p12()[..test_p12().len() - 20];
    for damaged in [cut, &flipped, b"not a P12", b""] {
        let refused = api.register(&with_p12(damaged, P12_PIN)).await.expect(422);
        let (place, kind) = fault(&refused);
        assert!(place == "body/p12_base64" || place == "body/pin", "{refused}");
        assert_eq!(kind, "certificate_error", "{refused}");
    }
    assert_eq!(api.stack.calls().requests_to("Secrets Manager"), 0);
}

#[tokio::test]
async fn a_file_that_went_through_a_text_conversion_is_recognised() {
    let api = Api::start().await;
    let mangled = String::from_utf8_lossy(test_p12()).into_owned();
    let refused = api.register(&with_p12(mangled.as_bytes(), P12_PIN)).await.expect(422);
    assert_eq!(fault(&refused), certificate_error("p12_base64"));
    let msg = refused["detail"][0]["msg"].as_str().unwrap();
    assert!(msg.contains("UTF-8"), "{msg}");
}

#[tokio::test]
async fn e1_and_e3_the_file_is_judged_as_at_an_upload_and_warnings_are_answered() {
    let api = Api::start().await;
    let day = |text: &str| format!("{text}T00:00:00Z").parse().unwrap();
    let serial = format!("IDCDO-{OWNER}");
    let expired = Party::new("Anterior", &serial, day("2024-01-01"), day("2026-01-01")).unwrap();
    let signer = Party::new("Firmante", &serial, day("2026-01-01"), day("2028-01-01")).unwrap();
    let both = [&expired, &signer];
    let codes = |answer: &Value| -> Vec<String> {
        let warnings = answer["warnings"].as_array().unwrap();
        warnings
            .iter()
            .map(|one| one["ctx"]["code"].as_str().unwrap().to_owned())
            .collect()
    };
    let p12 = test_certificates::assembled(&both, &both, "", Mac::Absent).unwrap();
    let mut body = with_p12(&p12, "");
    body["idempotency_key"] = json!("9f0c7a52-once-only");
    for _ in 0..2 {
        let registered = api.register(&body).await.expect(201);
        assert_eq!(registered["certificate"]["subject_cn"], "Firmante");
        assert_eq!(codes(&registered), ["several_certificates", "no_mac"]);
    }
    let locked = test_certificates::assembled(&both, &both, P12_PIN, Mac::Absent).unwrap();
    let refused = api.register(&with_p12(&locked, P12_PIN)).await.expect(422);
    assert_eq!(refused["detail"][0]["ctx"]["code"], "no_mac");
    assert_eq!(fault(&refused), certificate_error("p12_base64"));
    // Without a warning the field is omitted.
    let other = test_certificates::assembled(&[&signer], &[&signer], P12_PIN, Mac::Sha256).unwrap();
    let mut body = with_p12(&other, P12_PIN);
    body["rnc"] = json!("131880681");
    let registered = api.register(&body).await.expect(201);
    assert_eq!(registered.get("warnings"), None);
}

#[tokio::test]
async fn a_certificate_serves_from_its_first_to_its_last_moment() {
    let api = Api::start().await;
    let last: Timestamp = "2029-01-01T04:00:00Z".parse().unwrap();
    let to_the_end = last.duration_since(api.stack.clock().now());
    api.stack.clock().advance(to_the_end);
    let registered = api.register(&company_with_certificate("130000001")).await.expect(201);
    assert_eq!(registered["certificate"]["days_until_expiry"], 0);
    api.stack.clock().advance(SignedDuration::from_secs(1));
    let refused = api.register(&company_with_certificate("130000001")).await.expect(422);
    assert_eq!(fault(&refused), certificate_error("p12_base64"));
    let expected =
        json!({ "code": "expired", "not_before": "2026-01-01T04:00:00Z", "not_after": "2029-01-01T04:00:00Z" });
    assert_eq!(refused["detail"][0]["ctx"], expected);
}

#[tokio::test]
async fn a_pin_belongs_to_each_file() {
    let api = Api::start().await;
    let mut body = company_with_certificate(OWNER);
    body.as_object_mut().unwrap().remove("pin");
    let refused = api.register(&body).await.expect(422);
    assert_eq!(fault(&refused), ("body/pin".to_owned(), "missing".to_owned()));
}
