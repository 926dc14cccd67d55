use axum::{
    body::{Body, to_bytes},
    extract::{Json, Path},
    response::IntoResponse,
    routing::{get, post},
};
use ecf_language::Bilingual;
use ecf_runtime::RequestId;
use http::{HeaderMap, Request, header};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::Download;

fn router() -> Router {
    let routes = Router::new()
        .route("/api/v1/ecf/{id}", get(|Path(id): Path<String>| async { id }))
        .route("/api/v1/taxauth/status", get(async || "status"))
        .route(
            "/api/v1/number/{n}",
            get(|Path(n): Path<u32>| async move { n.to_string() }),
        )
        .route(
            "/api/v1/json",
            post(|Json(json): Json<Value>| async move { json.to_string() }),
        )
        .route(
            "/api/v1/conflict",
            get(async || ApiError::conflict("taken", Bilingual::same("it is taken"))),
        )
        .route(
            "/api/v1/busy",
            get(async || ApiError::unavailable(std::time::Duration::from_secs(3))),
        )
        .route("/api/v1/panic", get(panicking))
        .route(
            "/api/v1/xml-error",
            get(async || {
                (
                    StatusCode::BAD_REQUEST,
                    [(header::CONTENT_TYPE, "application/xml")],
                    "<error/>",
                )
                    .into_response()
            }),
        )
        .route(
            "/api/v1/file",
            get(async || Download::new("abc", "application/xml", "a.xml")),
        );
    finish(routes)
}

async fn panicking() -> &'static str {
    panic!("provoked")
}

async fn ask(request: Request<Body>) -> (StatusCode, HeaderMap, Value) {
    let response = router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into());
    (parts.status, parts.headers, body)
}

async fn get_path(path: &str) -> (StatusCode, HeaderMap, Value) {
    ask(Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn both_spellings_reach_the_same_handler() {
    for path in ["/api/v1/ecf/abc", "/api/v1/eCF/abc"] {
        assert_eq!(get_path(path).await.2, "abc", "{path}");
    }
    for path in ["/api/v1/taxauth/status", "/api/v1/dgii/status"] {
        assert_eq!(get_path(path).await.2, "status", "{path}");
    }
    assert_eq!(get_path("/api/v1/ECF/abc").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_unknown_path_is_404_in_shape() {
    let (status, headers, body) = get_path("/api/v1/nothing").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(body["detail"]["code"], "not_found");
    assert_eq!(body["detail"]["request_id"], headers["x-request-id"].to_str().unwrap());
}

#[tokio::test]
async fn another_method_is_405_and_says_which_are_allowed() {
    let (status, headers, body) = ask(Request::delete("/api/v1/ecf/abc").body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(headers[header::ALLOW], "GET,HEAD");
    assert_eq!(body["detail"]["code"], "method_not_allowed");
}

#[tokio::test]
async fn options_lists_the_methods_and_head_sends_no_body() {
    let (status, headers, body) = ask(Request::options("/api/v1/ecf/abc").body(Body::empty()).unwrap()).await;
    assert_eq!((status, body), (StatusCode::NO_CONTENT, json!("")));
    assert_eq!(headers[header::ALLOW], "GET,HEAD");
    let (status, _, body) = ask(Request::head("/api/v1/ecf/abc").body(Body::empty()).unwrap()).await;
    assert_eq!((status, body), (StatusCode::OK, json!("")));
    let (status, _, body) = ask(Request::head("/api/v1/conflict").body(Body::empty()).unwrap()).await;
    assert_eq!((status, body), (StatusCode::CONFLICT, json!("")));
}

#[tokio::test]
async fn the_gateways_request_id_is_kept() {
    let mut request = Request::get("/api/v1/conflict").body(Body::empty()).unwrap();
    request.extensions_mut().insert(RequestId("41b45ea3".to_owned()));
    let (status, headers, body) = ask(request).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(headers["x-request-id"], "41b45ea3");
    assert_eq!(
        body,
        json!({"detail": {"code": "taken", "message": "it is taken", "request_id": "41b45ea3"}})
    );
}

#[tokio::test]
async fn a_panic_is_500_in_shape_and_keeps_its_words_to_itself() {
    let (status, _, body) = get_path("/api/v1/panic").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(body["detail"]["code"], "internal_error");
    assert!(!body.to_string().contains("provoked"));
}

#[tokio::test]
async fn refusals_of_libraries_come_in_shape() {
    let (status, _, body) = get_path("/api/v1/number/x").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(body["detail"]["code"], "bad_request");
    let request = Request::post("/api/v1/json").body(Body::from("{}")).unwrap();
    let (status, _, body) = ask(request).await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(body["detail"]["code"], "bad_request");
}

#[tokio::test]
async fn an_error_that_a_handler_shaped_itself_is_left_alone() {
    let (status, _, body) = get_path("/api/v1/xml-error").await;
    assert_eq!((status, body), (StatusCode::BAD_REQUEST, json!("<error/>")));
}

#[tokio::test]
async fn a_retry_header_survives_the_naming() {
    let (status, headers, body) = get_path("/api/v1/busy").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(headers[header::RETRY_AFTER], "3");
    assert_eq!(headers.get_all(header::CONTENT_TYPE).iter().count(), 1);
    assert!(body["detail"]["request_id"].is_string());
}

#[tokio::test]
async fn k5_no_cache_keeps_an_answer_and_no_browser_guesses_its_type() {
    for (path, cache) in [
        ("/api/v1/ecf/abc", "no-store"),
        ("/api/v1/nothing", "no-store"),
        ("/api/v1/conflict", "no-store"),
        ("/api/v1/busy", "no-store"),
        ("/api/v1/panic", "no-store"),
        ("/api/v1/number/x", "no-store"),
        ("/api/v1/xml-error", "no-store"),
        // The handler sets its own header.
        ("/api/v1/file", "private, no-cache"),
    ] {
        let (_, headers, _) = get_path(path).await;
        let all: Vec<_> = headers.get_all(header::CACHE_CONTROL).iter().collect();
        assert_eq!(all, [cache], "{path}");
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff", "{path}");
    }
}

#[tokio::test]
async fn a_file_the_caller_has_is_not_sent_again() {
    let (status, headers, body) = get_path("/api/v1/file").await;
    assert_eq!((status, body), (StatusCode::OK, json!("abc")));
    let tag = headers[header::ETAG].to_str().unwrap().to_owned();
    for known in [
        tag.clone(),
        format!("\"other\", {tag}"),
        format!("W/{tag}"),
        "*".to_owned(),
    ] {
        let request = Request::get("/api/v1/file")
            .header(header::IF_NONE_MATCH, &known)
            .body(Body::empty())
            .unwrap();
        let (status, headers, body) = ask(request).await;
        assert_eq!((status, body), (StatusCode::NOT_MODIFIED, json!("")), "{known}");
        assert_eq!(headers[header::ETAG], tag.as_str());
    }
    let request = Request::get("/api/v1/file")
        .header(header::IF_NONE_MATCH, "\"other\"")
        .body(Body::empty())
        .unwrap();
    assert_eq!(ask(request).await.0, StatusCode::OK);
}

/// Sends a request to a route of the contract whose answer shows whether its handler ran.
async fn issue(target: &str, method: Method, body: &str) -> (StatusCode, Value) {
    let routes = Router::new()
        .route("/api/v1/ecf", post(async || "issued").get(async || "listed"))
        .route("/api/v1/ecf/{public_id}/cancel", post(async || "cancelled"))
        .route("/api/v1/unlisted", get(async || "unlisted"))
        .route("/fe/recepcion/api/ecf", post(async || "received"));
    let request = Request::builder().method(method).uri(target);
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = finish(routes).oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into());
    (status, body)
}

#[tokio::test]
async fn a1_a_misspelt_rehearsal_does_not_issue() {
    for (name, meant) in [
        ("validateOnly", true),
        ("validate-only", true),
        ("Validate_Only", true),
        ("validate_only[]", true),
        ("validate_only%20", true),
        ("validate", true),
        ("dry_run", false),
        ("", false),
    ] {
        for path in ["/api/v1/ecf", "/api/v1/eCF"] {
            let (status, body) = issue(&format!("{path}?{name}=true"), Method::POST, "{}").await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{name}");
            let error = &body["detail"][0];
            assert_eq!(error["type"], "extra_forbidden", "{body}");
            assert_eq!(error["loc"][0], "query", "{body}");
            assert_eq!(error["input"], "true", "{body}");
            assert_eq!(
                error["ctx"]["expected"], "mode, on_conditional, validate_only, amounts, on_replay, wait",
                "{body}"
            );
            let message = error["msg"].as_str().unwrap();
            assert_eq!(message.ends_with("; did you mean validate_only?"), meant, "{message}");
        }
    }
    // The handler validates the values, and the router rejects a method that the path does not have.
    for (target, method, status) in [
        ("/api/v1/ecf?validate_only=true", Method::POST, StatusCode::OK),
        ("/api/v1/ecf?status=accepted&limit=1", Method::GET, StatusCode::OK),
        ("/api/v1/ecf?status=accepted", Method::HEAD, StatusCode::OK),
        (
            "/api/v1/ecf?statuss=accepted",
            Method::HEAD,
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        ("/api/v1/ecf?mode=online", Method::GET, StatusCode::UNPROCESSABLE_ENTITY),
        ("/api/v1/ecf?x=1", Method::DELETE, StatusCode::METHOD_NOT_ALLOWED),
        ("/api/v1/nothing?x=1", Method::GET, StatusCode::NOT_FOUND),
        ("/api/v1/unlisted?x=1", Method::GET, StatusCode::UNPROCESSABLE_ENTITY),
        ("/fe/recepcion/api/ecf?x=1", Method::POST, StatusCode::OK),
    ] {
        assert_eq!(issue(target, method.clone(), "{}").await.0, status, "{method} {target}");
    }
}

#[tokio::test]
async fn a1_a_body_is_refused_where_none_is_declared() {
    let cancel = "/api/v1/ecf/abc/cancel";
    for body in ["", "{}", " {}\n", "[]", "null"] {
        assert_eq!(
            issue(cancel, Method::POST, body).await,
            (StatusCode::OK, json!("cancelled")),
            "{body}"
        );
    }
    for body in [r#"{"dry_run": true}"#, "[1]", "x"] {
        let (status, answer) = issue(cancel, Method::POST, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert_eq!(answer["detail"][0]["loc"], json!(["body"]), "{answer}");
        assert_eq!(answer["detail"][0]["type"], "extra_forbidden", "{answer}");
    }
    let filters = r#"{"status": "accepted"}"#;
    assert_eq!(
        issue("/api/v1/ecf", Method::GET, filters).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let large = " ".repeat(BODY_LIMIT_BYTES + 1);
    assert_eq!(
        issue(cancel, Method::POST, &large).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
}
