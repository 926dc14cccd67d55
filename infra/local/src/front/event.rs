//! The event that API Gateway (REST, payload version 1) passes to a function.

use axum::body::Bytes;
use axum::http::header::{HOST, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use crate::routes::Found;

/// The gateway sets this header and overwrites the caller's value.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// A request as an event. The path stays as the caller sent it; query names and values are decoded.
pub(super) fn proxy(stage: &str, found: &Found<'_>, parts: &Parts, body: &Bytes) -> Value {
    let path = parts.uri.path();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let sent = parts.headers.keys().filter(|name| **name != FORWARDED_PROTO);
    let headers = sent.map(|name| (name.to_string(), parts.headers.get_all(name).iter().map(text).collect()));
    let headers = headers.chain([(FORWARDED_PROTO.to_string(), vec!["http".to_owned()])]);
    let mut query: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned() {
        match query.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => query.push((name, vec![value])),
        }
    }
    let (headers, multi_headers) = single_and_multi(headers);
    let (query, multi_query) = single_and_multi(query.into_iter());
    // `*/*` is declared binary in the template, so the gateway encodes every body.
    let body = if body.is_empty() {
        Value::Null
    } else {
        json!(BASE64.encode(body))
    };
    let host = parts.headers.get(HOST).map(text);
    let user_agent = parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
    json!({
        "resource": found.resource,
        "path": path,
        "httpMethod": parts.method.as_str(),
        "headers": headers,
        "multiValueHeaders": multi_headers,
        "queryStringParameters": query,
        "multiValueQueryStringParameters": multi_query,
        "pathParameters": object(found.parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value)))),
        "stageVariables": null,
        "requestContext": {
            "resourceId": "local",
            "resourcePath": found.resource,
            "httpMethod": parts.method.as_str(),
            // Without the stage, as with a custom domain name.
            "path": path,
            "domainName": host,
            "accountId": "000000000000",
            "protocol": "HTTP/1.1",
            "stage": stage,
            "requestId": request_id(),
            "apiId": "local",
            "identity": { "sourceIp": "127.0.0.1", "userAgent": user_agent },
        },
        "isBase64Encoded": !body.is_null(),
        "body": body,
    })
}

/// The gateway passes the last value of each name, and the list of all values; both are null without names.
fn single_and_multi(fields: impl Iterator<Item = (String, Vec<String>)>) -> (Value, Value) {
    let fields: Vec<_> = fields.collect();
    let single = fields.iter().map(|(name, values)| (name.clone(), json!(values.last())));
    let multi = fields.iter().map(|(name, values)| (name.clone(), json!(values)));
    (object(single), object(multi))
}

fn object(fields: impl Iterator<Item = (String, Value)>) -> Value {
    let fields: Map<_, _> = fields.collect();
    if fields.is_empty() {
        Value::Null
    } else {
        Value::Object(fields)
    }
}

fn request_id() -> String {
    let bytes = ecf_runtime::random::<16>();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
