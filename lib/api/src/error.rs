//! The one type that knows status codes.
//!
//! An [`ApiError`] holds what the caller may read and, apart, the cause that only the log may see. The body is always
//! `{"detail": …}`: an array of [`FieldError`] for 422, `{code, message, request_id}` for the rest. The request id is
//! filled in, and the cause logged, by the outermost layer (`layers::edge`), so each failure is logged once.

use std::{borrow::Cow, error::Error as StdError, sync::Arc, time::Duration};

use axum::response::{IntoResponse, Response};
use ecf::Grade;
use ecf_certificates::TrustError;
use ecf_store::StoreError;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

mod body;
pub(crate) mod field;
pub(crate) mod secret;

pub use body::{CodedDetail, CodedError, ValidationError};
pub use field::FieldError;

type Cause = Box<dyn StdError + Send + Sync>;

/// How long a caller waits when we cannot tell better.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// As the drafts of the IETF spelled them, and as most services do.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

const INTERNAL: &str = "something went wrong on our side; tell us the request id if it persists";
const UNAVAILABLE: &str = "the service cannot take this request now; send it again later";

/// A request that fails: its status, what the caller reads, and the cause for the log.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    detail: Detail,
    retry_after: Option<Duration>,
    /// The requests within a window, of a rate limit that is used up.
    rate_limit: Option<u32>,
    cause: Option<Cause>,
}

#[derive(Debug, Clone)]
enum Detail {
    Fields(Vec<FieldError>),
    Coded {
        code: Cow<'static, str>,
        message: Cow<'static, str>,
    },
}

impl ApiError {
    /// 422: the bad fields, and a count of those beyond the first hundred.
    pub fn validation(fields: Vec<FieldError>) -> Self {
        Self::listed(FieldError::listed(fields, |field| field))
    }

    /// 422 with a list that was made by [`FieldError::listed`].
    pub(crate) fn listed(fields: Vec<FieldError>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Detail::Fields(fields))
    }

    /// 422: what is wrong with the document in the member `payload`. A notice among the findings stops nothing by itself,
    /// and says so.
    pub fn violations<'v>(violations: impl IntoIterator<Item = &'v ecf::Violation>) -> Self {
        Self::listed(FieldError::listed(violations, |violation| {
            let error = FieldError::of_violation(&["body", "payload"], violation);
            match violation.grade {
                Grade::Notice => error.with_ctx("grade", "notice"),
                Grade::Conditional | Grade::Rejected => error,
            }
        }))
    }

    /// 400: bytes that are no request at all.
    pub fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(StatusCode::BAD_REQUEST, code, message)
    }

    /// 401: a key that does not open anything.
    pub fn unauthorized(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(StatusCode::UNAUTHORIZED, code, message)
    }

    /// 401: one answer for a key that is unknown, expired or revoked.
    pub fn invalid_api_key() -> Self {
        Self::unauthorized("invalid_api_key", "the API key is unknown, expired or revoked")
    }

    /// 403: a good key that may not do this.
    pub fn forbidden(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(StatusCode::FORBIDDEN, code, message)
    }

    /// 404: unknown, or somebody else's; the two look alike.
    pub fn not_found() -> Self {
        Self::not_found_because("there is nothing at this address, or nothing that this key may see")
    }

    /// 404 where no tenant's secret is in saying what there is none of.
    pub fn not_found_because(message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// 404 of something that the caller may make, with its own code.
    pub fn missing(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(StatusCode::NOT_FOUND, code, message)
    }

    /// 405: a known address, asked in another way.
    pub fn method_not_allowed() -> Self {
        Self::coded(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "this address does not take this method; the header Allow lists those it takes",
        )
    }

    /// 409: right in itself, but at odds with what is kept.
    pub fn conflict(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(StatusCode::CONFLICT, code, message)
    }

    /// 413: a body beyond the limit.
    pub fn payload_too_large(limit_bytes: usize) -> Self {
        Self::coded(
            StatusCode::PAYLOAD_TOO_LARGE,
            "payload_too_large",
            format!("the body is larger than {limit_bytes} bytes"),
        )
    }

    /// 415: a body of another type than the address takes.
    pub fn unsupported_media_type(expected: &str) -> Self {
        Self::coded(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            format!("the body must have the content type {expected}"),
        )
    }

    /// 415: a body in an encoding that is not read.
    pub fn unsupported_content_encoding(given: &str, expected: &str) -> Self {
        Self::coded(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_content_encoding",
            format!("the body is encoded as {given:?}: send it as {expected}, or without Content-Encoding"),
        )
    }

    /// 429: too many requests for now.
    pub fn too_many_requests(retry_after: Duration) -> Self {
        let message = "too many requests; send this one again later";
        Self::coded(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message).retry_after(retry_after)
    }

    /// 429: the API key has sent as many requests as it may within a window.
    pub(crate) fn key_rate_exceeded(limit: u32, window_seconds: i64, retry_after: Duration) -> Self {
        let message = format!(
            "this API key sent more than {limit} requests within {window_seconds} seconds: send this one again after \
             Retry-After; POST /api/v1/ecf/batch takes 25 receipts in one request, and the operator can raise a key's limit"
        );
        let mut error = Self::coded(StatusCode::TOO_MANY_REQUESTS, "key_rate_exceeded", message);
        error.rate_limit = Some(limit);
        error.retry_after(retry_after)
    }

    /// 503: not now. Nothing was kept, or what was kept is found again by the same request.
    pub fn unavailable(retry_after: Duration) -> Self {
        Self::coded(StatusCode::SERVICE_UNAVAILABLE, "unavailable", UNAVAILABLE).retry_after(retry_after)
    }

    /// 503, when the caller can be told why.
    pub fn unavailable_because(
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
        retry_after: Duration,
    ) -> Self {
        Self::coded(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(retry_after)
    }

    /// 500: our own fault. The caller reads one neutral sentence, the log the cause.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::coded(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", INTERNAL).caused_by(cause)
    }

    /// Adds the cause that the log shall show.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The status it answers with.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The same in a code and a sentence, for a record that somebody reads later.
    pub fn summary(&self) -> (String, String) {
        match &self.detail {
            Detail::Coded { code, message } => (code.to_string(), message.to_string()),
            Detail::Fields(fields) => field::summary(fields),
        }
    }

    /// Any other status that a layer or a library came to, with its standard words.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::not_found(),
            StatusCode::METHOD_NOT_ALLOWED => Self::method_not_allowed(),
            status if status.is_server_error() => Self::coded(status, "internal_error", INTERNAL),
            status => Self::coded(
                status,
                "bad_request",
                status.canonical_reason().unwrap_or("the request is not understood"),
            ),
        }
    }

    pub(crate) fn coded(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let detail = Detail::Coded {
            code: code.into(),
            message: message.into(),
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

    /// Status and body, for an answer that carries several results. The cause is logged here: no layer sees it.
    pub fn to_item(&self) -> (StatusCode, serde_json::Value) {
        if let Some(cause) = self.cause.as_deref() {
            let cause: &(dyn StdError + 'static) = cause;
            tracing::warn!(status = self.status.as_u16(), cause = %ecf_runtime::telemetry::chain(cause), "one of several failed");
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
                    message: message.to_string(),
                    request_id: request_id.map(str::to_owned),
                },
            }),
        }
    }

    /// The whole answer, naming the request when its id is known.
    fn render(&self, request_id: Option<&str>) -> Response {
        let mut response = (self.status, axum::Json(self.body(request_id))).into_response();
        if let Some(after) = self.retry_after {
            // Whole seconds, and never 0: that would invite a storm.
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

/// What a [`ValidationError`] or a [`CodedError`] is written as.
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

    /// The answer again, now naming the request.
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
