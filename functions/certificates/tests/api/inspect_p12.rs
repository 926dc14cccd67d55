//! `POST /api/v1/client/tools/inspect-p12`.

use ecf_testkit::{P12_PIN, test_p12};
use serde_json::{Value, json};

use crate::{Api, FORM, INSPECT, fault, form, is, p12_of};

fn problems(found: &Value) -> Vec<(&str, bool)> {
    let problems = found["problems"].as_array().unwrap();
    problems
        .iter()
        .map(|problem| (problem["code"].as_str().unwrap(), problem["fatal"].as_bool().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_good_file_is_told_whole_and_nothing_of_it_is_kept() {
    let api = Api::start().await;
    api.stack.calls().reset();
    let found = api.post_p12(INSPECT, test_p12(), &[("pin", P12_PIN)]).await.expect(200);
    let certificate = &found["certificates"][0];
    let aes = json!({
        "algorithm": "PBES2 with AES-256-CBC and PBKDF2-HMAC-SHA-256", "iterations": 2048, "supported": true, "weak": false,
    });
    let expected = json!({
        "would_be_taken": true, "size_bytes": test_p12().len(), "pin_fits": true,
        "mac": { "algorithm": "HMAC-SHA-256", "iterations": 2048, "supported": true, "weak": false },
        "encryption": [aes],
        "keys": [{ "kind": "RSA 2048", "protection": aes, "friendly_name": "PRUEBA DEL SISTEMA", "certificate": 0 }],
        "certificates": [{
            "subject": "C=DO, CN=PRUEBA DEL SISTEMA, serialNumber=IDCDO-00100000001",
            "subject_serial_number": "IDCDO-00100000001",
            "issuer": "C=DO, CN=PRUEBA DEL SISTEMA, serialNumber=IDCDO-00100000001",
            "serial_number": certificate["serial_number"],
            "not_before": "2026-01-01T04:00:00.000Z", "not_after": "2029-01-01T04:00:00.000Z", "key": "RSA 2048",
            "key_usage": ["digitalSignature", "nonRepudiation", "keyEncipherment"],
            "is_authority": false, "self_issued": true, "has_key": true,
            "sha256": certificate["sha256"], "sha1": certificate["sha1"], "friendly_name": "PRUEBA DEL SISTEMA",
        }],
        "chain": [0], "owner": "other", "problems": [],
    });
    assert_eq!(found, expected);
    assert_eq!(api.stack.calls().requests_to("Secrets Manager"), 0);
    assert_eq!(api.stack.calls().count("TransactWriteItems"), 0);
    assert_eq!(api.listed().await, []);
}

#[tokio::test]
async fn a_locked_file_still_tells_its_algorithms_and_what_to_do() {
    let api = Api::start().await;
    for texts in [&[("pin", "equivocada")][..], &[]] {
        let found = api.post_p12(INSPECT, test_p12(), texts).await.expect(200);
        assert_eq!(
            (&found["would_be_taken"], &found["pin_fits"]),
            (&json!(false), &json!(false))
        );
        assert_eq!(found["mac"]["algorithm"], "HMAC-SHA-256");
        assert_eq!(found["keys"][0]["kind"], Value::Null);
        assert_eq!(problems(&found), [("wrong_password", true)]);
        assert!(found["problems"][0]["what_to_do"].is_string());
        assert!(!found.to_string().contains("equivocada"));
    }
}

#[tokio::test]
async fn what_keeps_a_file_from_being_taken_is_told_first() {
    let api = Api::start().await;
    let expired = p12_of("IDCDO-130000001", "2024-01-01", "2026-01-01");
    let found = api.post_p12(INSPECT, &expired, &[("pin", P12_PIN)]).await.expect(200);
    assert_eq!(problems(&found), [("expired", true)]);
    assert_eq!(
        (&found["would_be_taken"], &found["owner"]),
        (&json!(false), &json!("company"))
    );

    let found = api
        .post_p12(INSPECT, b"-----BEGIN CERTIFICATE-----", &[])
        .await
        .expect(200);
    assert_eq!(problems(&found), [("other_format", true)]);
    assert_eq!((&found["certificates"], &found["owner"]), (&json!([]), &Value::Null));
    let answer = api.post(INSPECT, FORM, form(&[])).await;
    assert_eq!(fault(&answer.expect(422)), is("body/certificate", "missing"));
}
