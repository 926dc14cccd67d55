#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use axum::{
    Extension,
    body::Bytes,
    extract::RawQuery,
    response::IntoResponse,
    routing::{get, post},
};
use serde_json::{Value, json};

use super::*;

/// An event of API Gateway, with `changes` applied to it.
fn event(method: &str, path: &str, changes: Value) -> LambdaRequest {
    let mut event = json!({
        "resource": "/{proxy+}", "path": path, "httpMethod": method,
        "headers": {"Host": "example.execute-api.us-east-1.amazonaws.com", "X-Forwarded-Proto": "https"},
        "multiValueHeaders": {"Host": ["example.execute-api.us-east-1.amazonaws.com"], "X-Forwarded-Proto": ["https"]},
        "queryStringParameters": null, "multiValueQueryStringParameters": null,
        "pathParameters": {"proxy": path.trim_start_matches('/')}, "stageVariables": null,
        "requestContext": {
            "resourcePath": "/{proxy+}", "httpMethod": method, "path": format!("/api{path}"),
            "requestId": "41b45ea3-70b5-11e6-b7bd-69b5aaebc7d9", "apiId": "example", "accountId": "123456789012",
            "identity": {"sourceIp": "192.0.2.1"},
        },
        "body": null, "isBase64Encoded": false,
    });
    for (name, value) in changes.as_object().unwrap() {
        event[name] = value.clone();
    }
    serde_json::from_value(event).unwrap()
}

async fn answered(router: Router, event: LambdaRequest) -> Value {
    serde_json::to_value(answer(router, event).await).unwrap()
}

#[tokio::test]
async fn a_base64_body_reaches_the_handler_decoded() {
    let router = Router::new().route(
        "/upload",
        post(|body: Bytes| async move { assert_eq!(body.as_ref(), b"\xff\x00\xfe") }),
    );
    let event = event("POST", "/upload", json!({"body": "/wD+", "isBase64Encoded": true}));
    assert_eq!(answered(router, event).await["statusCode"], 200);
}

#[tokio::test]
async fn json_leaves_as_text_and_its_headers_once() {
    let router = Router::new().route("/", get(|| async { axum::Json(json!({"name": "Ñandú"})) }));
    let answer = answered(router, event("GET", "/", json!({}))).await;
    assert_eq!(answer["body"], r#"{"name":"Ñandú"}"#);
    assert_eq!(answer["isBase64Encoded"], false);
    assert_eq!(answer["headers"], json!({}));
    assert_eq!(answer["multiValueHeaders"]["content-type"], json!(["application/json"]));
}

#[tokio::test]
async fn xml_leaves_as_the_bytes_it_is() {
    // A byte order mark and a Latin-1 letter: conversion to text would lose both.
    let document: &[u8] = b"\xef\xbb\xbf<a>\xcd</a>";
    let router = Router::new().route(
        "/xml",
        get(move || async move { ([(CONTENT_TYPE, "application/xml")], document).into_response() }),
    );
    let answer = answered(router, event("GET", "/xml", json!({}))).await;
    assert_eq!(answer["isBase64Encoded"], true);
    assert_eq!(answer["body"], "77u/PGE+zTwvYT4=");
}

#[tokio::test]
async fn an_empty_answer_has_no_body() {
    let router = Router::new().route("/", get(|| async { StatusCode::NO_CONTENT }));
    let answer = answered(router, event("GET", "/", json!({}))).await;
    assert_eq!(answer["statusCode"], 204);
    assert_eq!(answer.get("body"), None);
    assert_eq!(answer["isBase64Encoded"], false);
}

#[tokio::test]
async fn the_gateways_request_id_reaches_the_router() {
    let router = Router::new().route("/", get(|Extension(id): Extension<RequestId>| async move { id.0 }));
    let answer = answered(router, event("GET", "/", json!({}))).await;
    assert_eq!(answer["body"], "41b45ea3-70b5-11e6-b7bd-69b5aaebc7d9");
}

#[tokio::test]
async fn b3_the_public_address_is_the_gateways_and_not_the_callers() {
    let said = get(|Extension(PublicAddress(address)): Extension<PublicAddress>| async move { address });
    let router = Router::new().route("/a/b", said);
    for (host, path, address) in [
        // Addresses of the gateway's default host contain the stage; those of a custom domain do not.
        (
            "x.execute-api.us-east-1.amazonaws.com",
            "/api/a/b",
            "https://x.execute-api.us-east-1.amazonaws.com/api",
        ),
        ("ecf.example.com", "/a/b", "https://ecf.example.com"),
        ("ecf.example.com", "/base/a/b", "https://ecf.example.com/base"),
    ] {
        let mut changes = event("GET", "/a/b", json!({}));
        let LambdaRequest::ApiGatewayV1(request) = &mut changes else {
            panic!("a version 1 event")
        };
        request.request_context.domain_name = Some(host.to_owned());
        request.request_context.path = Some(path.to_owned());
        for header in ["host", "x-forwarded-host"] {
            request
                .headers
                .insert(header, HeaderValue::from_static("forged.example"));
            request
                .multi_value_headers
                .insert(header, HeaderValue::from_static("forged.example"));
        }
        assert_eq!(answered(router.clone(), changes).await["body"], address);
    }
}

#[tokio::test]
async fn every_value_of_a_repeated_query_name_arrives() {
    let router = Router::new().route("/", get(|RawQuery(query): RawQuery| async move { query.unwrap() }));
    let changes = json!({
        "queryStringParameters": {"limit": "5"},
        "multiValueQueryStringParameters": {"limit": ["50", "5"]},
    });
    let answer = answered(router, event("GET", "/", changes)).await;
    assert_eq!(answer["body"], "limit=50&limit=5");
}

#[tokio::test]
async fn a_space_or_a_percent_sign_in_a_query_survives() {
    let router = Router::new().route("/", get(|RawQuery(query): RawQuery| async move { query.unwrap() }));
    let changes = json!({"multiValueQueryStringParameters": {"external_id": ["A&B 50% +1"]}});
    let answer = answered(router, event("GET", "/", changes)).await;
    let query = answer["body"].as_str().unwrap();
    assert!(
        query == "external_id=A%26B%2050%25%20%2B1" || query == "external_id=A%26B+50%25+%2B1",
        "{query}"
    );
}

#[tokio::test]
async fn every_value_of_a_header_arrives() {
    let several = |headers: HeaderMap| async move {
        let values = headers.get_all("x-forwarded-for").iter();
        values
            .map(|value| value.to_str().unwrap())
            .collect::<Vec<_>>()
            .join(" and ")
    };
    let router = Router::new().route("/", get(several));
    let changes = json!({
        "headers": {"X-Forwarded-For": "198.51.100.7"},
        "multiValueHeaders": {"X-Forwarded-For": ["192.0.2.1", "198.51.100.7"]},
    });
    let answer = answered(router, event("GET", "/", changes)).await;
    assert_eq!(answer["body"], "192.0.2.1 and 198.51.100.7");
}

#[tokio::test]
async fn routes_are_matched_without_the_stage() {
    let router = Router::new().route(
        "/fe/x",
        get(|RawQuery(query): RawQuery| async move { query.unwrap_or_default() }),
    );
    let changes = json!({
        "queryStringParameters": {"a": "1"}, "multiValueQueryStringParameters": {"a": ["1"]},
        "requestContext": {"stage": "prod", "httpMethod": "GET", "identity": {}},
    });
    let answer = answered(router, event("GET", "/fe/x", changes)).await;
    assert_eq!((&answer["statusCode"], &answer["body"]), (&json!(200), &json!("a=1")));
}

#[tokio::test]
async fn a10_an_answer_that_lambda_would_not_return_is_replaced() {
    let router = Router::new()
        .route("/text", get(|| async { axum::Json("x".repeat(MOST_BODY_BYTES - 100)) }))
        .route(
            "/quotes",
            get(|| async { axum::Json("\"".repeat(MOST_BODY_BYTES / 4)) }),
        )
        .route("/bytes", get(|| async { vec![0_u8; MOST_BODY_BYTES / 4 * 3] }))
        .route("/more", get(|| async { vec![0_u8; MOST_BODY_BYTES / 4 * 3 + 3] }));
    let status = async |path: &str| {
        let answer = answered(router.clone(), event("GET", path, json!({}))).await;
        (answer["statusCode"].as_u64().unwrap(), answer)
    };
    assert_eq!(status("/text").await.0, 200);
    assert_eq!(status("/bytes").await.0, 200);
    for path in ["/quotes", "/more"] {
        let (code, answer) = status(path).await;
        assert_eq!(code, 500, "{path}");
        let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        assert_eq!(body["detail"]["code"], "answer_too_large");
        assert_eq!(
            answer["multiValueHeaders"],
            json!({"content-type": ["application/json"]})
        );
        assert_eq!(answer["isBase64Encoded"], false);
    }
}

#[tokio::test]
async fn b2_the_address_that_was_called_has_the_stage_only_where_the_caller_wrote_it() {
    let router = Router::new().route(
        "/x",
        get(|address: Option<Extension<PublicAddress>>| async {
            address.map(|Extension(address)| address.0).unwrap_or_default()
        }),
    );
    for (host, path, forwarded, base) in [
        (Some("a1b2.example"), "/api/x", "https", "https://a1b2.example/api"),
        (Some("ecf.example"), "/x", "https", "https://ecf.example"),
        (Some("127.0.0.1:8080"), "/x", "http", "http://127.0.0.1:8080"),
        (None, "/api/x", "https", ""),
    ] {
        let changes = json!({
            "headers": {"X-Forwarded-Proto": forwarded}, "multiValueHeaders": {"X-Forwarded-Proto": [forwarded]},
            "requestContext": {"domainName": host, "path": path, "httpMethod": "GET", "identity": {}},
        });
        let answer = answered(router.clone(), event("GET", "/x", changes)).await;
        assert_eq!(answer["body"].as_str().unwrap_or_default(), base, "{host:?}{path}");
    }
}
