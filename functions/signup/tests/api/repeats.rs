//! Retries of a sign-up whose response was lost.

use futures::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, OWNER, company, company_with_certificate, fault, id_of, key_of};

const KEY: &str = "9f0c7a52-sign-up-1";

/// A sign-up that may be retried: its P12, or otherwise a secret, identifies the caller.
fn with_key(mut body: Value) -> Value {
    body["idempotency_key"] = json!(KEY);
    if body.get("p12_base64").is_none() {
        body["retry_secret"] = json!("5b1e6c30-a secret of mine");
    }
    body
}

#[tokio::test]
async fn s10_a_guessed_idempotency_key_and_public_data_give_no_key_of_the_company() {
    let api = Api::start().await;
    for sign_up in [company_with_certificate(OWNER), company("130000001")] {
        let mut sign_up = with_key(sign_up);
        sign_up["idempotency_key"] = json!(format!("{KEY} of {}", sign_up["rnc"]));
        let victim = api.register(&sign_up).await.expect(201);
        // A stranger knows the public data of a company, and guessed the key.
        let mut public = sign_up.clone();
        for secret in ["p12_base64", "pin", "retry_secret"] {
            public.as_object_mut().unwrap().remove(secret);
        }
        let refused = api.register(&public).await.expect(422);
        assert_eq!(fault(&refused), ("body/retry_secret".to_owned(), "missing".to_owned()));
        public["retry_secret"] = json!("a secret of the stranger's");
        let refused = api.register(&public).await.expect(409);
        assert_eq!(refused["detail"]["code"], "idempotency_key_reused");
        assert!(
            api.opened_by(key_of(&victim)).await.is_some(),
            "the company's key stays"
        );
        // The company proves its identity, and gets a key in place of the first.
        let repeated = api.register(&sign_up).await.expect(201);
        assert_eq!(id_of(&repeated), id_of(&victim));
        assert!(api.opened_by(key_of(&repeated)).await.is_some());
    }
}

#[tokio::test]
async fn s10_a_key_that_is_easy_to_guess_is_refused() {
    let api = Api::start().await;
    for key in ["130000001", "sign-up-1", "fifteen letters"] {
        let mut body = with_key(company("130000001"));
        body["idempotency_key"] = json!(key);
        let refused = api.register(&body).await.expect(422);
        assert_eq!(
            fault(&refused),
            ("body/idempotency_key".to_owned(), "string_too_short".to_owned())
        );
        body["idempotency_key"] = json!(KEY);
        body["retry_secret"] = json!(key);
        let refused = api.register(&body).await.expect(422);
        assert_eq!(
            fault(&refused),
            ("body/retry_secret".to_owned(), "string_too_short".to_owned())
        );
    }
}

#[tokio::test]
async fn a_repeat_within_the_hour_gets_a_new_key_in_place_of_the_first() {
    let api = Api::start().await;
    let body = with_key(company_with_certificate(OWNER));
    let first = api.register(&body).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_mins(59));
    let mut second = api.register(&body).await.expect(201);
    assert_eq!(id_of(&first), id_of(&second));
    assert_ne!(key_of(&first), key_of(&second));
    assert_eq!(api.opened_by(key_of(&first)).await, None);
    assert_eq!(api.opened_by(key_of(&second)).await.unwrap().company, id_of(&first));
    // A second retry replaces the second key.
    let third = api.register(&body).await.expect(201);
    assert_eq!(api.opened_by(key_of(&second)).await, None);
    assert!(api.opened_by(key_of(&third)).await.is_some());
    // Everything else is unchanged.
    second["api_key"] = first["api_key"].clone();
    second["certificate"]["days_until_expiry"] = first["certificate"]["days_until_expiry"].clone();
    assert_eq!(second, first);
}

#[tokio::test]
async fn a_key_is_not_for_another_company() {
    let api = Api::start().await;
    let first = api.register(&with_key(company("130000001"))).await.expect(201);
    let mut renamed = company("130000001");
    renamed["name"] = json!("Otra SRL");
    for body in [company("131880681"), renamed, company_with_certificate("130000001")] {
        let refused = api.register(&with_key(body)).await.expect(409);
        assert_eq!(refused["detail"]["code"], "idempotency_key_reused");
    }
    assert!(api.opened_by(key_of(&first)).await.is_some(), "the first key stays");
}

#[tokio::test]
async fn after_an_hour_the_key_is_forgotten() {
    let api = Api::start().await;
    let body = with_key(company("130000001"));
    let first = api.register(&body).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_hours(1));
    let second = api.register(&body).await.expect(201);
    assert_ne!(id_of(&first), id_of(&second));
    assert!(api.opened_by(key_of(&first)).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn r10_sign_ups_of_one_key_at_once_make_one_company_and_leave_one_key() {
    let api = Api::start().await;
    let body = with_key(company("130000001"));
    let answers = join_all((0..8).map(|_| api.register(&body))).await;
    let mut ids = Vec::new();
    let mut open = 0;
    for answer in answers {
        if answer.status != 201 {
            assert_eq!(answer.expect(409)["detail"]["code"], "registered_meanwhile");
            continue;
        }
        let registered = answer.expect(201);
        open += usize::from(api.opened_by(key_of(&registered)).await.is_some());
        ids.push(id_of(&registered));
    }
    ids.dedup();
    assert_eq!((ids.len(), open), (1, 1));
}
