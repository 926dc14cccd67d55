//! Files with several keys or certificates, without integrity check, or damaged by a text conversion: upload and
//! inspection agree.

use ecf_store::{CertificateFile, Identities};
use ecf_testkit::test_p12;
use jiff::Timestamp;
use serde_json::{Value, json};
use test_certificates::{Cipher, Mac, Party};

use crate::{Api, INSPECT, fault, is, warnings};

const PIN: &str = "contraseña";
const OWN: &str = "RNC130000001";

fn day(text: &str) -> Timestamp {
    format!("{text}T00:00:00Z").parse().unwrap()
}

fn signer(from: &str, to: &str) -> Party {
    Party::new("Firmante", OWN, day(from), day(to)).unwrap()
}

fn for_encryption() -> Party {
    Party::without_signing_usage("Cifrado", OWN, day("2026-01-01"), day("2030-01-01")).unwrap()
}

fn packed(keys: &[&Party], certificates: &[&Party]) -> Vec<u8> {
    test_certificates::assembled(keys, certificates, PIN, Mac::Sha256).unwrap()
}

/// The result of the inspection, which must agree with the upload.
async fn inspected(api: &Api, p12: &[u8], pin: &str, is_taken: bool) -> Value {
    let found = api.post_p12(INSPECT, p12, &[("pin", pin)]).await.expect(200);
    assert_eq!(found["would_be_taken"], is_taken, "{found}");
    found
}

fn codes(found: &Value) -> Vec<&str> {
    let problems = found["problems"].as_array().unwrap();
    problems
        .iter()
        .map(|problem| problem["code"].as_str().unwrap())
        .collect()
}

/// Uploads a file that is accepted and signs with the certificate that ends on this day.
async fn signs_until(api: &Api, p12: &[u8], end: &str) -> Value {
    let uploaded = api.upload(p12, PIN).await.expect(201);
    assert_eq!(uploaded["not_after"], format!("{end}T00:00:00.000Z"));
    let found = inspected(api, p12, PIN, true).await;
    let place = usize::try_from(found["chain"][0].as_u64().unwrap()).unwrap();
    assert_eq!(found["certificates"][place]["not_after"], uploaded["not_after"]);
    // An instance that loads the file later.
    let instance = Identities::new(api.stack.vault());
    let identity = instance
        .of(&api.company.scope.company, api.stack.clock().now())
        .await
        .unwrap();
    assert_eq!(identity.unwrap().certificate().not_after, day(end));
    uploaded
}

#[tokio::test]
async fn e1_a_renewed_certificate_is_taken_whichever_stands_first() {
    let api = Api::start().await;
    let expired = signer("2024-01-01", "2026-01-01");
    let renewed = expired.renewed(day("2025-12-01"), day("2028-01-01")).unwrap();
    for certificates in [[&expired, &renewed], [&renewed, &expired]] {
        let uploaded = signs_until(&api, &packed(&[&expired], &certificates), "2028-01-01").await;
        assert_eq!(warnings(&uploaded), ["several_certificates"]);
        let msg = uploaded["warnings"][0]["msg"].as_str().unwrap();
        assert!(msg.contains("valid until 2028-01-01T00:00:00Z, signs; "), "{msg}");
        assert!(
            msg.ends_with("valid from 2024-01-01T00:00:00Z to 2026-01-01T00:00:00Z: expired"),
            "{msg}"
        );
    }
}

#[tokio::test]
async fn e1_the_certificate_that_signs_follows_the_clock_at_every_place() {
    let api = Api::start().await;
    let current = signer("2026-01-01", "2026-12-15");
    let next = Party::new("Firmante", OWN, day("2026-12-10"), day("2028-12-10")).unwrap();
    let p12 = packed(&[&current, &next], &[&current, &next]);
    let uploaded = signs_until(&api, &p12, "2026-12-15").await;
    assert_eq!(warnings(&uploaded), ["several_certificates", "expires_soon"]);
    let msg = uploaded["warnings"][0]["msg"].as_str().unwrap();
    assert!(
        msg.ends_with("not valid yet; upload the file again then, so that the profile shows it"),
        "{msg}"
    );
    let instance = Identities::new(api.stack.vault());
    let company = api.company.scope.company;
    let used = async |now: Timestamp| {
        instance
            .of(&company, now)
            .await
            .unwrap()
            .unwrap()
            .certificate()
            .not_after
    };
    assert_eq!(used(api.stack.clock().now()).await, day("2026-12-15"));
    // The file was loaded before, and one of its certificates has expired in the cache since.
    let later = day("2026-12-16");
    assert_eq!(used(later).await, day("2028-12-10"));
    api.stack.clock().advance(api.stack.clock().now().duration_until(later));
    signs_until(&api, &p12, "2028-12-10").await;
}

#[tokio::test]
async fn e2_of_two_keys_the_one_that_may_sign_is_taken() {
    let api = Api::start().await;
    let (encrypting, expired) = (for_encryption(), signer("2024-01-01", "2026-01-01"));
    let good = signer("2026-01-01", "2028-01-01");
    for other in [&encrypting, &expired] {
        for both in [[other, &good], [&good, other]] {
            let uploaded = signs_until(&api, &packed(&both, &both), "2028-01-01").await;
            assert_eq!(warnings(&uploaded), ["several_certificates"]);
        }
    }
}

#[tokio::test]
async fn e2_a_file_of_which_nothing_may_sign_lists_every_certificate_with_its_reason() {
    let api = Api::start().await;
    let (encrypting, expired) = (for_encryption(), signer("2024-01-01", "2026-01-01"));
    let p12 = packed(&[&encrypting, &expired], &[&encrypting, &expired]);
    let refused = api.upload(&p12, PIN).await.expect(422);
    assert_eq!(fault(&refused), is("body/certificate", "none_usable"));
    let error = &refused["detail"][0];
    let listed = json!([
        {
            "subject": "C=DO, CN=Firmante, serialNumber=RNC130000001", "code": "expired",
            "not_before": "2024-01-01T00:00:00Z", "not_after": "2026-01-01T00:00:00Z",
        },
        {
            "subject": "C=DO, CN=Cifrado, serialNumber=RNC130000001", "code": "key_usage",
            "not_before": "2026-01-01T00:00:00Z", "not_after": "2030-01-01T00:00:00Z",
        },
    ]);
    assert_eq!(error["ctx"]["certificates"], listed);
    let msg = error["msg"].as_str().unwrap();
    assert!(
        msg.starts_with("none of the 2 certificates with a private key in the file can sign now: C=DO"),
        "{msg}"
    );
    let found = inspected(&api, &p12, PIN, false).await;
    assert_eq!(codes(&found), ["expired", "key_usage", "several_keys"]);

    // One reason for all certificates remains the code of the error.
    let earlier = signer("2022-01-01", "2024-01-01");
    let p12 = packed(&[&earlier, &expired], &[&earlier, &expired]);
    let refused = api.upload(&p12, PIN).await.expect(422);
    assert_eq!(fault(&refused), is("body/certificate", "expired"));
    assert_eq!(refused["detail"][0]["ctx"]["not_after"], "2026-01-01T00:00:00Z");
    assert_eq!(api.listed().await, []);
}

#[tokio::test]
async fn e3_without_integrity_check_only_a_file_without_pin_is_taken_and_with_a_warning() {
    let api = Api::start().await;
    let signer = signer("2026-01-01", "2028-01-01");
    let open = test_certificates::assembled(&[&signer], &[&signer], "", Mac::Absent).unwrap();
    let uploaded = api.upload(&open, "").await.expect(201);
    assert_eq!(warnings(&uploaded), ["no_mac"]);
    assert_eq!(codes(&inspected(&api, &open, "", true).await), ["no_mac"]);

    let locked = test_certificates::assembled(&[&signer], &[&signer], PIN, Mac::Absent).unwrap();
    for (file, pin) in [(&locked, PIN), (&open, "any PIN fits a file that is not encrypted")] {
        let refused = api.upload(file, pin).await.expect(422);
        assert_eq!(fault(&refused), is("body/certificate", "no_mac"));
        let found = inspected(&api, file, pin, false).await;
        assert_eq!(
            (codes(&found), &found["problems"][0]["fatal"]),
            (vec!["no_mac"], &json!(true))
        );
    }
    let refused = api.upload(&locked, "equivocada").await.expect(422);
    assert_eq!(fault(&refused), is("body/pin", "wrong_password"));
    assert_eq!(api.listed().await.len(), 1);
}

/// Files that were accepted before the rule still open.
#[tokio::test]
async fn e3_a_stored_file_without_integrity_check_still_signs() {
    let api = Api::start().await;
    let signer = signer("2026-01-01", "2028-01-01");
    let locked = test_certificates::assembled(&[&signer], &[&signer], PIN, Mac::Absent).unwrap();
    let company = api.company.scope.company;
    api.stack
        .vault()
        .store_certificate(&company, &CertificateFile::verbatim(locked, PIN))
        .await
        .unwrap();
    let instance = Identities::new(api.stack.vault());
    let identity = instance.of(&company, api.stack.clock().now()).await.unwrap();
    assert_eq!(identity.unwrap().certificate().subject_cn, "Firmante");
}

#[tokio::test]
async fn e4_each_text_conversion_has_its_code_at_upload_and_inspection() {
    let api = Api::start().await;
    let good = signer("2026-01-01", "2028-01-01");
    let legacy = test_certificates::file(Some(&good), &[&good], Cipher::TripleDes, PIN).unwrap();
    for p12 in [test_p12().to_vec(), legacy] {
        let latin1: String = p12.iter().copied().map(char::from).collect();
        let without_nuls: Vec<u8> = p12.iter().copied().filter(|&byte| byte != 0).collect();
        let dos: Vec<u8> = p12
            .iter()
            .flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] })
            .collect();
        let without_cr: Vec<u8> = p12.iter().copied().filter(|&byte| byte != b'\r').collect();
        for (mangled, code) in [
            (latin1.into_bytes(), "mangled_as_utf8"),
            (without_nuls, "mangled_without_nuls"),
            (dos, "mangled_line_ends"),
            (without_cr, "mangled_line_ends"),
        ] {
            let refused = api.upload(&mangled, PIN).await.expect(422);
            assert_eq!(fault(&refused), is("body/certificate", code), "{refused}");
            let found = inspected(&api, &mangled, PIN, false).await;
            assert_eq!(codes(&found), [code]);
            let advice = found["problems"][0]["what_to_do"].as_str().unwrap();
            assert!(advice.contains("binary"), "{advice}");
        }
    }
    assert_eq!(api.stack.calls().requests_to("Secrets Manager"), 0);
}
