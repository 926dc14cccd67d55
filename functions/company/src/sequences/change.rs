//! `PATCH /api/v1/client/sequences/{public_id}`.

use axum::Json;
use axum::extract::State;
use ecf::{Encf, Fecha, Node};
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, PathId, ValidJson, ValidationError};
use ecf_language::say;
use ecf_store::numbers::{RangeChanged, RangeChanges, RangeId};
use jiff::civil::Date;
use utoipa::ToSchema;

use super::{SequenceView, last_day, overlaps, refused};
use crate::App;

/// What may change about a range; what is left out stays.
#[derive(Debug, ToSchema)]
pub(crate) struct ChangeSequence {
    /// `false`: no number of it can be used until it is activated again.
    is_active: Option<bool>,
    /// The last day, when the authority moved it.
    #[schema(value_type = Option<String>, format = Date, example = "2027-12-31")]
    valid_until: Option<Date>,
    /// A later last number.
    #[schema(minimum = 1, maximum = 9_999_999_999_u64)]
    range_end: Option<u64>,
}

impl FromFields for ChangeSequence {
    fn read(fields: &mut Fields) -> Option<Self> {
        let highest = i64::try_from(Encf::MAX_SEQUENCE).unwrap_or(i64::MAX);
        let is_active = fields.boolean("is_active").optional();
        let valid_until = fields.date("valid_until").optional();
        let range_end = fields.integer("range_end").range(1..=highest).optional();
        Some(Self {
            is_active,
            valid_until,
            range_end: range_end.and_then(|end| u64::try_from(end).ok()),
        })
    }
}

impl ChangeSequence {
    fn is_empty(&self) -> bool {
        self.is_active.is_none() && self.valid_until.is_none() && self.range_end.is_none()
    }
}

/// Cambiar una secuencia
///
/// Switches a range on or off, moves its last day, or adds numbers at its end.
#[utoipa::path(
    patch,
    path = "/api/v1/client/sequences/{public_id}",
    tag = "Secuencias",
    params(("public_id" = String, Path, description = "The range's id")),
    request_body = ChangeSequence,
    responses(
        (status = 200, description = "The range as it is now", body = SequenceView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "Another range has some of the numbers", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn change_sequence(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<RangeId>,
    ValidJson(request): ValidJson<ChangeSequence>,
) -> Result<Json<SequenceView>, ApiError> {
    let now = app.clock.now();
    let today = Fecha::at(now);
    if request.is_empty() {
        app.table
            .range(&caller.scope, id)
            .await?
            .ok_or_else(ApiError::not_found)?;
        let msg = say!(
            "one of is_active, valid_until, range_end is needed",
            "se necesita uno de is_active, valid_until, range_end"
        );
        return Err(refused("is_active", "nothing_to_change", msg, Node::Null));
    }
    let valid_until = request.valid_until.map(|given| last_day(id.ecf_type, given, today));
    let changes = RangeChanges {
        active: request.is_active,
        end: request.range_end,
        valid_until: valid_until.transpose()?,
    };
    match app.table.change_range(&caller.scope, id, changes, now).await? {
        RangeChanged::Now(range) => Ok(Json(SequenceView::of(&range, caller.environment(), today))),
        RangeChanged::WouldShrink(range) => Err(refused(
            "range_end",
            "range_shrinks",
            say!(
                "the sequence ends with {0} and can only grow: give a number above {0}",
                "la secuencia termina en {0} y solo puede crecer: dé un número mayor que {0}",
                range.end
            ),
            request
                .range_end
                .map_or(Node::Null, |end| Node::Number(end.to_string().into())),
        )),
        RangeChanged::Overlaps(other) => Err(overlaps(&other)),
        RangeChanged::Missing => Err(ApiError::not_found()),
    }
}
