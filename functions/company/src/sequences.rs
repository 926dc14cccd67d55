//! `/api/v1/client/sequences`: the number ranges of the key's environment.

pub(crate) mod change;
pub(crate) mod list;
pub(crate) mod open;

use ecf::{Environment, Fecha, Node, ReceiptType};
use ecf_api::{ApiError, FieldError};
use ecf_language::{Bilingual, Say, say};
use ecf_store::numbers::{Numbering, Range, RangeState};
use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

/// A range of numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SequenceView {
    #[schema(example = "31-5000000")]
    public_id: String,
    #[schema(example = "31")]
    ecf_type: &'static str,
    #[schema(value_type = String, example = "TesteCF")]
    environment: Environment,
    range_start: u64,
    range_end: u64,
    /// The number that is given next; above `range_end` when all were given. Of a range that the caller numbers: one above the
    /// highest number that is used.
    next_sequence: u64,
    /// How many numbers were given, or used by the caller. Annulled numbers count too, within minutes.
    used: u64,
    /// How many are left, freed ones included.
    available: u64,
    total: u64,
    /// The last day; `null` for types that carry no expiry.
    #[schema(value_type = Option<String>, format = Date, example = "2028-12-31")]
    valid_until: Option<Date>,
    /// Whether it is in use: `state` is `active`.
    is_active: bool,
    #[schema(value_type = String, example = "active", pattern = "^(active|inactive|expired|exhausted)$")]
    state: &'static str,
    /// `service` or `caller`; `null` until the first use decides.
    numbering: Option<&'static str>,
}

impl SequenceView {
    fn of(range: &Range, environment: Environment, today: Fecha) -> Self {
        let state = range.state(today);
        let next = range.free.iter().min().copied().unwrap_or(range.next);
        Self {
            public_id: range.id().to_string(),
            ecf_type: range.ecf_type.as_str(),
            environment,
            range_start: range.start,
            range_end: range.end,
            next_sequence: next,
            used: range.total() - range.available(),
            available: range.available(),
            total: range.total(),
            valid_until: range.valid_until.map(Fecha::date),
            is_active: state == RangeState::Active,
            state: state.as_str(),
            numbering: range.numbering.map(Numbering::as_str),
        }
    }
}

/// Validates a new last day. The authority sets an expiry only for ranges of the types that carry one (reference of the
/// formats, FechaVencimientoSecuencia).
fn last_day(ecf_type: ReceiptType, given: Date, today: Fecha) -> Result<Fecha, ApiError> {
    let refuse = |code, msg| refused("valid_until", code, msg, Node::Text(given.to_string().into()));
    if !ecf_type.carries_expiry() {
        let msg = say!(
            "valid_until is {given}, but type {ecf_type} carries no expiry: leave it out",
            "valid_until es {given}, pero el tipo {ecf_type} no lleva vencimiento: omítalo"
        );
        return Err(refuse("expiry_not_carried", msg));
    }
    let last_day = Fecha::try_from(given).map_err(|error| refuse("date_parsing", error.say()))?;
    if last_day < today {
        let msg = say!(
            "valid_until is {given}, which is past: today is {}; give the last day that the authority granted",
            "valid_until es {given}, que ya pasó: hoy es {}; dé el último día que autorizó la DGII",
            today.date()
        );
        return Err(refuse("expiry_past", msg));
    }
    Ok(last_day)
}

/// 422 on one field, with the permanent code of the error.
fn refused(field: &str, code: &'static str, msg: Bilingual, input: Node) -> ApiError {
    let error = FieldError::new(["body", field], "value_error", msg);
    ApiError::validation(vec![error.with_code(code).with_input(&input)])
}

fn overlaps(range: &Range) -> ApiError {
    ApiError::conflict(
        "sequence_overlaps",
        say!(
            "the sequence {} of type {} has the numbers {} to {}: no number may be in two",
            "la secuencia {} del tipo {} tiene los números {} a {}: ningún número puede estar en dos",
            range.id(),
            range.ecf_type,
            range.start,
            range.end
        ),
    )
}
