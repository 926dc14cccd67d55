//! Attempts of the certification.

use ecf::Environment;
use ecf_testkit::TestStack;
use http::Method;
use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, faults};

const ATTEMPTS: &str = "/api/v1/client/certification/attempts";

async fn certifying() -> Api {
    let stack = TestStack::start().await;
    let builder = stack.company_builder().environment(Environment::CerteCF);
    let company = builder.without_ranges().without_certificate().build().await;
    Api::of(stack, company)
}

#[tokio::test]
async fn d1_a_new_attempt_begins_once_for_each_key() {
    let api = certifying().await;
    let first = json!({ "attempt": 1, "begun_at": null, "is_current": true });
    let listed = api.get(ATTEMPTS).await.expect(200);
    assert_eq!(listed, json!({ "items": [first], "total": 1 }));

    let body = json!({ "idempotency_key": "reset 1", "environment": "CerteCF" });
    let second = json!({ "attempt": 2, "begun_at": "2026-11-27T16:00:00.000Z", "is_current": true });
    assert_eq!(api.call(Method::POST, ATTEMPTS, Some(&body)).await.expect(201), second);
    assert_eq!(api.call(Method::POST, ATTEMPTS, Some(&body)).await.expect(200), second);

    api.stack.clock().advance(SignedDuration::from_mins(1));
    let other = json!({ "idempotency_key": "reset 2" });
    let third = json!({ "attempt": 3, "begun_at": "2026-11-27T16:01:00.000Z", "is_current": true });
    assert_eq!(api.call(Method::POST, ATTEMPTS, Some(&other)).await.expect(201), third);
    // The first idempotency key is answered with the current state of its attempt.
    let past = json!({ "attempt": 2, "begun_at": "2026-11-27T16:00:00.000Z", "is_current": false });
    assert_eq!(api.call(Method::POST, ATTEMPTS, Some(&body)).await.expect(200), past);
    let first = json!({ "attempt": 1, "begun_at": null, "is_current": false });
    let listed = api.get(ATTEMPTS).await.expect(200);
    assert_eq!(listed, json!({ "items": [third, past, first], "total": 3 }));
}

#[tokio::test]
async fn d1_attempts_belong_to_certecf_and_to_one_company() {
    let api = Api::start().await;
    let body = json!({ "idempotency_key": "reset" });
    for (method, body) in [(Method::GET, None), (Method::POST, Some(&body))] {
        let refused = api.call(method, ATTEMPTS, body).await.expect(409);
        assert_eq!(refused["detail"]["code"], "certification_only");
        assert_eq!(
            refused["detail"]["message"],
            "attempts belong to the certification: call with an API key of CerteCF, this one is of TesteCF"
        );
    }
    let api = certifying().await;
    api.call(Method::POST, ATTEMPTS, Some(&body)).await.expect(201);
    let builder = api
        .stack
        .company_builder()
        .rnc("131880681")
        .environment(Environment::CerteCF);
    let other = builder.without_ranges().without_certificate().build().await;
    let listed = ecf_testkit::request(&api.router, Method::GET, ATTEMPTS, Some(&other.api_key), None).await;
    assert_eq!(listed.expect(200)["total"], 1);
}

#[tokio::test]
async fn d1_every_bad_field_is_named() {
    let api = certifying().await;
    for (body, expected) in [
        (json!({}), ("body/idempotency_key", "missing")),
        (
            json!({ "idempotency_key": "" }),
            ("body/idempotency_key", "string_too_short"),
        ),
        (
            json!({ "idempotency_key": "a", "attempt": 2 }),
            ("body/attempt", "extra_forbidden"),
        ),
        (
            json!({ "idempotency_key": "a", "environment": "TesteCF" }),
            ("body/environment", "enum"),
        ),
    ] {
        let refused = api.call(Method::POST, ATTEMPTS, Some(&body)).await.expect(422);
        let expected = (expected.0.to_owned(), expected.1.to_owned());
        assert_eq!(faults(&refused), [expected], "{refused}");
    }
}
