//! Receipts that are issued later. Their complete request is stored in S3 before the record refers to it.
//!
//! The request is stored, not the completed document: rules and ranges may change until then, so the worker reads,
//! completes and validates the document again.

use bytes::Bytes;
use ecf::rules::OnConditional;
use ecf::{Amounts, Ecf, JsonError, Node, ReceiptState};
use ecf_api::{ApiError, FieldError};
use ecf_language::say;
use ecf_store::{
    ArtifactKind, Receipt,
    receipts::{Created, NewNote, NewReceipt},
};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use crate::App;
use crate::check::refused;
use crate::numbering::foresee;
use crate::record::{Issuance, create, new_receipt};
use crate::request::{AMOUNTS, IssueQuery, IssueRequest, ON_CONDITIONAL, OnReplay};

/// How far ahead a receipt may be scheduled: ranges, rates and rules are known for that time.
const HORIZON_DAYS: i64 = 30;

/// The instant at which the receipt is to be issued; `None` means now, also for an instant in the past.
///
/// # Errors
/// 422 when the instant is more than [`HORIZON_DAYS`] ahead.
pub(crate) fn due(request: &IssueRequest, now: Timestamp) -> Result<Option<Timestamp>, ApiError> {
    let Some(due) = request.scheduled_for.filter(|when| *when > now) else {
        return Ok(None);
    };
    let latest = now + SignedDuration::from_hours(24 * HORIZON_DAYS);
    if due > latest {
        let msg = say!(
            "scheduled_for is {due}; it may be at most {HORIZON_DAYS} days ahead, until {latest}",
            "scheduled_for es {due}; puede ser de {HORIZON_DAYS} días en adelante como máximo, hasta {latest}"
        );
        let error = FieldError::new(["body", "scheduled_for"], "less_than_equal", msg)
            .with_code("scheduled_too_far")
            .with_input(&Node::Text(due.to_string().into()))
            .with_ctx("le", latest.to_string())
            .with_ctx("given", due.to_string());
        return Err(ApiError::validation(vec![error]));
    }
    Ok(Some(due))
}

/// Stores a validated document, to be issued at an instant. A note reserves its amount from its invoice now, so that it
/// cannot fail later because other notes credited more in the meantime.
///
/// # Errors
/// Fails when the company's ranges could not number it at that instant.
pub(crate) async fn store_request(
    app: &App,
    issuance: &Issuance<'_>,
    ecf: &Ecf,
    (state, at): (ReceiptState, Timestamp),
    note: Option<NewNote>,
) -> Result<Created, ApiError> {
    let scope = &issuance.issuer.scope;
    let number = foresee(app, scope, ecf, at).await?;
    if number.chosen_by_caller {
        // Only the lock is decisive, but a number that is already used can be rejected now.
        let owner = app.table.receipt_by_encf(scope, &number.encf).await?;
        if owner.is_some_and(|owner| owner.state != ReceiptState::Rejected)
            && app.table.number_left_by(scope, &number.encf).await?.is_none()
        {
            return Ok(Created::NumberTaken);
        }
    }
    let numbered = ecf
        .clone()
        .numbered(number.encf, number.valid_until)
        .map_err(|violation| refused(vec![*violation]))?;
    let now = app.clock.now();
    let stored = write_request(issuance).map_err(ApiError::internal)?;
    let payload = app
        .artifacts
        .put(scope, now, &issuance.id, ArtifactKind::Payload, stored)
        .await?;
    let new = NewReceipt {
        payload: Some(payload),
        note,
        ..new_receipt(issuance, &numbered, state, now)
    };
    create(app, issuance, ecf, new).await
}

/// Why a stored request cannot be read.
#[derive(Debug, Error)]
pub(crate) enum StoredRequestError {
    #[error("the stored request is not JSON")]
    Json(#[from] JsonError),
    #[error("the stored request has no payload")]
    NoPayload,
    #[error("the stored request says {name} = {value:?}")]
    Unknown { name: &'static str, value: String },
}

/// The parts of a request that the record lacks: the document, and the options for validating and writing it.
fn write_request(issuance: &Issuance<'_>) -> Result<Bytes, serde_json::Error> {
    let word = |text: Option<&str>| text.map_or(Node::Null, |text| Node::Text(text.into()));
    let members = [
        ("payload", issuance.request.payload.clone()),
        (
            "on_conditional",
            word(issuance.query.on_conditional.map(OnConditional::as_str)),
        ),
        ("amounts", word(issuance.query.amounts.map(amounts_word))),
    ];
    let members = members.map(|(name, value)| (name.into(), value));
    serde_json::to_vec(&Node::Object(members.into())).map(Bytes::from)
}

/// Restores the request from the record and the stored parts.
pub(crate) fn read_request(receipt: &Receipt, stored: &[u8]) -> Result<(IssueRequest, IssueQuery), StoredRequestError> {
    let stored = Node::parse(stored)?;
    let request = IssueRequest {
        idempotency_key: receipt.idempotency_key.clone(),
        ecf_type: receipt.fiscal.ecf_type,
        payload: stored.get("payload").cloned().ok_or(StoredRequestError::NoPayload)?,
        external_id: receipt.external_id.clone(),
        environment: Some(receipt.scope.environment),
        scheduled_for: receipt.scheduled_for,
    };
    let query = IssueQuery {
        mode: receipt.mode,
        on_conditional: choice(&stored, "on_conditional", &ON_CONDITIONAL)?,
        amounts: choice(&stored, "amounts", &AMOUNTS)?,
        validate_only: false,
        on_replay: OnReplay::default(),
    };
    Ok((request, query))
}

fn amounts_word(amounts: Amounts) -> &'static str {
    let known = AMOUNTS.iter().find(|(_, value)| *value == amounts);
    known.map_or("scaled", |(word, _)| word)
}

fn choice<T: Copy>(stored: &Node, name: &'static str, words: &[(&str, T)]) -> Result<Option<T>, StoredRequestError> {
    let Some(given) = stored.get(name).and_then(Node::as_text) else {
        return Ok(None);
    };
    let known = words.iter().find(|(word, _)| *word == given);
    known
        .map(|(_, value)| Some(*value))
        .ok_or_else(|| StoredRequestError::Unknown {
            name,
            value: given.to_owned(),
        })
}
