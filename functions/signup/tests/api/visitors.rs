//! The rate limit per client address, which only the gateway knows.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::Api;

/// A sign-up as the gateway passes it on, from an address and with a header that the caller wrote.
async fn register_from(api: &Api, address: &str, forged: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/signup/register.json");
    let mut event: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    event["requestContext"]["identity"]["sourceIp"] = json!(address);
    event["headers"]["X-Forwarded-For"] = json!(forged);
    event["multiValueHeaders"]["X-Forwarded-For"] = json!([forged]);
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    serde_json::to_value(answer(api.router.clone(), event).await).unwrap()
}

#[tokio::test]
async fn an_address_that_tries_too_often_waits_and_the_others_do_not() {
    let api = Api::with(&[("SIGNUPS_PER_HOUR", "2")]).await;
    api.stack.clock().advance(SignedDuration::from_mins(20));
    for (address, status) in [
        ("198.51.100.7", 201),
        ("198.51.100.7", 201),
        ("198.51.100.7", 429),
        ("198.51.100.8", 201),
    ] {
        let forged = format!("203.0.113.{}", status % 256);
        assert_eq!(
            register_from(&api, address, &forged).await["statusCode"],
            status,
            "{address}"
        );
    }
    let refused = register_from(&api, "198.51.100.7", "203.0.113.9").await;
    assert_eq!(refused["multiValueHeaders"]["retry-after"], json!(["2400"]));
    let body: Value = serde_json::from_str(refused["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["detail"]["code"], "too_many_requests");
    api.stack.clock().advance(SignedDuration::from_mins(40));
    assert_eq!(register_from(&api, "198.51.100.7", "").await["statusCode"], 201);
}
