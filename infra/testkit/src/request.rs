//! Calls a router, like the gateway.

use axum::{Router, body::Body};
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::check_answer;
use crate::codes::check_codes;

/// A router's response.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as received.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| {
            panic!(
                "the body of a {} is no JSON: {error}: {:?}",
                self.status,
                String::from_utf8_lossy(&self.bytes)
            )
        })
    }

    /// A header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a header of ours is ASCII"))
    }

    /// Asserts the status and returns the body; a failure shows the body.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.bytes));
        self.json()
    }
}

/// Calls a router with an API key and a JSON body, if any.
pub async fn request(router: &Router, method: Method, path: &str, key: Option<&str>, json: Option<&Value>) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(key) = key {
        request = request.header("X-API-Key", key);
    }
    let body = match json {
        Some(json) => {
            request = request.header(header::CONTENT_TYPE, "application/json");
            Body::from(json.to_string())
        }
        None => Body::empty(),
    };
    send(router, request.body(body).expect("the test gave a valid path and key")).await
}

/// Calls a router with any request, and validates the response against the contract.
pub async fn send(router: &Router, request: Request<Body>) -> Answer {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let Ok(response) = router.clone().oneshot(request).await;
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("the body ends").to_bytes().to_vec();
    check_answer(&method, &path, parts.status, &parts.headers, &bytes).unwrap_or_else(|problem| panic!("{problem}"));
    check_codes(parts.status, &bytes).unwrap_or_else(|problem| panic!("{method} {path}: {problem}"));
    Answer {
        status: parts.status,
        headers: parts.headers,
        bytes,
    }
}
