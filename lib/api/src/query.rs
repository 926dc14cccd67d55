//! Query strings.

use axum::extract::{FromRequestParts, Query};
use ecf::Node;
use ecf_language::say;
use ecf_store::receipts::{Position, Span};
use http::{Uri, request::Parts};
use jiff::{Timestamp, civil::Date};
use utoipa::IntoParams;

use crate::{ApiError, FieldError, Fields, FromFields};

/// A query string, read and validated into a request type. An unknown name, a repeated name and an empty value are
/// errors; [`Fields::is_cleared`] accepts an empty value.
#[derive(Debug, Clone)]
pub struct ValidQuery<T>(pub T);

impl<T, S> FromRequestParts<S> for ValidQuery<T>
where
    T: FromFields,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let members = pairs(&parts.uri)?
            .into_iter()
            .map(|(name, value)| (name.into(), Node::Text(value.into())));
        Fields::read_all("query", members.collect()).map(Self)
    }
}

/// The decoded names and values of a query, in their order.
pub(crate) fn pairs(uri: &Uri) -> Result<Vec<(String, String)>, ApiError> {
    let Query(pairs) = Query::try_from_uri(uri).map_err(|_| {
        ApiError::bad_request(
            "invalid_query",
            say!(
                "the query string cannot be read",
                "no se puede leer la consulta de la dirección"
            ),
        )
    })?;
    Ok(pairs)
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// Upper bound of the items: 1 to 100, 50 unless given.
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
    /// The number of items to skip.
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

/// Where a list of receipts goes on.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Cursor {
    /// The `next_cursor` of the page before: this page begins behind its last item, and `offset` counts from there. However far a walk
    /// goes, each of its pages costs the same.
    #[param(value_type = Option<String>, pattern = "^[0-9]{13}\\.[0-9a-hjkmnp-tv-z]{8}$", example = "1795833000500.5f75fzh0")]
    pub cursor: Option<Position>,
}

impl FromFields for Cursor {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            cursor: fields.parsed("cursor").optional(),
        })
    }
}

/// Which span of time is asked for, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DateRange {
    /// The first instant at which it was created, or received. Without an offset it is local time, −04:00. A date alone, such as
    /// `2026-11-28`, means the first instant of that day in Santo Domingo.
    #[param(value_type = Option<String>, format = DateTime)]
    pub date_from: Option<Timestamp>,
    /// The last instant. A date alone means the last instant of that day: `date_from=2026-11-28&date_to=2026-11-28` is the
    /// whole day.
    #[param(value_type = Option<String>, format = DateTime)]
    pub date_to: Option<Timestamp>,
}

impl FromFields for DateRange {
    fn read(fields: &mut Fields) -> Option<Self> {
        let date_from = fields.instant("date_from").optional();
        let date_to = fields.end_instant("date_to").optional();
        if let (Some(from), Some(to)) = (date_from, date_to)
            && from > to
        {
            let msg = say!(
                "Input should be at or after date_from: {to} is before {from}",
                "debe ser date_from o posterior: {to} es anterior a {from}"
            );
            let error = FieldError::new(["query", "date_to"], "value_error", msg)
                .with_code("dates_reversed")
                .with_input(&Node::Text(to.to_string().into()))
                .with_ctx("date_from", from.to_string());
            fields.reject_with(error);
        }
        Some(Self { date_from, date_to })
    }
}

/// Which days of issue are asked for, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IssuedRange {
    /// The first `FechaEmision`, such as `2026-11-28`.
    #[param(value_type = Option<String>, format = Date)]
    pub issued_from: Option<Date>,
    /// The last `FechaEmision`.
    #[param(value_type = Option<String>, format = Date)]
    pub issued_to: Option<Date>,
}

impl FromFields for IssuedRange {
    fn read(fields: &mut Fields) -> Option<Self> {
        let issued_from = fields.date("issued_from").optional();
        let issued_to = fields.date("issued_to").optional();
        if let (Some(from), Some(to)) = (issued_from, issued_to)
            && from > to
        {
            let msg = say!(
                "Input should be on or after issued_from: {to} is before {from}",
                "debe ser issued_from o posterior: {to} es anterior a {from}"
            );
            let error = FieldError::new(["query", "issued_to"], "value_error", msg)
                .with_code("dates_reversed")
                .with_input(&Node::Text(to.to_string().into()))
                .with_ctx("issued_from", from.to_string());
            fields.reject_with(error);
        }
        Some(Self { issued_from, issued_to })
    }
}

impl From<DateRange> for Span {
    fn from(range: DateRange) -> Self {
        Self {
            from: range.date_from,
            to: range.date_to,
        }
    }
}

#[cfg(test)]
mod tests;
