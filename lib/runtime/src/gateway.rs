//! Entry point of HTTP functions: API Gateway REST events (version 1) to a router and back.
//!
//! The request side is `lambda_http`'s: it decodes base64 bodies and multi-valued queries. It puts the stage in front of
//! some paths; routes are matched on the path that the caller sent, so [`answer`] takes the raw path back. And of a header
//! that was sent more than once it keeps the last value only, so [`answer`] puts all of them back.
//!
//! The answer side is ours: `lambda_http` turns each answer whose type looks like text into UTF-8 text, which drops a
//! byte order mark and replaces what is not UTF-8. A stored document must leave as the bytes it is, so everything but
//! JSON and plain text goes out as base64, flagged.

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

/// The largest body of an answer: Lambda returns 6 MB, the rest is for headers.
const MOST_BODY_BYTES: usize = 6 * 1024 * 1024 - 64 * 1024;

/// The largest file that an answer carries: as Base64 it is the largest body.
pub const MOST_FILE_BYTES: usize = MOST_BODY_BYTES / 4 * 3;

/// What stands in place of an answer that Lambda would not return. The gateway would say 502 and nothing else.
const TOO_LARGE: &str = r#"{"detail":{"code":"answer_too_large","message":"the answer is larger than 6 MB: ask for less at a time; a receipt of this request that was issued is answered again under its idempotency_key"}}"#;

/// The gateway's name for a request, put into the request's extensions by [`answer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// The address of the service as the gateway was called, with the stage where the address has one, put into the request's extensions
/// by [`answer`]. Paths of the contract follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicAddress(pub String);

/// The address that a request came from, as the gateway saw it, put into the request's extensions by [`answer`]. No header
/// says it: those are the caller's to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceAddress(pub IpAddr);

/// Serves a router as a Lambda function behind API Gateway, to pages of the origins in `CORS_ORIGINS` too.
pub async fn serve(router: Router) -> Result<(), Error> {
    let router = allow_origins(router, &Env::process())?;
    lambda_runtime::run(service_fn(|event: LambdaEvent<LambdaRequest>| {
        let router = router.clone();
        async move { Ok::<_, Error>(answer(router, event.payload).await) }
    }))
    .await
}

/// Serves a router whose answers may be larger than a function's memory: they leave while they are made. The route has to say so in the
/// template (`ResponseTransferMode`).
pub async fn serve_streaming(router: Router) -> Result<(), Error> {
    let router = allow_origins(router, &Env::process())?;
    lambda_runtime::run(service_fn(|event: LambdaEvent<LambdaRequest>| {
        let router = router.clone();
        async move { Ok::<_, Error>(stream(router, event.payload).await) }
    }))
    .await
}

/// Answers one gateway event with the head of an answer and its body as it comes. The local gateway calls it too.
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

/// Answers one gateway event with a router. The local gateway calls it too.
pub async fn answer(router: Router, event: LambdaRequest) -> ApiGatewayProxyResponse {
    let (mut parts, body) = routed(router, event).await.into_parts();
    // The bytes of our own answers cannot fail to arrive; a body that streams from elsewhere can.
    let (status, body) = match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => match event_body(&parts.headers, bytes.to_vec()) {
            body if fits(&body) => (parts.status, body),
            _ => {
                tracing::error!(size_bytes = bytes.len(), "answer is larger than a function may return");
                parts.headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
                (StatusCode::INTERNAL_SERVER_ERROR, EventBody::Text(TOO_LARGE.to_owned()))
            }
        },
        Err(error) => {
            tracing::error!(%error, "answer broke off");
            (StatusCode::INTERNAL_SERVER_ERROR, EventBody::Empty)
        }
    };
    let mut answer = ApiGatewayProxyResponse::default();
    answer.status_code = i64::from(status.as_u16());
    answer.is_base64_encoded = matches!(body, EventBody::Binary(_));
    // Single headers are left empty: the gateway merges both maps, which would send each header twice.
    answer.multi_value_headers = parts.headers;
    answer.body = match body {
        EventBody::Empty => None,
        body => Some(body),
    };
    answer
}

/// Whether Lambda takes the answer, which travels as JSON: quotes and line breaks of a text count twice, and Base64 has four
/// characters for three bytes.
fn fits(body: &EventBody) -> bool {
    match body {
        EventBody::Empty => true,
        EventBody::Text(text) if text.len() <= MOST_BODY_BYTES / 6 => true,
        EventBody::Text(text) => serde_json::to_vec(text).is_ok_and(|json| json.len() <= MOST_BODY_BYTES),
        EventBody::Binary(bytes) => bytes.len().div_ceil(3) * 4 <= MOST_BODY_BYTES,
        _ => true,
    }
}

/// What the router answers to an event's request.
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

/// The part of the called address that comes before the contract's path. The gateway says it: its own path has the stage in front
/// unless the deployment has a host of its own.
fn public_address(context: &ApiGatewayProxyRequestContext, path: &str, headers: &HeaderMap) -> Option<PublicAddress> {
    let host = context.domain_name.as_deref()?;
    let prefix = context.path.as_deref()?.strip_suffix(path)?;
    // The gateway speaks HTTPS alone; the local one does not.
    let scheme = match headers.get("x-forwarded-proto").map(HeaderValue::as_bytes) {
        Some(b"http") => "http",
        _ => "https",
    };
    Some(PublicAddress(format!("{scheme}://{host}{prefix}")))
}

/// The address with the path that the caller sent. One that is no path at all stays as it came, and fits no route.
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
