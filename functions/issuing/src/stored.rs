//! Receipts that are issued later. Their complete request is stored in S3 before the record refers to it.

use ecf::{Ecf, Node, ReceiptState};
use ecf_api::{ApiError, FieldError};
use ecf_issuance::{StoredRequest, create};
use ecf_language::say;
use ecf_store::{
    ArtifactKind, Receipt,
    receipts::{Created, NewNote, NewReceipt},
};
use jiff::{SignedDuration, Timestamp};

use crate::App;
use crate::check::refused;
use crate::numbering::foresee;
use crate::record::{Issuance, new_receipt};
use crate::request::{IssueQuery, IssueRequest, OnReplay};

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
    let stored = stored_request(issuance).to_json().map_err(ApiError::internal)?;
    let payload = app
        .artifacts
        .put(scope, now, &issuance.id, ArtifactKind::Payload, stored)
        .await?;
    let new = NewReceipt {
        payload: Some(payload),
        note,
        ..new_receipt(issuance, &numbered, state, now)
    };
    create(&app.table, scope, ecf.document(), new, issuance.holds_notes).await
}

/// The parts of the request that the record lacks.
fn stored_request(issuance: &Issuance<'_>) -> StoredRequest {
    StoredRequest {
        payload: issuance.request.payload.clone(),
        on_conditional: issuance.query.on_conditional,
        amounts: issuance.query.amounts,
        summary: None,
    }
}

/// Restores the request from the record and the stored parts.
pub(crate) fn restored(receipt: &Receipt, stored: StoredRequest) -> (IssueRequest, IssueQuery) {
    let request = IssueRequest {
        idempotency_key: receipt.idempotency_key.clone(),
        ecf_type: receipt.fiscal.ecf_type,
        payload: stored.payload,
        external_id: receipt.external_id.clone(),
        environment: Some(receipt.scope.environment),
        scheduled_for: receipt.scheduled_for,
    };
    let query = IssueQuery {
        mode: receipt.mode,
        on_conditional: stored.on_conditional,
        amounts: stored.amounts,
        validate_only: false,
        on_replay: OnReplay::default(),
    };
    (request, query)
}
