//! JSON bodies.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use ecf::{JsonError, Node};
use ecf_language::{Say as _, say};
use http::{HeaderMap, StatusCode, header::CONTENT_TYPE};

use crate::{ApiError, FieldError, Fields, FromFields, layers::BODY_LIMIT_BYTES};

/// A JSON body, read and validated into a request type.
#[derive(Debug, Clone)]
pub struct ValidJson<T>(pub T);

impl<T, S> FromRequest<S> for ValidJson<T>
where
    T: FromFields,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let is_json = is_json(request.headers());
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|rejection| match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => ApiError::payload_too_large(BODY_LIMIT_BYTES),
                _ => ApiError::bad_request(
                    "incomplete_body",
                    say!("the body did not arrive whole", "el cuerpo no llegó completo"),
                ),
            })?;
        // The content type of an empty body does not matter.
        if Node::without_mark(&body).is_empty() {
            return Err(ApiError::validation(vec![FieldError::missing(["body"])]));
        }
        if !is_json {
            return Err(ApiError::unsupported_media_type("application/json"));
        }
        read_body(Node::parse(&body).map_err(unreadable)?).map(Self)
    }
}

/// Reads a request type from a JSON value: a body, or an element of a body that carries several requests.
///
/// # Errors
/// 422 with every error of the request.
pub fn read_body<T: FromFields>(body: Node) -> Result<T, ApiError> {
    match body {
        Node::Object(members) => Fields::read_all("body", members),
        other => {
            let msg = say!(
                "Input should be a valid dictionary or object to extract fields from",
                "se espera un objeto JSON con los campos"
            );
            let error = FieldError::new(["body"], "model_attributes_type", msg).with_input(&other);
            Err(ApiError::validation(vec![error]))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(content_type)) = headers.get(CONTENT_TYPE).map(|value| value.to_str()) else {
        return false;
    };
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn unreadable(error: JsonError) -> ApiError {
    let (offset, reason) = match &error {
        JsonError::Utf8 { .. } | JsonError::Utf16 => return ApiError::bad_request("invalid_utf8", error.say()),
        JsonError::Syntax { offset, reason, .. } => (*offset, reason.clone()),
        JsonError::DuplicateKey { offset, .. } | JsonError::TooDeep { offset } => (*offset, error.to_string()),
    };
    let mut field =
        FieldError::new(["body".to_owned(), offset.to_string()], "json_invalid", error.say()).with_ctx("error", reason);
    if let JsonError::Syntax { line, column, .. } | JsonError::DuplicateKey { line, column, .. } = &error {
        field = field.with_ctx("line", *line).with_ctx("column", *column);
    }
    ApiError::validation(vec![field])
}

#[cfg(test)]
mod tests;
