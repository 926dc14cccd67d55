//! The two shapes of an error body.

use serde::Serialize;
use utoipa::ToSchema;

use super::FieldError;

/// The body of a 422.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ValidationError {
    /// The bad fields, in the order in which the fields are declared: at most 100. When there are more, the last entry has
    /// the type `too_many_errors` and says in `ctx` how many are `shown` and how many there are in `total`.
    pub detail: Vec<FieldError>,
}

/// The body of every other error.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CodedError {
    pub detail: CodedDetail,
}

/// What went wrong, for a program and for a person.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CodedDetail {
    /// Stays the same for the same error.
    #[schema(example = "not_found")]
    pub code: String,
    /// A sentence for people, in English, or in Spanish when `Accept-Language` prefers it; may be worded better one day.
    pub message: String,
    /// Names this request in our log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
