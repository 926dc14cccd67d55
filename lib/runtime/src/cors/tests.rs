#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;

use axum::body::Body;
use axum::routing::get;
use lambda_http::http::{HeaderMap, Request, StatusCode};

use super::*;

fn env(origins: &str) -> Env {
    Env::of(BTreeMap::from([("CORS_ORIGINS".to_owned(), origins.to_owned())]))
}

async fn ask(origins: &str, method: Method, origin: &str) -> (StatusCode, HeaderMap) {
    let router = Router::new().route("/receipts", get(async || "receipts"));
    let request = Request::builder()
        .method(method)
        .uri("/receipts")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "x-api-key,content-type");
    let router = allow_origins(router, &env(origins)).unwrap();
    let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    (response.status(), response.headers().clone())
}

#[tokio::test]
async fn pages_of_the_origins_named_may_call_and_others_may_not() {
    let origins = "https://erp.example.com, http://localhost:3000";
    for (origin, is_let_in) in [
        ("https://erp.example.com", true),
        ("http://localhost:3000", true),
        ("http://erp.example.com", false),
        ("https://erp.example.com.evil.example", false),
        ("https://erp.example.com:8443", false),
        ("null", false),
    ] {
        for method in [Method::OPTIONS, Method::GET] {
            let (status, headers) = ask(origins, method, origin).await;
            assert_eq!(status, StatusCode::OK);
            let allowed = headers
                .get("access-control-allow-origin")
                .map(|value| value.to_str().unwrap());
            assert_eq!(allowed, is_let_in.then_some(origin));
        }
    }
}

#[tokio::test]
async fn a8_a_preflight_is_answered_with_the_methods_of_its_route() {
    let (_, headers) = ask("*", Method::OPTIONS, "https://anywhere.example").await;
    assert_eq!(headers["access-control-allow-origin"], "*");
    assert_eq!(headers["access-control-allow-methods"], "GET,HEAD");
    assert_eq!(
        headers["access-control-allow-headers"],
        "content-encoding,content-type,if-none-match,x-api-key"
    );
    assert_eq!(headers["access-control-max-age"], "3600");
    let (_, headers) = ask("*", Method::GET, "https://anywhere.example").await;
    assert!(
        headers["access-control-expose-headers"]
            .to_str()
            .unwrap()
            .contains("retry-after")
    );
    let logo = get(async || "logo").put(async || "put").delete(async || "deleted");
    let router = Router::new().route("/logo/{id}", logo);
    for (path, methods) in [("/logo/7", "GET,HEAD,PUT,DELETE"), ("/nothing", "PUT")] {
        let request = Request::options(path)
            .header("origin", "https://anywhere.example")
            .header("access-control-request-method", "PUT");
        let router = allow_origins(router.clone(), &env("*")).unwrap();
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["access-control-allow-methods"], methods, "{path}");
    }
}

#[tokio::test]
async fn who_asks_for_the_methods_of_a_route_gets_them_from_the_route() {
    let router = Router::new().route("/receipts", get(async || "receipts"));
    let router = allow_origins(router, &env("*")).unwrap();
    let request = Request::options("/receipts").body(Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["allow"], "GET,HEAD");
}

#[tokio::test]
async fn without_origins_nothing_is_said() {
    let (status, headers) = ask("", Method::OPTIONS, "https://erp.example.com").await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(!headers.contains_key("access-control-allow-origin"));
}

#[test]
fn what_is_no_origin_is_refused_at_the_start() {
    for bad in [
        "erp.example.com",
        "https://erp.example.com/",
        "https://erp.example.com/path",
        "ftp://erp.example.com",
        "https://",
        "https://user@erp.example.com",
        "https://*.example.com,*",
        "*, https://erp.example.com",
        ",",
    ] {
        let error = allow_origins(Router::new(), &env(bad)).unwrap_err();
        assert!(error.to_string().contains("CORS_ORIGINS"), "{bad}: {error}");
    }
}
