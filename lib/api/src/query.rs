//! Query strings.

use axum::extract::{FromRequestParts, Query};
use ecf::Node;
use http::request::Parts;
use utoipa::IntoParams;

use crate::{ApiError, Fields, FromFields};

/// A query that was read into a request type. Unknown names are ignored, the last of a repeated name counts, and an
/// empty value is an absent one.
#[derive(Debug, Clone)]
pub struct ValidQuery<T>(pub T);

impl<T, S> FromRequestParts<S> for ValidQuery<T>
where
    T: FromFields,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let Query(mut pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| ApiError::bad_request("invalid_query", "the query string cannot be read"))?;
        // Fields are looked up from the front.
        pairs.reverse();
        let members = pairs.into_iter().map(|(name, value)| {
            let node = if value.is_empty() {
                Node::Null
            } else {
                Node::Text(value.into())
            };
            (name.into(), node)
        });
        Fields::read_all("query", members.collect()).map(Self)
    }
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// At most so many items: 1 to 100, 50 unless given.
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
    /// So many items are skipped.
    #[param(required = false, default = 0)]
    pub offset: u64,
}

impl Page {
    /// The largest `limit`.
    pub const LARGEST: u32 = 100;
    /// The `limit` of a request that names none.
    pub const DEFAULT: u32 = 50;
}

impl FromFields for Page {
    fn read(fields: &mut Fields) -> Option<Self> {
        let limit = fields
            .integer("limit")
            .range(1..=i64::from(Self::LARGEST))
            .or(i64::from(Self::DEFAULT));
        let offset = fields.integer("offset").range(0..=i64::MAX).or(0);
        Some(Self {
            limit: u32::try_from(limit).ok()?,
            offset: u64::try_from(offset).ok()?,
        })
    }
}

#[cfg(test)]
mod tests;
