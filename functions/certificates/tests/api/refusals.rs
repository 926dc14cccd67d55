//! Invalid forms and files. Nothing of them is stored.

use ecf_testkit::{P12_PIN, test_p12};

use crate::{Api, CERTIFICATES, FORM, fault, form, is, p12_of, text_part};

#[tokio::test]
async fn a_body_that_is_no_form_with_a_file_and_a_pin_is_refused_part_by_part() {
    let api = Api::start().await;
    let answer = api.post(CERTIFICATES, "application/json", "{}").await;
    let message = answer.expect(415)["detail"]["message"].to_string();
    assert!(message.contains("multipart/form-data"), "{message}");
    let answer = api.post(CERTIFICATES, "multipart/form-data", "x").await;
    assert_eq!(fault(&answer.expect(422)), is("body", "multipart_invalid"));

    let answer = api.post(CERTIFICATES, FORM, form(&[])).await.expect(422);
    let places: Vec<_> = answer["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["loc"][1])
        .collect();
    assert_eq!(places, ["certificate", "pin"]);
    let answer = api.post_p12(CERTIFICATES, test_p12(), &[]).await;
    assert_eq!(fault(&answer.expect(422)), is("body/pin", "missing"));
    let only_pin = form(&[(text_part("pin"), P12_PIN.as_bytes())]);
    let answer = api.post(CERTIFICATES, FORM, only_pin).await;
    assert_eq!(fault(&answer.expect(422)), is("body/certificate", "missing"));
    let production = [("pin", P12_PIN), ("environment", "prod")];
    let answer = api.post_p12(CERTIFICATES, test_p12(), &production).await;
    assert_eq!(fault(&answer.expect(422)), is("body/environment", "enum"));
    assert_eq!(api.listed().await, []);
}

#[tokio::test]
async fn each_fault_of_a_file_has_its_own_code() {
    let api = Api::start().await;
    let mangled = String::from_utf8_lossy(test_p12()).into_owned();
    let cut = &test_p12()[..test_p12().len() - 20];
    let large = vec![0x30; 45 * 1024 + 1];
    let cases: [(&[u8], &str); 7] = [
        (b"", "empty_file"),
        (&large, "too_large"),
        (mangled.as_bytes(), "mangled_as_text"),
        (b"-----BEGIN CERTIFICATE-----\nMIIB\n", "other_format"),
        (b"MIACAQMwgAYJKoZIhvcNAQcBoIAkgASCA+g=", "other_format"),
        (b"firma.p12", "other_format"),
        (cut, "damaged"),
    ];
    for (file, code) in cases {
        let refused = api.upload(file, P12_PIN).await.expect(422);
        assert_eq!(fault(&refused), is("body/certificate", code), "{refused}");
    }
    assert_eq!(api.stack.calls().requests_to("Secrets Manager"), 0);
}

#[tokio::test]
async fn a_wrong_pin_is_told_at_the_pin_and_never_shown_back() {
    let api = Api::start().await;
    let refused = api.upload(test_p12(), "S3creta\n").await.expect(422);
    assert_eq!(fault(&refused), is("body/pin", "wrong_password"));
    let msg = refused["detail"][0]["msg"].as_str().unwrap();
    assert_eq!(
        msg,
        "pin: wrong PIN: the file does not open with it; it starts or ends with a blank or a line break"
    );
    assert!(!refused.to_string().contains("S3creta"));
}

#[tokio::test]
async fn a_certificate_that_is_not_valid_now_is_refused_with_its_dates() {
    let api = Api::start().await;
    for (from, to, code) in [
        ("2024-01-01", "2026-11-27", "expired"),
        ("2026-11-28", "2028-01-01", "not_yet_valid"),
    ] {
        let p12 = p12_of("IDCDO-130000001", from, to);
        let refused = api.upload(&p12, P12_PIN).await.expect(422);
        assert_eq!(fault(&refused), is("body/certificate", code));
        let ctx = &refused["detail"][0]["ctx"];
        assert_eq!(ctx["not_before"], format!("{from}T00:00:00Z"));
        assert_eq!(ctx["not_after"], format!("{to}T00:00:00Z"));
    }
    assert_eq!(api.listed().await, []);
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_413() {
    let api = Api::start().await;
    let answer = api.upload(&vec![0x30; 5 * 1024 * 1024], P12_PIN).await;
    assert_eq!(answer.expect(413)["detail"]["code"], "payload_too_large");
}
