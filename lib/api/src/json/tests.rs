use axum::{
    Router,
    body::{Body, to_bytes},
    routing::post,
};
use http::Request as HttpRequest;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::finish;

#[derive(Debug)]
struct GreetRequest {
    name: String,
}

impl FromFields for GreetRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.text("name").length(1..=10).required();
        Some(Self { name: name? })
    }
}

async fn greet(content_type: Option<&str>, body: impl Into<Body>) -> (StatusCode, Value) {
    let router = finish(Router::new().route(
        "/greet",
        post(|ValidJson(greet): ValidJson<GreetRequest>| async { greet.name }),
    ));
    let mut request = HttpRequest::post("/greet");
    if let Some(content_type) = content_type {
        request = request.header(CONTENT_TYPE, content_type);
    }
    let response = router.oneshot(request.body(body.into()).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into());
    (status, body)
}

const JSON: Option<&str> = Some("application/json");

#[tokio::test]
async fn a_good_body_reaches_the_handler() {
    let name = r#"{"name":"Ñandú"}"#;
    for content_type in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/problem+json",
    ] {
        assert_eq!(
            greet(Some(content_type), name).await,
            (StatusCode::OK, json!("Ñandú")),
            "{content_type}"
        );
    }
}

#[tokio::test]
async fn a_bad_field_is_422_with_its_place() {
    let (status, body) = greet(JSON, r#"{"name":""}"#).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        body,
        json!({"detail": [{
            "loc": ["body", "name"],
            "msg": "name: String should have at least 1 character",
            "type": "string_too_short",
            "input": "",
            "ctx": {"code": "string_too_short", "min_length": 1},
        }]})
    );
}

#[tokio::test]
async fn another_content_type_is_415() {
    for content_type in [
        None,
        Some("text/plain"),
        Some("application/xml"),
        Some("multipart/form-data; boundary=x"),
    ] {
        let (status, body) = greet(content_type, r#"{"name":"a"}"#).await;
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type:?}");
        assert_eq!(body["detail"]["code"], "unsupported_media_type");
    }
}

#[tokio::test]
async fn no_body_is_a_missing_body() {
    for content_type in [None, JSON] {
        let (status, body) = greet(content_type, "").await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(body["detail"][0]["loc"], json!(["body"]));
        assert_eq!(body["detail"][0]["type"], "missing");
    }
}

#[tokio::test]
async fn broken_json_is_422_at_its_byte() {
    let (status, body) = greet(JSON, "{\"name\": \"a\",\n}").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let error = &body["detail"][0];
    assert_eq!(error["type"], "json_invalid");
    assert_eq!(error["loc"][0], "body");
    assert_eq!(error["ctx"]["line"], 2);
    let (status, body) = greet(JSON, r#"{"name":"a","name":"b"}"#).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(body["detail"][0]["type"], "json_invalid");
    let (status, body) = greet(JSON, "[1]").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(body["detail"][0]["type"], "model_attributes_type");
}

#[tokio::test]
async fn latin_1_is_400_with_the_byte_offset() {
    let (status, body) = greet(JSON, &b"{\"name\":\"\xcd\"}"[..]).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(body["detail"]["code"], "invalid_utf8");
    assert!(body["detail"]["message"].as_str().unwrap().contains("byte 9"), "{body}");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_413_and_one_at_the_limit_is_read() {
    let body = |size: usize| {
        let frame = r#"{"name":"a"}"#.len();
        format!(r#"{{"name":"a"{}}}"#, " ".repeat(size - frame))
    };
    assert_eq!(greet(JSON, body(BODY_LIMIT_BYTES)).await.0, StatusCode::OK);
    let (status, answer) = greet(JSON, body(BODY_LIMIT_BYTES + 1)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer["detail"]["code"], "payload_too_large");
}

#[tokio::test]
async fn a5_a_byte_order_mark_is_skipped_and_utf_16_named() {
    assert_eq!(
        greet(JSON, "\u{feff}{\"name\":\"Ñandú\"}").await,
        (StatusCode::OK, json!("Ñandú"))
    );
    let (status, body) = greet(JSON, "\u{feff}").await;
    assert_eq!(
        (status, &body["detail"][0]["type"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("missing"))
    );
    let utf16: Vec<u8> = "\u{feff}{\"name\":\"a\"}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let (status, body) = greet(JSON, utf16).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(body["detail"]["code"], "invalid_utf8");
    assert!(body["detail"]["message"].as_str().unwrap().contains("UTF-16"), "{body}");
}
