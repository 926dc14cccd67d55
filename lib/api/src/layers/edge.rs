//! The outermost layer: assigns the request id, gives every error the same format, forbids caching, and logs each
//! failure once.

use std::any::Any;

use axum::{
    body::Body,
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use ecf_runtime::RequestId;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tracing::Instrument;

use super::rewrite::rewritten;
use crate::{ApiError, error::Refusal, language::speak};

const REQUEST_ID_HEADER: &str = "x-request-id";

pub(super) async fn edge(mut request: Request, next: Next) -> Response {
    if let Some(uri) = rewritten(request.uri()) {
        *request.uri_mut() = uri;
    }
    let id = match request.extensions().get::<RequestId>() {
        Some(RequestId(id)) => id.clone(),
        None => hex::encode(ecf_runtime::random::<16>()),
    };
    request.extensions_mut().insert(RequestId(id.clone()));
    let span = tracing::info_span!(
        "request",
        request.id = id,
        method = %request.method(),
        path = request.uri().path(),
        company.id = tracing::field::Empty,
        company.rnc = tracing::field::Empty,
        environment = tracing::field::Empty,
    );
    let headers = request.headers().clone();
    speak(&headers, answer(request, next, id)).instrument(span).await
}

async fn answer(request: Request, next: Next, id: String) -> Response {
    let is_head = *request.method() == Method::HEAD;
    let is_read = is_head || *request.method() == Method::GET;
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = refused_in_one_shape(next.run(request).await);
    let mut response = named(response, &id);
    if is_read && known.is_some_and(|known| response.status() == StatusCode::OK && matches(&known, response.headers()))
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    if is_head {
        // Rendering the error again has added a body.
        *response.body_mut() = Body::empty();
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID_HEADER, id);
    }
    protect(response.headers_mut());
    response
}

/// Answers carry keys, secrets and fiscal data: no cache may store one unless its handler allows it, and no browser may
/// guess its type.
fn protect(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

/// The response to a panic. The panic hook has printed the place; the cause links it to the request.
pub(super) fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::internal("the handler panicked").into_response()
}

/// Rejections by axum's extractors are plain text; all other responses have the right format already.
fn refused_in_one_shape(response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<Refusal>().is_some() || !is_plain(response.headers()) {
        return response;
    }
    let mut shaped = ApiError::of_status(status).into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        shaped.headers_mut().insert(header::ALLOW, allow.clone());
    }
    shaped
}

fn is_plain(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_none_or(|value| value.as_bytes().starts_with(b"text/plain"))
}

/// Logs the response and puts the request id into the body of an error.
fn named(response: Response, id: &str) -> Response {
    let status = response.status();
    let Some(refusal) = response.extensions().get::<Refusal>() else {
        tracing::info!(status = status.as_u16(), "request answered");
        return response;
    };
    let cause = refusal.cause();
    match (status, cause) {
        (StatusCode::SERVICE_UNAVAILABLE, cause) => {
            tracing::warn!(status = status.as_u16(), cause, "request answered with 503");
        }
        (status, cause) if status.is_server_error() => {
            tracing::error!(status = status.as_u16(), cause, "request failed");
        }
        (_, cause) => tracing::info!(status = status.as_u16(), cause, "request refused"),
    }
    let mut renamed = refusal.naming(id);
    for (name, value) in response.headers() {
        if !renamed.headers().contains_key(name) && name != header::CONTENT_LENGTH {
            renamed.headers_mut().append(name, value.clone());
        }
    }
    renamed
}

/// Whether the caller's `If-None-Match` contains the entity tag of the response.
fn matches(known: &HeaderValue, headers: &HeaderMap) -> bool {
    let (Ok(known), Some(Ok(tag))) = (known.to_str(), headers.get(header::ETAG).map(|tag| tag.to_str())) else {
        return false;
    };
    known == "*"
        || known
            .split(',')
            .any(|entry| entry.trim().trim_start_matches("W/") == tag)
}
