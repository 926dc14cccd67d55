//! `GET /api/v1/client/webhooks`.

use http::Method;
use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, PUBLIC, WEBHOOKS};

#[tokio::test]
async fn the_list_is_a_bare_array_without_secrets_oldest_first() {
    let api = Api::start().await;
    assert_eq!(api.get(WEBHOOKS).await.expect(200), json!([]));
    let first = api.subscribe(PUBLIC).await;
    api.stack.clock().advance(SignedDuration::from_secs(1));
    let second = api.subscribe("https://other.example.com/").await;
    let listed = api.get(WEBHOOKS).await.expect(200);
    let expected = json!([
        {
            "public_id": first["public_id"], "url": PUBLIC, "events": ["*"], "is_active": true,
            "created_at": "2026-11-27T16:00:00.000Z", "updated_at": "2026-11-27T16:00:00.000Z",
        },
        {
            "public_id": second["public_id"], "url": "https://other.example.com/", "events": ["*"], "is_active": true,
            "created_at": "2026-11-27T16:00:01.000Z", "updated_at": "2026-11-27T16:00:01.000Z",
        },
    ]);
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn unknown_addresses_and_methods_answer_in_one_shape() {
    let api = Api::start().await;
    let answer = api.call(Method::PUT, WEBHOOKS, None).await;
    assert_eq!(answer.expect(405)["detail"]["code"], "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("GET,HEAD,POST"));
    for path in [
        "/api/v1/client/webhooks/",
        "/api/v1/client/webhooks/x/y",
        "/api/v1/client",
    ] {
        assert_eq!(api.get(path).await.expect(404)["detail"]["code"], "not_found", "{path}");
    }
}
