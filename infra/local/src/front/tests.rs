#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::OriginalUri;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{AppendHeaders, IntoResponse};
use axum::routing::{any, get};
use ecf_stack::Stack;
use serde_json::json;
use tower::ServiceExt as _;

use super::*;

/// A function that echoes its request, behind the template's gateway, with its own timeout.
fn gateway(timeout: Duration) -> Router {
    let stack = Stack::embedded(BTreeMap::new()).unwrap();
    let mut issuing = stack.function("issuing").unwrap().clone();
    issuing.timeout = timeout;
    let function = Router::new()
        .route("/api/v1/ecf/panic", get(async || -> () { panic!("a bug") }))
        .route("/api/v1/ecf/hang", get(std::future::pending::<()>))
        .route(
            "/api/v1/ecf/cookies",
            get(async || AppendHeaders([("set-cookie", "a=1"), ("set-cookie", "b=2")])),
        )
        .route(
            "/api/v1/ecf/bytes",
            get(async || {
                (
                    [("content-type", "application/xml")],
                    Bytes::from_static(b"\xef\xbb\xbf<a/>\xff"),
                )
            }),
        )
        .fallback(any(echo));
    let gateway = Gateway::new(
        &stack.api,
        vec![(&issuing, function)],
        &crate::invocations::Meter::default(),
    );
    Router::new().fallback(serve).with_state(gateway)
}

async fn echo(method: Method, OriginalUri(uri): OriginalUri, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let texts = headers.get_all("x-many").iter();
    let texts: Vec<_> = texts
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    axum::Json(json!({
        "method": method.as_str(),
        "path": uri.path(),
        "query": uri.query(),
        "x-many": texts,
        "body": String::from_utf8_lossy(&body),
    }))
}

async fn call(router: Router, request: Request) -> (StatusCode, HeaderMap, Vec<u8>) {
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    (
        parts.status,
        parts.headers,
        to_bytes(body, usize::MAX).await.unwrap().to_vec(),
    )
}

async fn get_path(path: &str) -> (StatusCode, HeaderMap, Value) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let (status, headers, body) = call(gateway(Duration::from_secs(15)), request).await;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    (status, headers, body)
}

#[tokio::test]
async fn a_function_sees_path_query_and_headers_as_they_were_sent() {
    let request = Request::post("/api/v1/ecf/A%C3%B1o%2F1?a=1&b=x%20y%26z&a=2&c")
        .header("x-many", "one")
        .header("x-many", "dos, ñ")
        .body(Body::from("ñ\0"))
        .unwrap();
    let (status, _, body) = call(gateway(Duration::from_secs(15)), request).await;
    let seen: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, StatusCode::OK);
    assert_eq!(seen["method"], "POST");
    assert_eq!(seen["path"], "/api/v1/ecf/A%C3%B1o%2F1");
    assert_eq!(seen["x-many"], json!(["one", "dos, ñ"]));
    assert_eq!(seen["body"], "ñ\0");
    let query = seen["query"].as_str().unwrap();
    let mut pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    pairs.sort();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        pairs,
        [pair("a", "1"), pair("a", "2"), pair("b", "x y&z"), pair("c", "")],
        "{query}"
    );
}

#[tokio::test]
async fn an_answer_keeps_its_bytes_and_every_header() {
    let (status, headers, _) = get_path("/api/v1/ecf/cookies").await;
    assert_eq!(status, StatusCode::OK);
    let cookies: Vec<_> = headers.get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
    let request = Request::get("/api/v1/ecf/bytes").body(Body::empty()).unwrap();
    let (_, headers, body) = call(gateway(Duration::from_secs(15)), request).await;
    assert_eq!(headers["content-type"], "application/xml");
    assert_eq!(body, b"\xef\xbb\xbf<a/>\xff");
}

#[tokio::test]
async fn other_methods_reach_the_function_too() {
    for method in [Method::HEAD, Method::OPTIONS, Method::DELETE] {
        let request = Request::builder().method(&method).uri("/api/v1/ecf/x");
        let (status, _, _) = call(gateway(Duration::from_secs(15)), request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::OK, "{method}");
    }
}

#[tokio::test]
async fn a_path_of_no_function_is_answered_as_the_template_says() {
    for path in ["/", "/api/v1/nothing", "/api/v1/ECF", "/favicon.ico"] {
        let (status, headers, body) = get_path(path).await;
        assert_eq!(
            (status, body),
            (StatusCode::NOT_FOUND, json!({"detail": "not found"})),
            "{path}"
        );
        assert_eq!(headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn a_body_beyond_the_gateways_own_limit_is_answered_as_the_template_says() {
    let request = Request::post("/api/v1/ecf")
        .body(Body::from(vec![b' '; GATEWAY_LIMIT_BYTES + 1]))
        .unwrap();
    let (status, headers, body) = call(gateway(Duration::from_secs(15)), request).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(headers["connection"], "close");
    assert_eq!(body, br#"{"detail":"the request is too large"}"#);
}

#[tokio::test]
async fn a_function_that_breaks_off_or_hangs_is_answered_as_the_template_says() {
    for path in ["/api/v1/ecf/panic", "/api/v1/ecf/hang"] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let (status, headers, body) = call(gateway(Duration::from_millis(50)), request).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(headers["retry-after"], "5", "{path}");
        assert_eq!(body, br#"{"detail":"the service failed to answer"}"#, "{path}");
    }
}

#[test]
fn without_a_shape_of_its_own_a_case_takes_the_default_and_then_the_gateways_own_words() {
    let status = |own: Own, shapes: &BTreeMap<_, _>| own.response(shapes).status();
    let default = GatewayResponse {
        status: None,
        headers: BTreeMap::new(),
        body: "{\"detail\":$context.error.messageString}".to_owned(),
    };
    let shapes = BTreeMap::from([("DEFAULT_5XX".to_owned(), default)]);
    assert_eq!(status(Own::TimedOut, &shapes), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(status(Own::NoRoute, &shapes), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_gateways_words_stand_in_the_template_with_their_quotes() {
    let default = GatewayResponse {
        status: Some(503),
        headers: BTreeMap::from([("Retry-After".to_owned(), "7".to_owned())]),
        body: "{\"detail\":$context.error.messageString}".to_owned(),
    };
    let shapes = BTreeMap::from([("DEFAULT_5XX".to_owned(), default)]);
    let response = Own::TimedOut.response(&shapes);
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "7");
    let body = to_bytes(response.into_body(), 1000).await.unwrap();
    assert_eq!(body, r#"{"detail":"Endpoint request timed out"}"#);
}
