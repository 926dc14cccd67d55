//! The number of a receipt: chosen by the caller, or the next one of the company's range.

use ecf::{Ecf, Encf, FailReason, Fecha, Node, ReceiptType};
use ecf_api::{ApiError, FieldError};
use ecf_language::{Bilingual, say};
use ecf_store::{
    Scope,
    numbers::{CallerTake, NextNumber, Numbering, Range},
};
use jiff::Timestamp;

use crate::App;

/// A number that this request may use, if it gets the lock.
pub(crate) struct Number {
    pub(crate) encf: Encf,
    /// The required value of `FechaVencimientoSecuencia`.
    pub(crate) valid_until: Option<Fecha>,
    pub(crate) chosen_by_caller: bool,
    /// The range that counts the number once it is used, if the caller numbers that range.
    pub(crate) counts_in: Option<Box<Range>>,
}

/// Takes the number in the document, or the next free one.
pub(crate) async fn take(app: &App, scope: &Scope, ecf: &Ecf, now: Timestamp) -> Result<Number, ApiError> {
    let today = Fecha::at(now);
    let ecf_type = ecf.receipt_type();
    let number = if let Some(encf) = ecf.encf() {
        match app.table.claim_caller_number(scope, encf, today, now).await? {
            CallerTake::Ok(range) => Number {
                encf: *encf,
                valid_until: range.valid_until,
                chosen_by_caller: true,
                counts_in: Some(range).filter(|range| range.is_callers()),
            },
            CallerTake::OutsideRanges => return Err(outside_ranges(encf)),
            CallerTake::Expired { valid_until } => return Err(expired(encf, valid_until)),
            CallerTake::ServiceNumbered => return Err(numbered_by_service(encf)),
        }
    } else {
        foresee_expiry(app, scope, ecf, today).await?;
        match app.table.take_next_number(scope, ecf_type, today, now).await? {
            NextNumber::Taken { encf, valid_until } => Number {
                encf,
                valid_until,
                chosen_by_caller: false,
                counts_in: None,
            },
            none => return Err(nothing_to_take(none, ecf_type, scope, today)),
        }
    };
    // Checked again after [`foresee_expiry`]: the range may have run out in between.
    fits_document(ecf, number)
}

/// The number that [`take`] would return now.
pub(crate) async fn foresee(app: &App, scope: &Scope, ecf: &Ecf, now: Timestamp) -> Result<Number, ApiError> {
    let today = Fecha::at(now);
    let ecf_type = ecf.receipt_type();
    let ranges = app.table.ranges(scope, Some(ecf_type)).await?;
    let number = match ecf.encf() {
        Some(encf) => {
            let holds = |range: &&Range| range.active && range.contains(encf.sequence());
            let range = ranges.iter().find(holds).ok_or_else(|| outside_ranges(encf))?;
            match range.valid_until {
                Some(valid_until) if range.is_expired(today) => return Err(expired(encf, valid_until)),
                _ if range.numbering == Some(Numbering::Service)
                    && app.table.number_left_by(scope, encf).await?.is_none() =>
                {
                    return Err(numbered_by_service(encf));
                }
                valid_until => Number {
                    encf: *encf,
                    valid_until,
                    chosen_by_caller: true,
                    counts_in: None,
                },
            }
        }
        None => {
            let range = ranges.iter().find(|range| range.gives_numbers(today));
            let range =
                range.ok_or_else(|| nothing_to_take(NextNumber::nothing(&ranges, today), ecf_type, scope, today))?;
            let sequence = range.free.first().copied().unwrap_or(range.next);
            Number {
                encf: Encf::new(ecf_type, sequence).map_err(ApiError::internal)?,
                valid_until: range.valid_until,
                chosen_by_caller: false,
                counts_in: None,
            }
        }
    };
    fits_document(ecf, number)
}

fn fits_document(ecf: &Ecf, number: Number) -> Result<Number, ApiError> {
    match (given_expiry(ecf), number.valid_until) {
        (Some(given), Some(authorised)) if given != authorised => Err(expiry_error(
            given,
            authorised,
            say!(
                "the range of {} is valid until {authorised}",
                "la secuencia de {} es válida hasta {authorised}",
                number.encf
            ),
        )),
        _ => Ok(number),
    }
}

/// Compares the document's expiry with the range that will give the number, so that a wrong expiry does not cost a
/// number. Only documents with an expiry, which are few, cause this read.
async fn foresee_expiry(app: &App, scope: &Scope, ecf: &Ecf, today: Fecha) -> Result<(), ApiError> {
    let Some(given) = given_expiry(ecf) else {
        return Ok(());
    };
    let ranges = app.table.ranges(scope, Some(ecf.receipt_type())).await?;
    let next = ranges.iter().find(|range| range.gives_numbers(today));
    match next.and_then(|range| range.valid_until) {
        Some(authorised) if authorised != given => Err(expiry_error(
            given,
            authorised,
            say!(
                "the range of the next number is valid until {authorised}",
                "la secuencia del próximo número es válida hasta {authorised}"
            ),
        )),
        _ => Ok(()),
    }
}

fn given_expiry(ecf: &Ecf) -> Option<Fecha> {
    ecf.document().encabezado.id_doc.fecha_vencimiento_secuencia
}

/// The authority rejects a document whose expiry differs from the authorised one.
fn expiry_error(given: Fecha, authorised: Fecha, what: Bilingual) -> ApiError {
    let loc = ["body", "payload", "Encabezado", "IdDoc", "FechaVencimientoSecuencia"];
    let msg = say!(
        [what],
        "FechaVencimientoSecuencia is {given}, but {what}",
        "FechaVencimientoSecuencia es {given}, pero {what}"
    );
    let error = FieldError::new(loc, "value_error", msg)
        .with_code(ecf::codes::OTHER_EXPIRY)
        .with_input(&Node::Text(given.to_string().into()))
        .with_ctx("given", given.to_string())
        .with_ctx("expected", authorised.to_string());
    ApiError::validation(vec![error])
}

fn outside_ranges(encf: &Encf) -> ApiError {
    encf_error(
        FailReason::EncfOutsideRanges.as_str(),
        Some(encf),
        say!(
            "no active range of this company contains {encf}: register its range, or leave eNCF out",
            "ninguna secuencia activa de esta empresa contiene {encf}: registre su secuencia, u omita eNCF"
        ),
    )
}

fn expired(encf: &Encf, valid_until: Fecha) -> ApiError {
    encf_error(
        FailReason::EncfExpired.as_str(),
        Some(encf),
        say!(
            "the range that contains {encf} expired on {valid_until}: leave eNCF out, or give a number of another \
             range",
            "la secuencia que contiene {encf} venció el {valid_until}: omita eNCF, o dé un número de otra secuencia"
        ),
    )
}

fn numbered_by_service(encf: &Encf) -> ApiError {
    ApiError::conflict(
        FailReason::RangeNumberedByService.as_str(),
        say!(
            "the range that contains {encf} is numbered by this service: leave eNCF out, unless it is the number of \
             a rejected receipt that the tax authority left free",
            "la secuencia que contiene {encf} la numera este servicio: omita eNCF, salvo que sea el número de un \
             comprobante rechazado que la DGII dejó libre"
        ),
    )
}

/// The error for a range that gives no number.
fn nothing_to_take(why: NextNumber, ecf_type: ReceiptType, scope: &Scope, day: Fecha) -> ApiError {
    let environment = scope.environment;
    let (code, msg) = match why {
        NextNumber::CallerNumbered => {
            let message = say!(
                "the ranges of type {ecf_type} are numbered by the caller: give eNCF",
                "las secuencias del tipo {ecf_type} las numera quien llama: dé eNCF"
            );
            return ApiError::conflict(FailReason::RangeNumberedByCaller.as_str(), message);
        }
        NextNumber::Exhausted => (
            FailReason::RangeExhausted.as_str(),
            say!(
                "the ranges of type {ecf_type} have no number left",
                "las secuencias del tipo {ecf_type} no tienen números libres"
            ),
        ),
        NextNumber::Expired => (
            FailReason::RangeExpired.as_str(),
            say!(
                "the ranges of type {ecf_type} have expired by {day}",
                "las secuencias del tipo {ecf_type} vencieron a la fecha {day}"
            ),
        ),
        NextNumber::NoRange | NextNumber::Taken { .. } => (
            FailReason::NoRange.as_str(),
            say!(
                "the company has no range of type {ecf_type} in {environment}: register one with POST \
                 /api/v1/client/sequences",
                "la empresa no tiene secuencia del tipo {ecf_type} en {environment}: registre una con POST \
                 /api/v1/client/sequences"
            ),
        ),
    };
    encf_error(code, None, msg)
}

/// The kind is also the permanent code.
fn encf_error(kind: &'static str, given: Option<&Encf>, msg: Bilingual) -> ApiError {
    let error = FieldError::new(["body", "payload", "Encabezado", "IdDoc", "eNCF"], kind, msg);
    let input = given.map_or(Node::Null, |encf| Node::Text(encf.to_string().into()));
    ApiError::validation(vec![error.with_input(&input)])
}
