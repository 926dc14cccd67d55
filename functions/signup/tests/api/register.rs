//! The result of a sign-up, and its rejections.

use ecf_store::{WebhookJob, numbers::Numbering};
use ecf_testkit::Queue;
use serde_json::{Value, json};

use crate::{Api, OWNER, company, company_with_certificate, fault, id_of, key_of};

#[tokio::test]
async fn a_company_gets_a_key_and_numbers_to_try_with() {
    let api = Api::start().await;
    let mut body = company("130000001");
    for (field, value) in [
        ("trade_name", "La Ferretería"),
        ("address", "Calle El Conde 1"),
        ("phone", "809-555-0100"),
    ] {
        body[field] = json!(value);
    }
    let registered = api.register(&body).await.expect(201);
    let (id, key) = (id_of(&registered), key_of(&registered));
    let prefix = registered["api_key"]["prefix"].as_str().unwrap();
    let expected = json!({
        "company": {
            "public_id": id.to_string(), "rnc": "130000001", "name": "Ferretería de Prueba SRL",
            "trade_name": "La Ferretería", "address": "Calle El Conde 1", "email": "facturas@ferreteria.example",
            "phone": "809-555-0100", "default_environment": "TesteCF", "is_active": true, "verified": false,
        },
        "api_key": { "key": key, "prefix": prefix, "environment": "TesteCF", "only_shown_once": true },
        "certificate": null,
    });
    assert_eq!(registered, expected);
    assert!(
        key.starts_with(prefix) && prefix.len() < key.len() / 2,
        "{prefix} of {key}"
    );

    let scope = api.opened_by(key).await.expect("the key works at once");
    assert_eq!((scope.company, scope.environment), (id, ecf::Environment::TesteCF));
    let ranges = api.stack.table().ranges(&scope, None).await.unwrap();
    assert_eq!(ranges.len(), 20);
    for range in ranges {
        let expected = match range.numbering {
            Some(Numbering::Caller) => (1, 4_999_999),
            _ => (5_000_000, 10_000_000),
        };
        assert_eq!((range.start, range.end), expected, "{range:?}");
        assert_eq!(
            range.valid_until.is_some(),
            range.ecf_type.carries_expiry(),
            "{range:?}"
        );
    }
    let kept = api.stack.table().company(&id).await.unwrap().unwrap();
    assert_eq!((kept.phone.as_deref(), kept.verified), (Some("809-555-0100"), false));
    // The portal is not configured.
    assert_eq!(api.stack.take_messages(Queue::Webhook).await, [""; 0]);
}

#[tokio::test]
async fn whoever_is_unverified_does_not_own_the_rnc() {
    let api = Api::start().await;
    let first = api.register(&company(OWNER)).await.expect(201);
    let second = api.register(&company(OWNER)).await.expect(201);
    assert_ne!(id_of(&first), id_of(&second));
    let owner = api.register(&company_with_certificate(OWNER)).await.expect(201);
    assert_eq!(owner["company"]["verified"], true);
    let refused = api.register(&company_with_certificate(OWNER)).await.expect(409);
    assert_eq!(refused["detail"]["code"], "rnc_taken");
    assert_eq!(
        refused["detail"]["message"],
        "a verified company with the RNC 00100000001 exists"
    );
    let rnc = OWNER.parse().unwrap();
    let owned_by = api.stack.table().company_by_rnc(&rnc).await.unwrap();
    assert_eq!(owned_by, Some(id_of(&owner)));
}

#[tokio::test]
async fn an_rnc_that_is_owned_is_refused_before_anything_is_stored() {
    let api = Api::start().await;
    api.register(&company_with_certificate(OWNER)).await.expect(201);
    api.stack.calls().reset();
    api.register(&company_with_certificate(OWNER)).await.expect(409);
    let counts = api.stack.calls().counts();
    assert_eq!(
        counts.keys().collect::<Vec<_>>(),
        ["DynamoDB GetItem", "DynamoDB UpdateItem"],
        "the visit is counted, and no second copy of the private key is left behind"
    );
}

#[tokio::test]
async fn other_environments_than_testecf_need_a_verified_company() {
    let api = Api::start().await;
    for environment in ["CerteCF", "ecf"] {
        for mut body in [company("130000001"), company_with_certificate("130000001")] {
            body["default_environment"] = json!(environment);
            let refused = api.register(&body).await.expect(422);
            assert_eq!(
                fault(&refused),
                ("body/default_environment".to_owned(), "value_error".to_owned())
            );
        }
    }
    let mut body = company_with_certificate(OWNER);
    body["default_environment"] = json!("CerteCF");
    let registered = api.register(&body).await.expect(201);
    assert_eq!(registered["api_key"]["environment"], "CerteCF");
    let scope = api.opened_by(key_of(&registered)).await.unwrap();
    assert_eq!(scope.environment, ecf::Environment::CerteCF);
    // There the authority must grant the numbers first.
    assert_eq!(api.stack.table().ranges(&scope, None).await.unwrap(), []);
}

#[tokio::test]
async fn the_portal_is_told_where_there_is_one() {
    let api = Api::with(&[("PORTAL_URL", "https://portal.example/companies")]).await;
    let registered = api.register(&company("130000001")).await.expect(201);
    let bodies = api.stack.take_messages(Queue::Webhook).await;
    let jobs: Vec<WebhookJob> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    assert!(
        matches!(jobs.as_slice(), [WebhookJob::Portal { company, .. }] if *company == id_of(&registered)),
        "{jobs:?}"
    );
}

#[tokio::test]
async fn a_portal_that_cannot_be_told_is_in_nobodys_way() {
    let api = Api::with(&[("PORTAL_URL", "https://portal.example/companies")]).await;
    api.stack.calls().inject("SendMessage", 1, ecf_testkit::Fault::NotSent);
    let registered = api.register(&company("130000001")).await.expect(201);
    assert_eq!(api.stack.calls().faults_to_come(), 0);
    assert!(api.opened_by(key_of(&registered)).await.is_some());
}

#[tokio::test]
async fn every_bad_field_is_told_at_once() {
    let api = Api::start().await;
    let body = json!({
        "idempotency_key": "", "retry_secret": "short", "rnc": "1300", "name": "x".repeat(151), "email": "nobody", "trade_name": 7,
        "address": "", "phone": "8".repeat(21), "default_environment": "testecf", "p12_base64": "%%%",
    });
    let refused = api.register(&body).await.expect(422);
    let places: Vec<&Value> = refused["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["loc"][1])
        .collect();
    let expected = [
        "idempotency_key",
        "retry_secret",
        "rnc",
        "name",
        "email",
        "trade_name",
        "address",
        "phone",
        "default_environment",
        "p12_base64",
        "pin",
    ];
    assert_eq!(places, expected);
    let refused = api.register(&json!({})).await.expect(422);
    let errors = refused["detail"].as_array().unwrap();
    let places: Vec<&Value> = errors.iter().map(|error| &error["loc"][1]).collect();
    assert_eq!(places, ["rnc", "name", "email"]);
    assert!(errors.iter().all(|error| error["type"] == "missing"), "{refused}");
}

#[tokio::test]
async fn no_answer_repeats_a_secret() {
    let api = Api::with(&[("SIGNUP_NEEDS_INVITATION", "true")]).await;
    api.invite("the-invitation", 1).await;
    let secret = "mi-clave-secreta";
    let mut good = company_with_certificate("130000001");
    good["invitation_code"] = json!("the-invitation");
    let p12 = good["p12_base64"].as_str().unwrap().to_owned();
    let change = |changes: Value| {
        let mut body = good.clone();
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    };
    let bodies = [
        change(json!({ "pin": secret })),
        change(json!({ "pin": secret.repeat(20) })),
        change(json!({ "pin": [secret] })),
        change(json!({ "invitation_code": secret })),
        change(json!({ "retry_secret": secret, "rnc": "1" })),
        change(json!({ "retry_secret": secret.repeat(20) })),
        change(json!({ "invitation_code": { "code": secret } })),
        change(json!({ "p12_base64": format!("{secret}%") })),
        change(json!({ "p12_base64": { "file": secret } })),
        change(json!({ "pin": secret, "rnc": "1", "p12_base64": p12.replace('M', "N") })),
    ];
    for body in bodies {
        let answer = api.register(&body).await;
        answer.expect(422);
        let text = String::from_utf8(answer.bytes).unwrap();
        for kept_back in [secret, "the-invitation", &p12[..40], ecf_testkit::P12_PIN] {
            assert!(!text.contains(kept_back), "{kept_back} in {text}");
        }
    }
}

#[tokio::test]
async fn only_a_post_signs_up() {
    let api = Api::start().await;
    let answer = ecf_testkit::request(&api.router, http::Method::GET, "/api/v1/public/register", None, None).await;
    assert_eq!(answer.expect(405)["detail"]["code"], "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("POST"));
    let answer = ecf_testkit::request(&api.router, http::Method::POST, "/api/v1/public", None, None).await;
    assert_eq!(answer.expect(404)["detail"]["code"], "not_found");
}
