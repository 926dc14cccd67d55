//! Shared by SQS and Secrets Manager: the operation's name in `X-Amz-Target`, a JSON body in request and response.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use s3s::Body;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Upper bound of a request body: twice the size of a batch of messages, escaped.
pub(crate) const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// An error as the services write it.
#[derive(Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub(crate) struct AwsError {
    /// The shape name, which the SDK maps to an error variant.
    pub(crate) code: &'static str,
    /// The error code of the older query protocol. SQS sends it beside the shape name, and the SDK prefers it.
    pub(crate) query_code: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) status: StatusCode,
}

impl AwsError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> AwsError {
        AwsError {
            code,
            query_code: None,
            message: message.into(),
            status: StatusCode::BAD_REQUEST,
        }
    }

    pub(crate) fn with_query_code(mut self, query_code: &'static str) -> AwsError {
        self.query_code = Some(query_code);
        self
    }

    pub(crate) fn internal(cause: &(dyn std::error::Error + 'static)) -> AwsError {
        tracing::error!(error = cause, "an embedded service failed");
        AwsError {
            code: "InternalFailure",
            query_code: None,
            message: cause.to_string(),
            status: StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<rusqlite::Error> for AwsError {
    fn from(error: rusqlite::Error) -> AwsError {
        AwsError::internal(&error)
    }
}

impl From<serde_json::Error> for AwsError {
    fn from(error: serde_json::Error) -> AwsError {
        AwsError::internal(&error)
    }
}

/// Reads a request body.
///
/// # Errors
///
/// `SerializationException`, as on AWS, when the body is not the JSON of this operation.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, AwsError> {
    serde_json::from_slice(body).map_err(|error| AwsError::new("SerializationException", error.to_string()))
}

/// Converts an output to its JSON body.
pub(crate) fn output(value: impl Serialize) -> Result<Value, AwsError> {
    Ok(serde_json::to_value(value)?)
}

/// The response to a request, in the given version of the protocol (`1.0` or `1.1`).
pub(crate) fn respond(version: &'static str, result: Result<Value, AwsError>) -> Response<Body> {
    let (status, body, query_error) = match result {
        Ok(value) => (StatusCode::OK, value, None),
        Err(error) => {
            let fault = if error.status.is_server_error() {
                "Receiver"
            } else {
                "Sender"
            };
            let query_error = error.query_code.map(|code| format!("{code};{fault}"));
            let body = serde_json::json!({"__type": error.code, "message": error.message});
            (error.status, body, query_error)
        }
    };
    let mut response = Response::new(Body::from(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let content_type = match version {
        "1.0" => "application/x-amz-json-1.0",
        _ => "application/x-amz-json-1.1",
    };
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Ok(request_id) = HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()) {
        headers.insert("x-amzn-requestid", request_id);
    }
    if let Some(value) = query_error.and_then(|text| HeaderValue::from_str(&text).ok()) {
        headers.insert("x-amzn-query-error", value);
    }
    response
}
