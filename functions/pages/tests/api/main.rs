//! `pages` over HTTP.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod console;

use std::{fs, path::Path};

use axum::body::Body;
use ecf_runtime::{LambdaRequest, answer};
use ecf_testkit::request;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

#[tokio::test]
async fn the_contract_is_served_as_it_is_checked_in() {
    let router = pages::router();
    let answer = request(&router, Method::GET, "/openapi/public-v1.json", None, None).await;
    let served = answer.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infra/openapi/public-v1.json");
    assert_eq!(answer.bytes, fs::read(file).unwrap());
    assert!(
        served["openapi"].as_str().unwrap().starts_with("3.1"),
        "{}",
        served["openapi"]
    );
    assert_eq!(served["info"]["version"], "1.0.0");
    for path in [
        "/api/v1/ecf",
        "/api/v1/health",
        "/api/v1/public/register",
        "/api/v1/client/webhooks",
    ] {
        assert!(served["paths"][path].is_object(), "{path}");
    }
}

/// The gateway's event for the document, below the stage or behind a custom domain.
fn event(host: &str, path: &str) -> LambdaRequest {
    serde_json::from_value(json!({
        "resource": "/openapi/public-v1.json", "path": "/openapi/public-v1.json", "httpMethod": "GET",
        "headers": { "Host": host }, "multiValueHeaders": { "Host": [host], "X-Forwarded-Proto": ["https"] },
        "queryStringParameters": null, "multiValueQueryStringParameters": null, "pathParameters": null,
        "stageVariables": null, "body": null, "isBase64Encoded": false,
        "requestContext": {
            "stage": "api", "path": path, "domainName": host, "resourcePath": "/openapi/public-v1.json",
            "httpMethod": "GET", "identity": { "sourceIp": "192.0.2.1" },
        },
    }))
    .unwrap()
}

#[tokio::test]
async fn b2_the_contract_names_the_address_at_which_it_is_served_with_and_without_a_stage() {
    let router = pages::router();
    let stage = "a1b2c3d4e5.execute-api.us-east-1.amazonaws.com";
    for (host, path, url) in [
        (stage, "/api/openapi/public-v1.json", format!("https://{stage}/api")),
        (
            "ecf.example.com",
            "/openapi/public-v1.json",
            "https://ecf.example.com".to_owned(),
        ),
    ] {
        let answer = answer(router.clone(), event(host, path)).await;
        let answer = serde_json::to_value(answer).unwrap();
        let document: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        assert_eq!(document["servers"], json!([{ "url": url }]), "{host}{path}");
    }
}

#[tokio::test]
async fn b9_the_contract_is_served_without_its_webhooks_for_generators() {
    let router = pages::router();
    let whole = request(
        &router,
        Method::GET,
        "/openapi/public-v1.json?webhooks=true",
        None,
        None,
    )
    .await;
    let mut whole: Value = whole.expect(200);
    assert!(whole["webhooks"].is_object());
    let answer = request(
        &router,
        Method::GET,
        "/openapi/public-v1.json?webhooks=false",
        None,
        None,
    )
    .await;
    let without: Value = answer.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    whole.as_object_mut().unwrap().remove("webhooks");
    assert_eq!(without, whole);
    let answer = request(
        &router,
        Method::GET,
        "/openapi/public-v1.json?webhooks=maybe",
        None,
        None,
    )
    .await;
    assert_eq!(answer.expect(422)["detail"][0]["loc"], json!(["query", "webhooks"]));
}

#[tokio::test]
async fn the_reference_page_brings_all_that_it_needs() {
    let router = pages::router();
    let page = request(&router, Method::GET, "/api-reference", None, None).await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (StatusCode::OK, Some("text/html; charset=utf-8"))
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'self';"), "{policy}");
    let text = String::from_utf8(page.bytes).unwrap();
    assert!(!text.contains("//"), "the page names another host: {text}");
    let files: Vec<_> = text
        .split("src=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(files, ["api-reference/scalar-1.76.0.js", "api-reference/start.js"]);
    for file in files {
        let answer = request(&router, Method::GET, &format!("/{file}"), None, None).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, Some("text/javascript; charset=utf-8"))
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{file}");
        let is_gzip = answer.bytes.starts_with(&[0x1f, 0x8b]);
        assert_eq!(answer.header("content-encoding"), is_gzip.then_some("gzip"), "{file}");
    }
    // Not in the contract, so it is not compared with it.
    let slash = Request::get("/api-reference/").body(Body::empty()).unwrap();
    let slash = router.clone().oneshot(slash).await.unwrap();
    assert_eq!(
        (slash.status(), slash.headers()["location"].as_bytes()),
        (StatusCode::FOUND, b"/api-reference".as_slice())
    );
    let other = request(&router, Method::GET, "/api-reference/other.js", None, None).await;
    assert_eq!(other.expect(404)["detail"]["code"], "not_found");
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/pages");
    for name in ["console.json", "openapi.json", "reference.json"] {
        let event = serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap();
        let answer = serde_json::to_value(answer(pages::router(), event).await).unwrap();
        assert_eq!(answer["statusCode"], 200, "{name}");
    }
}
