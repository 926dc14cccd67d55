//! Entry point of HTTP functions: converts API Gateway REST events (version 1) to requests, and responses back.
//!
//! `lambda_http` converts the request: it decodes base64 bodies and multi-valued queries. [`answer`] corrects two of
//! its decisions. It prefixes some paths with the stage, while routes match the path that the caller sent. And it
//! retains only the last value of a repeated header; [`answer`] restores all values.
//!
//! The response is converted here: `lambda_http` turns every response with a text-like type into UTF-8 text, which
//! drops a byte order mark and replaces bytes that are not UTF-8. A stored document must leave byte for byte, so
//! everything except JSON and plain text is sent as base64.

use std::net::IpAddr;

use axum::{
    Router,
    body::{Body, BodyDataStream},
};
use lambda_http::{
    RequestExt,
    aws_lambda_events::{
        apigw::{ApiGatewayProxyRequestContext, ApiGatewayProxyResponse},
        encodings::Body as EventBody,
    },
    http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header::CONTENT_TYPE},
    request::{LambdaRequest, RequestContext},
};
use lambda_runtime::{LambdaEvent, MetadataPrelude, StreamResponse, service_fn};
use tower::ServiceExt;

use crate::{Error, allow_origins, env::Env};

/// The largest response body: Lambda's limit of 6 MB, minus room for headers.
const MOST_BODY_BYTES: usize = 6 * 1024 * 1024 - 64 * 1024;

/// The largest file that fits into a response; base64 makes it the largest body.
pub const MOST_FILE_BYTES: usize = MOST_BODY_BYTES / 4 * 3;

/// Sent instead of a response above Lambda's limit. Otherwise the gateway would answer 502 without an explanation.
const TOO_LARGE: &str = r#"{"detail":{"code":"answer_too_large","message":"the answer is larger than 6 MB: ask for less at a time; a receipt of this request that was issued is answered again under its idempotency_key"}}"#;

/// The gateway's id of a request. [`answer`] puts it into the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// The base address of the service as the caller used it, including the stage if the address has one. The contract's
/// paths are relative to it. [`answer`] puts it into the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicAddress(pub String);

/// The client address that the gateway saw. [`answer`] puts it into the request's extensions. No header is trusted for
/// it, because callers control headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceAddress(pub IpAddr);

/// Serves a router as a Lambda function behind API Gateway, with CORS for the origins in `CORS_ORIGINS`.
///
/// # Errors
/// Fails when `CORS_ORIGINS` is invalid or the Lambda runtime fails.
pub async fn serve(router: Router) -> Result<(), Error> {
    let router = allow_origins(router, &Env::process())?;
    lambda_runtime::run(service_fn(|event: LambdaEvent<LambdaRequest>| {
        let router = router.clone();
        async move { Ok::<_, Error>(answer(router, event.payload).await) }
    }))
    .await
}

/// Like [`serve`], for responses that may exceed the memory of the function: they are streamed while they are built.
/// The route in the template needs `ResponseTransferMode`.
///
/// # Errors
/// Fails when `CORS_ORIGINS` is invalid or the Lambda runtime fails.
pub async fn serve_streaming(router: Router) -> Result<(), Error> {
    let router = allow_origins(router, &Env::process())?;
    lambda_runtime::run(service_fn(|event: LambdaEvent<LambdaRequest>| {
        let router = router.clone();
        async move { Ok::<_, Error>(stream(router, event.payload).await) }
    }))
    .await
}

/// Answers one gateway event with a streamed response. The local gateway calls it too.
pub async fn stream(router: Router, event: LambdaRequest) -> StreamResponse<BodyDataStream> {
    let (parts, body) = routed(router, event).await.into_parts();
    StreamResponse {
        metadata_prelude: MetadataPrelude {
            status_code: parts.status,
            headers: parts.headers,
            cookies: Vec::new(),
        },
        stream: body.into_data_stream(),
    }
}

/// Answers one gateway event. The local gateway calls it too.
pub async fn answer(router: Router, event: LambdaRequest) -> ApiGatewayProxyResponse {
    let (mut parts, body) = routed(router, event).await.into_parts();
    // A body in memory cannot fail here; a streamed body can.
    let (status, body) = match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => match event_body(&parts.headers, bytes.to_vec()) {
            body if fits(&body) => (parts.status, body),
            _ => {
                tracing::error!(
                    size_bytes = bytes.len(),
                    "response exceeds the size limit of a function"
                );
                parts.headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
                (StatusCode::INTERNAL_SERVER_ERROR, EventBody::Text(TOO_LARGE.to_owned()))
            }
        },
        Err(error) => {
            tracing::error!(%error, "response ended early");
            (StatusCode::INTERNAL_SERVER_ERROR, EventBody::Empty)
        }
    };
    let mut answer = ApiGatewayProxyResponse::default();
    answer.status_code = i64::from(status.as_u16());
    answer.is_base64_encoded = matches!(body, EventBody::Binary(_));
    // The single-value headers are left empty: the gateway merges both maps and would send each header twice.
    answer.multi_value_headers = parts.headers;
    answer.body = match body {
        EventBody::Empty => None,
        body => Some(body),
    };
    answer
}

/// Whether the response is within Lambda's limit after encoding. As JSON, a quote or a line break takes two bytes;
/// base64 takes four characters for three bytes.
fn fits(body: &EventBody) -> bool {
    match body {
        EventBody::Empty => true,
        EventBody::Text(text) if text.len() <= MOST_BODY_BYTES / 6 => true,
        EventBody::Text(text) => serde_json::to_vec(text).is_ok_and(|json| json.len() <= MOST_BODY_BYTES),
        EventBody::Binary(bytes) => bytes.len().div_ceil(3) * 4 <= MOST_BODY_BYTES,
        _ => true,
    }
}

/// The router's response to an event.
async fn routed(router: Router, event: LambdaRequest) -> Response<Body> {
    let headers = match &event {
        LambdaRequest::ApiGatewayV1(request) => request.multi_value_headers.clone(),
        _ => HeaderMap::new(),
    };
    let request: lambda_http::Request = event.into();
    let path = request.raw_http_path().to_owned();
    let (id, source, base) = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV1(context)) => (
            context.request_id.clone(),
            context.identity.source_ip.clone(),
            public_address(context, &path, request.headers()),
        ),
        _ => (None, None, None),
    };
    let mut request: Request<Body> = request.map(Body::new);
    *request.uri_mut() = with_path(request.uri(), &path);
    request.headers_mut().extend(headers);
    if let Some(id) = id {
        request.extensions_mut().insert(RequestId(id));
    }
    if let Some(base) = base {
        request.extensions_mut().insert(base);
    }
    if let Some(address) = source.and_then(|address| address.parse().ok()) {
        request.extensions_mut().insert(SourceAddress(address));
    }
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The called address up to the contract's path. The path in the gateway's context begins with the stage, unless the
/// deployment has its own host name.
fn public_address(context: &ApiGatewayProxyRequestContext, path: &str, headers: &HeaderMap) -> Option<PublicAddress> {
    let host = context.domain_name.as_deref()?;
    let prefix = context.path.as_deref()?.strip_suffix(path)?;
    // The deployed gateway speaks HTTPS only; the local one speaks HTTP.
    let scheme = match headers.get("x-forwarded-proto").map(HeaderValue::as_bytes) {
        Some(b"http") => "http",
        _ => "https",
    };
    Some(PublicAddress(format!("{scheme}://{host}{prefix}")))
}

/// The address with the path that the caller sent. A path that does not parse leaves the address unchanged, and it
/// matches no route.
fn with_path(uri: &Uri, path: &str) -> Uri {
    let mut parts = uri.clone().into_parts();
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let Ok(path_and_query) = path_and_query.parse() else {
        return uri.clone();
    };
    parts.path_and_query = Some(path_and_query);
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

fn event_body(headers: &HeaderMap, bytes: Vec<u8>) -> EventBody {
    if bytes.is_empty() {
        return EventBody::Empty;
    }
    if !headers.get(CONTENT_TYPE).is_some_and(is_text) {
        return EventBody::Binary(bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) => EventBody::Text(text),
        Err(error) => EventBody::Binary(error.into_bytes()),
    }
}

fn is_text(content_type: &HeaderValue) -> bool {
    let Ok(content_type) = content_type.to_str() else {
        return false;
    };
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    matches!(essence, "application/json" | "text/plain" | "text/html")
}

#[cfg(test)]
mod tests;
