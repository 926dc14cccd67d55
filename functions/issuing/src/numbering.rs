//! The number of a receipt: the caller's, or the next of the company's range.

use ecf::{Ecf, Encf, Fecha};
use ecf_api::{ApiError, FieldError};
use ecf_store::{CallerTake, Scope, Take};
use jiff::Timestamp;

use crate::App;

/// A number that this request may use, if it gets the lock.
pub(crate) struct Number {
    pub(crate) encf: Encf,
    /// What `FechaVencimientoSecuencia` must say.
    pub(crate) valid_until: Option<Fecha>,
    pub(crate) chosen_by_caller: bool,
}

/// Takes the number that the document names, else the next free one.
pub(crate) async fn take(app: &App, scope: &Scope, ecf: &Ecf, now: Timestamp) -> Result<Number, ApiError> {
    let today = Fecha::at(now);
    let ecf_type = ecf.receipt_type();
    let number = if let Some(encf) = ecf.encf() {
        match app.table.claim_caller_number(scope, encf, today, now).await? {
            CallerTake::Ok { valid_until } => Number {
                encf: encf.clone(),
                valid_until,
                chosen_by_caller: true,
            },
            CallerTake::OutsideRanges => {
                return Err(encf_error(
                    "encf_outside_ranges",
                    format!("no active range of this company contains {encf}"),
                ));
            }
            CallerTake::Expired { valid_until } => {
                return Err(encf_error(
                    "encf_expired",
                    format!("the range that contains {encf} expired on {valid_until}"),
                ));
            }
            CallerTake::ServiceNumbered => {
                return Err(ApiError::conflict(
                    "range_numbered_by_service",
                    format!("the range that contains {encf} is numbered by this service: leave eNCF out"),
                ));
            }
        }
    } else {
        match app.table.take_next_number(scope, ecf_type, today, now).await? {
            Take::Taken { encf, valid_until } => Number {
                encf,
                valid_until,
                chosen_by_caller: false,
            },
            Take::NoRange => {
                return Err(encf_error(
                    "no_range",
                    format!("the company has no range of type {ecf_type} in {}", scope.environment),
                ));
            }
            Take::Exhausted => {
                return Err(encf_error(
                    "range_exhausted",
                    format!("the ranges of type {ecf_type} have no number left"),
                ));
            }
            Take::Expired => {
                return Err(encf_error(
                    "range_expired",
                    format!("the ranges of type {ecf_type} have expired"),
                ));
            }
            Take::CallerNumbered => {
                return Err(ApiError::conflict(
                    "range_numbered_by_caller",
                    format!("the ranges of type {ecf_type} are numbered by the caller: give eNCF"),
                ));
            }
        }
    };
    agrees_with_document(ecf, number)
}

/// The authority refuses a document whose expiry is not the authorised one.
fn agrees_with_document(ecf: &Ecf, number: Number) -> Result<Number, ApiError> {
    let (Some(given), Some(authorised)) = (
        &ecf.document().encabezado.id_doc.fecha_vencimiento_secuencia,
        &number.valid_until,
    ) else {
        return Ok(number);
    };
    if given == authorised {
        return Ok(number);
    }
    let loc = ["body", "payload", "Encabezado", "IdDoc", "FechaVencimientoSecuencia"];
    let msg = format!(
        "FechaVencimientoSecuencia is {given}, but the range of {} is valid until {authorised}",
        number.encf
    );
    let error = FieldError::new(loc, "value_error", msg)
        .with_ctx("given", given.to_string())
        .with_ctx("expected", authorised.to_string());
    Err(ApiError::validation(vec![error]))
}

fn encf_error(kind: &'static str, msg: String) -> ApiError {
    ApiError::validation(vec![FieldError::new(
        ["body", "payload", "Encabezado", "IdDoc", "eNCF"],
        kind,
        msg,
    )])
}
