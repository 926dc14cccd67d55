//! Verification of a company at its sign-up, and the P12 of a sign-up that fails.

use base64::{Engine, prelude::BASE64_STANDARD};
use ecf_store::due::{DueEntry, DueRecord, SHARDS};
use ecf_testkit::{Fault, P12_PIN};
use jiff::SignedDuration;
use serde_json::{Value, json};
use test_certificates::{Cipher, Party, file};

use crate::{Api, OWNER, company, company_with_certificate, fault, id_of};

/// A company with a certificate of a trusted authority.
async fn trusted(api: &Api) -> Value {
    let (from, to) = (
        "2026-01-01T00:00:00Z".parse().unwrap(),
        "2028-01-01T00:00:00Z".parse().unwrap(),
    );
    let authority = Party::authority("Autoridad", from, to, None).unwrap();
    let signer = authority.issue("Firmante", OWNER, from, to).unwrap();
    let pem = String::from_utf8(authority.certificate_pem().unwrap()).unwrap();
    api.stack.trust(&pem).await;
    let mut body = company(OWNER);
    let p12 = file(Some(&signer), &[&signer], Cipher::Aes256, P12_PIN).unwrap();
    body["p12_base64"] = json!(BASE64_STANDARD.encode(p12));
    body["pin"] = json!(P12_PIN);
    body
}

#[tokio::test]
async fn a_certificate_verifies_a_company_only_when_its_issuer_is_trusted() {
    let api = Api::with(&[]).await;
    let anybodys = company_with_certificate(OWNER);
    for _ in 0..2 {
        // Not verified, with no authorities or with others: they sign up in TesteCF, and no company owns the RNC.
        let registered = api.register(&anybodys).await.expect(201);
        assert_eq!(registered["company"]["verified"], false);
        assert!(registered["certificate"].is_object());
        trusted(&api).await;
    }
    let mut in_production = anybodys.clone();
    in_production["default_environment"] = json!("ecf");
    let refused = api.register(&in_production).await.expect(422);
    assert_eq!(fault(&refused).0, "body/default_environment");

    let registered = api.register(&trusted(&api).await).await.expect(201);
    assert_eq!(registered["company"]["verified"], true);
    let owner = api.stack.table().company_by_rnc(&OWNER.parse().unwrap()).await.unwrap();
    assert_eq!(owner, Some(id_of(&registered)));
}

async fn due(api: &Api) -> Vec<DueEntry> {
    let mut due = Vec::new();
    for shard in 0..SHARDS {
        let now = api.stack.clock().now();
        due.extend(api.stack.table().due_now(shard, now, 100).await.unwrap().entries);
    }
    due
}

#[tokio::test]
async fn a_p12_is_noted_before_it_is_stored_whatever_becomes_of_the_sign_up() {
    let api = Api::start().await;
    api.stack.calls().inject("CreateSecret", 1, Fault::AnswerLost);
    api.register(&company_with_certificate(OWNER)).await.expect(503);
    assert_eq!(due(&api).await, []);
    api.stack.clock().advance(SignedDuration::from_hours(1));
    let notes = due(&api).await;
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!(note.record, DueRecord::UnclaimedP12);
    let orphan = api.stack.vault().certificate(&note.scope.company).await.unwrap();
    assert!(orphan.is_some(), "the secret was made before its answer was lost");
    assert_eq!(api.stack.table().company(&note.scope.company).await.unwrap(), None);
}

#[tokio::test]
async fn without_the_note_there_is_no_secret() {
    let api = Api::start().await;
    api.stack.calls().inject("PutItem", 1, Fault::NotSent);
    api.register(&company_with_certificate(OWNER)).await.expect(503);
    assert_eq!(api.stack.calls().requests_to("Secrets Manager"), 0);
}
