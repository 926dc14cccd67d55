//! API errors: the only type that knows status codes.
//!
//! An [`ApiError`] holds what the caller may read and, separately, the cause that only the log shows. The body is
//! always `{"detail": …}`: an array of [`FieldError`] for 422, `{code, message, request_id}` otherwise. The outermost
//! layer (`layers::edge`) fills in the request id and logs the cause, so each failure is logged once.

use std::{borrow::Cow, error::Error as StdError, sync::Arc, time::Duration};

use axum::response::{IntoResponse, Response};
use ecf::Grade;
use ecf_certificates::TrustError;
use ecf_language::{Bilingual, say};
use ecf_store::StoreError;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::language::spoken;

mod body;
pub(crate) mod field;
mod place;
pub(crate) mod secret;

pub use body::{CodedDetail, CodedError, ValidationError};
pub use field::FieldError;

type Cause = Box<dyn StdError + Send + Sync>;

/// The default `Retry-After`.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// The header names of the IETF drafts, which most services use.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

fn internal_error() -> Bilingual {
    say!(
        "something went wrong on our side; tell us the request id if it persists",
        "ocurrió un error de nuestro lado; si persiste, díganos el request id"
    )
}

fn unavailable() -> Bilingual {
    say!(
        "the service cannot take this request now; send it again later",
        "el servicio no puede atender esta petición ahora; envíela de nuevo más tarde"
    )
}

/// A failed request: its status, the text for the caller, and the cause for the log.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    detail: Detail,
    retry_after: Option<Duration>,
    /// The limit of the window, for a 429 that has one.
    rate_limit: Option<u32>,
    cause: Option<Cause>,
}

#[derive(Debug, Clone)]
enum Detail {
    Fields(Vec<FieldError>),
    Coded {
        code: Cow<'static, str>,
        message: Bilingual,
    },
}

impl ApiError {
    /// 422: the invalid fields, at most 100, and a count of the others.
    pub fn validation(fields: Vec<FieldError>) -> Self {
        Self::listed(FieldError::listed(fields, |field| field))
    }

    /// 422 with a list made by [`FieldError::listed`].
    pub(crate) fn listed(fields: Vec<FieldError>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Detail::Fields(fields))
    }

    /// 422: the violations in the document in the member `payload`. A notice among them does not reject the document by
    /// itself; its `ctx` carries the grade.
    pub fn violations<'v>(violations: impl IntoIterator<Item = &'v ecf::Violation>) -> Self {
        Self::listed(FieldError::listed(violations, |violation| {
            let error = FieldError::of_violation(&["body", "payload"], violation);
            match violation.grade {
                Grade::Notice => error.with_ctx("grade", "notice"),
                Grade::Conditional | Grade::Rejected => error,
            }
        }))
    }

    /// 400: bytes that are not a request.
    pub fn bad_request(code: &'static str, message: Bilingual) -> Self {
        Self::coded(StatusCode::BAD_REQUEST, code, message)
    }

    /// 401: an invalid key.
    pub fn unauthorized(code: &'static str, message: Bilingual) -> Self {
        Self::coded(StatusCode::UNAUTHORIZED, code, message)
    }

    /// 401: one answer for a key that is unknown, expired or revoked.
    pub fn invalid_api_key() -> Self {
        Self::unauthorized(
            "invalid_api_key",
            say!(
                "the API key is unknown, expired or revoked",
                "la clave de API no existe, venció o fue revocada"
            ),
        )
    }

    /// 403: a valid key without the permission.
    pub fn forbidden(code: &'static str, message: Bilingual) -> Self {
        Self::coded(StatusCode::FORBIDDEN, code, message)
    }

    /// 404: unknown, or owned by another company; the answers are identical.
    pub fn not_found() -> Self {
        Self::not_found_because(say!(
            "there is nothing at this address, or nothing that this key may see",
            "no hay nada en esta dirección, o nada que esta clave pueda ver"
        ))
    }

    /// 404 with a specific message, where it reveals nothing about other companies.
    pub fn not_found_because(message: Bilingual) -> Self {
        Self::coded(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// 404 with its own code, for a resource that the caller can create.
    pub fn missing(code: &'static str, message: Bilingual) -> Self {
        Self::coded(StatusCode::NOT_FOUND, code, message)
    }

    /// 405: a known path with another method.
    pub fn method_not_allowed() -> Self {
        Self::coded(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            say!(
                "this address does not take this method; the header Allow lists those it takes",
                "esta dirección no admite este método; el encabezado Allow dice cuáles admite"
            ),
        )
    }

    /// 409: a valid request that contradicts the stored state.
    pub fn conflict(code: &'static str, message: Bilingual) -> Self {
        Self::coded(StatusCode::CONFLICT, code, message)
    }

    /// 413: a body above the limit.
    pub fn payload_too_large(limit_bytes: usize) -> Self {
        Self::coded(
            StatusCode::PAYLOAD_TOO_LARGE,
            "payload_too_large",
            say!(
                "the body is larger than {limit_bytes} bytes",
                "el cuerpo tiene más de {limit_bytes} bytes"
            ),
        )
    }

    /// 415: a body with an unsupported content type.
    pub fn unsupported_media_type(expected: &str) -> Self {
        Self::coded(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            say!(
                "the body must have the content type {expected}",
                "el cuerpo debe tener el tipo de contenido {expected}"
            ),
        )
    }

    /// 415: a body with an unsupported content encoding.
    pub fn unsupported_content_encoding(given: &str, expected: &str) -> Self {
        Self::coded(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_content_encoding",
            say!(
                "the body is encoded as {given:?}: send it as {expected}, or without Content-Encoding",
                "el cuerpo está codificado como {given:?}: envíelo como {expected}, o sin Content-Encoding"
            ),
        )
    }

    /// 429: too many requests.
    pub fn too_many_requests(retry_after: Duration) -> Self {
        let message = say!(
            "too many requests; send this one again later",
            "demasiadas peticiones; envíe esta de nuevo más tarde"
        );
        Self::coded(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message).retry_after(retry_after)
    }

    /// 429: the API key has used up its rate limit for the window.
    pub(crate) fn key_rate_exceeded(limit: u32, window_seconds: i64, retry_after: Duration) -> Self {
        let message = say!(
            "this API key sent more than {limit} requests within {window_seconds} seconds: send this one again after \
             Retry-After; POST /api/v1/ecf/batch takes 25 receipts in one request, and the operator can raise a \
             key's limit",
            "esta clave de API envió más de {limit} peticiones en {window_seconds} segundos: envíe esta de nuevo \
             después de Retry-After; POST /api/v1/ecf/batch recibe 25 comprobantes en una petición, y el operador \
             puede subir el límite de una clave"
        );
        let mut error = Self::coded(StatusCode::TOO_MANY_REQUESTS, "key_rate_exceeded", message);
        error.rate_limit = Some(limit);
        error.retry_after(retry_after)
    }

    /// 503: temporarily unavailable. Nothing was stored, or the same request finds what was stored.
    pub fn unavailable(retry_after: Duration) -> Self {
        Self::coded(StatusCode::SERVICE_UNAVAILABLE, "unavailable", unavailable()).retry_after(retry_after)
    }

    /// 503 with its reason.
    pub fn unavailable_because(code: &'static str, message: Bilingual, retry_after: Duration) -> Self {
        Self::coded(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(retry_after)
    }

    /// 500: an internal error. The caller reads one neutral sentence, the log shows the cause.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::coded(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", internal_error()).caused_by(cause)
    }

    /// Adds the cause for the log.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The status code.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The code and one sentence, for a record.
    pub fn summary(&self) -> (String, String) {
        match &self.detail {
            Detail::Coded { code, message } => (code.to_string(), message.en.to_string()),
            Detail::Fields(fields) => field::summary(fields),
        }
    }

    /// An error for any other status that a layer or a library returned, with its standard text.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::not_found(),
            StatusCode::METHOD_NOT_ALLOWED => Self::method_not_allowed(),
            status if status.is_server_error() => Self::coded(status, "internal_error", internal_error()),
            status => Self::coded(
                status,
                "bad_request",
                say!("the request is not understood", "no se entiende la petición"),
            ),
        }
    }

    pub(crate) fn coded(status: StatusCode, code: &'static str, message: Bilingual) -> Self {
        let detail = Detail::Coded {
            code: code.into(),
            message,
        };
        Self::new(status, detail)
    }

    fn new(status: StatusCode, detail: Detail) -> Self {
        Self {
            status,
            detail,
            retry_after: None,
            rate_limit: None,
            cause: None,
        }
    }

    fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    /// Status and body, for a response that carries several results. The cause is logged here, because the outermost
    /// layer does not see it.
    pub fn to_item(&self) -> (StatusCode, serde_json::Value) {
        if let Some(cause) = self.cause.as_deref() {
            let cause: &(dyn StdError + 'static) = cause;
            tracing::warn!(status = self.status.as_u16(), cause = %ecf_runtime::telemetry::chain(cause), "one request of a batch failed");
        }
        let body = serde_json::to_value(self.body(None)).unwrap_or_default();
        (self.status, body)
    }

    fn body(&self, request_id: Option<&str>) -> Body<'_> {
        match &self.detail {
            Detail::Fields(fields) => Body::Fields { detail: fields },
            Detail::Coded { code, message } => Body::Coded(CodedError {
                detail: CodedDetail {
                    code: code.to_string(),
                    message: message.in_language(spoken()).to_owned(),
                    request_id: request_id.map(str::to_owned),
                },
            }),
        }
    }

    /// The response; its body names the request when the id is known.
    fn render(&self, request_id: Option<&str>) -> Response {
        let mut response = (self.status, axum::Json(self.body(request_id))).into_response();
        if let Some(after) = self.retry_after {
            // Whole seconds, at least 1: with 0, clients would retry at once.
            let seconds = (after.as_secs() + u64::from(after.subsec_nanos() > 0)).max(1);
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            if let Some(limit) = self.rate_limit {
                headers.insert(RATE_LIMIT, HeaderValue::from(limit));
                headers.insert(RATE_LIMIT_REMAINING, HeaderValue::from(0));
                headers.insert(RATE_LIMIT_RESET, HeaderValue::from(seconds));
            }
        }
        response
    }
}

/// The serialized form of [`ValidationError`] and [`CodedError`].
#[derive(Serialize)]
#[serde(untagged)]
enum Body<'e> {
    Fields { detail: &'e [FieldError] },
    Coded(CodedError),
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.render(None);
        response.extensions_mut().insert(Refusal(Arc::new(self)));
        response
    }
}

/// The error behind a response, for the outermost layer.
#[derive(Clone)]
pub(crate) struct Refusal(Arc<ApiError>);

impl Refusal {
    /// The cause with all its sources, for the log.
    pub(crate) fn cause(&self) -> Option<String> {
        let cause: &(dyn StdError + 'static) = self.0.cause.as_deref()?;
        Some(ecf_runtime::telemetry::chain(cause).to_string())
    }

    /// The response again, now with the request id.
    pub(crate) fn naming(&self, request_id: &str) -> Response {
        self.0.render(Some(request_id))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        if error.is_retryable() {
            Self::unavailable(DEFAULT_RETRY).caused_by(error)
        } else {
            Self::internal(error)
        }
    }
}

impl From<TrustError> for ApiError {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Secret(error) => error.into(),
            error @ TrustError::Authorities(_) => Self::internal(error),
        }
    }
}

impl From<Vec<FieldError>> for ApiError {
    fn from(fields: Vec<FieldError>) -> Self {
        Self::validation(fields)
    }
}

#[cfg(test)]
mod tests;
