//! The response to the caller: the function's, or the gateway's own.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ecf_stack::GatewayResponse;
use serde_json::{Value, json};

/// Cases in which the gateway itself responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    NoRoute,
    TooLarge,
    TimedOut,
    Failed,
}

impl Own {
    /// The case's name, its fallback in the template, and the gateway's default status and message.
    fn case(self) -> (&'static str, &'static str, StatusCode, &'static str) {
        const CALLER: &str = "DEFAULT_4XX";
        const SERVICE: &str = "DEFAULT_5XX";
        match self {
            Self::NoRoute => (
                "MISSING_AUTHENTICATION_TOKEN",
                CALLER,
                StatusCode::FORBIDDEN,
                "Missing Authentication Token",
            ),
            Self::TooLarge => (
                "REQUEST_TOO_LARGE",
                CALLER,
                StatusCode::PAYLOAD_TOO_LARGE,
                "HTTP content length exceeded 10485760 bytes.",
            ),
            Self::TimedOut => (
                "INTEGRATION_TIMEOUT",
                SERVICE,
                StatusCode::GATEWAY_TIMEOUT,
                "Endpoint request timed out",
            ),
            Self::Failed => (
                "INTEGRATION_FAILURE",
                SERVICE,
                StatusCode::GATEWAY_TIMEOUT,
                "Internal server error",
            ),
        }
    }

    /// The response in the template's format for this case.
    pub(super) fn response(self, shapes: &BTreeMap<String, GatewayResponse>) -> Response {
        let (name, fallback, status, words) = self.case();
        let shape = shapes.get(name).or_else(|| shapes.get(fallback));
        let words = json!(words).to_string();
        let body = match shape {
            Some(shape) => shape.body.replace("$context.error.messageString", &words),
            None => format!("{{\"message\":{words}}}"),
        };
        let mut response = Response::new(Body::from(body));
        let shaped = shape.and_then(|shape| StatusCode::from_u16(shape.status?).ok());
        *response.status_mut() = shaped.unwrap_or(status);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self == Self::TooLarge {
            // The rest of the body is not read, so the connection cannot serve another request.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        for (name, value) in shape.into_iter().flat_map(|shape| &shape.headers) {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// Converts a function's proxy response to HTTP; `None` when it is malformed.
pub(super) fn http_answer(answer: &Value) -> Option<Response> {
    let status = u16::try_from(answer["statusCode"].as_u64()?).ok()?;
    let status = StatusCode::from_u16(status).ok()?;
    let mut headers = HeaderMap::new();
    for field in ["headers", "multiValueHeaders"] {
        for (name, value) in answer[field].as_object().into_iter().flatten() {
            let values = match value {
                Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
                Value::String(value) => vec![value.as_str()],
                _ => Vec::new(),
            };
            for value in values {
                headers.append(HeaderName::try_from(name).ok()?, HeaderValue::from_str(value).ok()?);
            }
        }
    }
    // Transfer headers are set by the gateway.
    for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    let text = answer["body"].as_str().unwrap_or_default();
    let bytes = if answer["isBase64Encoded"].as_bool() == Some(true) {
        BASE64.decode(text).ok()?
    } else {
        text.as_bytes().to_vec()
    };
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Some(response)
}
