//! `status` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod catalogues;
mod notices;
mod rnc;
mod taxauth;

use std::{fs, path::Path};

use axum::Router;
use ecf_runtime::{LambdaRequest, answer};
use ecf_testkit::{Fault, TestStack, request};
use http::Method;
use serde_json::{Value, json};
use status::App;

async fn started() -> (TestStack, Router) {
    let stack = TestStack::start().await;
    let app = App::from_env(&stack.env("status"), &stack.clients_of("status"), stack.clock().clone()).unwrap();
    (stack, status::router(app))
}

#[tokio::test]
async fn health_is_ok_when_the_table_answers_and_needs_no_key() {
    let (_stack, router) = started().await;
    let answer = request(&router, Method::GET, "/api/v1/health", None, None).await;
    let expected = json!({ "status": "ok", "checks": { "table": "ok" }, "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(answer.expect(200), expected);
}

#[tokio::test]
async fn health_is_degraded_when_the_table_does_not_answer_and_ok_again_after() {
    let (stack, router) = started().await;
    stack.calls().inject("GetItem", 1, Fault::NotSent);
    let answer = request(&router, Method::GET, "/api/v1/health", None, None).await;
    let expected =
        json!({ "status": "degraded", "checks": { "table": "failed" }, "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(answer.expect(200), expected);
    assert_eq!(stack.calls().faults_to_come(), 0);
    let answer = request(&router, Method::GET, "/api/v1/health", None, None).await;
    assert_eq!(answer.expect(200)["status"], "ok");
}

#[tokio::test]
async fn unknown_addresses_and_methods_answer_in_one_shape() {
    let (_stack, router) = started().await;
    let answer = request(&router, Method::POST, "/api/v1/health", None, None).await;
    assert_eq!(answer.expect(405)["detail"]["code"], "method_not_allowed");
    for path in ["/api/v1/health/", "/openapi", "/openapi/public-v2.json"] {
        let answer = request(&router, Method::GET, path, None, None).await;
        assert_eq!(answer.expect(404)["detail"]["code"], "not_found", "{path}");
    }
    let answer = request(&router, Method::HEAD, "/api/v1/health", None, None).await;
    assert_eq!((answer.status.as_u16(), answer.bytes.len()), (200, 0));
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let (stack, router) = started().await;
    let company = stack.company().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/status");
    for name in [
        "health.json",
        "maintenance.json",
        "notice-changes.json",
        "catalogue.json",
    ] {
        let mut event: Value = serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap();
        event["headers"]["X-API-Key"] = json!(company.api_key);
        event["multiValueHeaders"]["X-API-Key"] = json!([company.api_key]);
        let event: LambdaRequest = serde_json::from_value(event).unwrap();
        let answer = serde_json::to_value(answer(router.clone(), event).await).unwrap();
        assert_eq!(answer["statusCode"], 200, "{name}");
        serde_json::from_str::<Value>(answer["body"].as_str().unwrap()).unwrap();
    }
}
