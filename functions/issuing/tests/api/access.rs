//! Keys and environments.

use ecf_testkit::request;
use http::Method;
use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, payloads::invoice};

const ROUTES: [(Method, &str); 3] = [
    (Method::POST, "/api/v1/ecf"),
    (Method::GET, "/api/v1/ecf/states"),
    (Method::GET, "/api/v1/ecf/0000000000000000000000000000000z"),
];

#[tokio::test]
async fn every_route_wants_a_key() {
    let api = Api::start().await;
    for (method, path) in ROUTES {
        let body = (method == Method::POST).then(|| invoice("a"));
        let answer = request(&api.router, method, path, None, body.as_ref()).await;
        let expected = json!({ "detail": [{
            "loc": ["header", "X-API-Key"], "msg": "X-API-Key: Field required", "type": "missing", "input": null, "ctx": { "code": "missing" },
        }]});
        assert_eq!(answer.expect(422), expected, "{path}");
    }
}

#[tokio::test]
async fn a_wrong_key_opens_nothing() {
    let api = Api::start().await;
    let mut other = api.company.api_key.clone();
    let last = if other.pop() == Some('0') { '1' } else { '0' };
    other.push(last);
    for key in [other.as_str(), "x", "", "ecf_test_"] {
        for (method, path) in ROUTES {
            let body = (method == Method::POST).then(|| invoice("a"));
            let answer = request(&api.router, method, path, Some(key), body.as_ref()).await;
            let body = answer.expect(401);
            assert_eq!(body["detail"]["code"], "invalid_api_key", "{key} {path}");
            assert_eq!(body["detail"]["message"], "the API key is unknown, expired or revoked");
            assert!(body["detail"]["request_id"].is_string());
        }
    }
    assert_eq!(api.numbers_taken("31").await, 0);
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_after_a_minute_at_most() {
    let api = Api::start().await;
    api.get("/api/v1/ecf/states").await.expect(200);
    let now = api.stack.clock().now();
    let (company, key) = (api.company.scope.company, api.company.api_key_id);
    assert!(api.stack.table().revoke_api_key(&company, &key, now).await.unwrap());
    api.stack.clock().advance(SignedDuration::from_secs(60));
    let body = api.issue(&invoice("a")).await.expect(401);
    assert_eq!(body["detail"]["code"], "invalid_api_key");
    assert_eq!(api.numbers_taken("31").await, 0);
}

#[tokio::test]
async fn a_body_names_no_other_environment_than_the_keys() {
    let api = Api::start().await;
    let mut body = invoice("a");
    for environment in ["CerteCF", "ecf"] {
        body["environment"] = json!(environment);
        let refused = api.issue(&body).await.expect(422);
        let expected = json!({ "detail": [{
            "loc": ["body", "environment"],
            "msg": "Input should be 'TesteCF', the environment of the API key",
            "type": "enum", "input": environment, "ctx": { "code": "environment_mismatch", "expected": "TesteCF" },
        }]});
        assert_eq!(refused, expected);
    }
    body["environment"] = json!("testecf");
    let refused = api.issue(&body).await.expect(422);
    assert_eq!(refused["detail"][0]["loc"], json!(["body", "environment"]));
    body["environment"] = json!("TesteCF");
    assert_eq!(api.issue(&body).await.expect(201)["environment"], "TesteCF");
    api.jobs().await;
}

#[tokio::test]
async fn only_the_keys_company_issues() {
    let api = Api::start().await;
    let mut body = invoice("a");
    body["payload"]["Encabezado"]["Emisor"]["RNCEmisor"] = json!("131880681");
    let refused = api.issue(&body).await.expect(422);
    let expected = json!({ "detail": [{
        "loc": ["body", "payload", "Encabezado", "Emisor", "RNCEmisor"],
        "msg": "RNCEmisor is 131880681, but the API key belongs to 130000001",
        "type": "value_error",
        "input": "131880681",
        "ctx": { "code": "rnc_mismatch", "given": "131880681", "expected": "130000001" },
    }]});
    assert_eq!(refused, expected);
    assert_eq!(api.numbers_taken("31").await, 0);
}

#[tokio::test]
async fn a_deactivated_company_issues_nothing_within_a_minute_and_may_read() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let company = &api.company.scope.company;
    table.deactivate_company(company, now).await.unwrap();
    api.stack.clock().advance(SignedDuration::from_secs(60));
    let refused = api.issue(&invoice("b")).await.expect(401);
    assert_eq!(refused["detail"]["code"], "company_inactive");
    assert_eq!(api.issue(&invoice("a")).await.expect(200), issued);
    let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
    api.get(&path).await.expect(200);

    table.activate_company(company, api.stack.clock().now()).await.unwrap();
    api.stack.clock().advance(SignedDuration::from_secs(60));
    api.issue(&invoice("b")).await.expect(201);
    api.jobs().await;
}
