//! Why a request gets an error response.

use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};

use crate::state::StateError;

/// A rejection in one of the authority's formats, or an internal error of the simulator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// 401: the token is missing or invalid.
    #[error("the token is missing, expired or of another environment")]
    Unauthorized,
    /// 400 with a JSON string.
    #[error("{0}")]
    Refused(String),
    /// 500.
    #[error(transparent)]
    State(#[from] StateError),
    /// 500.
    #[error("a judgement was cut short")]
    Task(#[from] tokio::task::JoinError),
}

impl Failure {
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response(),
            // The authority sends its errors as JSON strings, with a content type of plain text or JSON. Clients must
            // accept both.
            Self::Refused(text) => (
                StatusCode::BAD_REQUEST,
                [(header::CONTENT_TYPE, "application/json; charset=utf-8")],
                serde_json::Value::String(text).to_string(),
            )
                .into_response(),
            Self::State(_) | Self::Task(_) => {
                tracing::error!(error = ?self, "the simulator failed");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}
