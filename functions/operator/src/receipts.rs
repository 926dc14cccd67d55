//! Receipts that need an operator: requeue, retry, resolve.

use std::time::Duration;

use ecf::ReceiptState;
use ecf_store::{
    Receipt, Scope, StoreError,
    receipts::{Failure, NOT_FOUND_WINDOW, NotFoundBy, OUTCOME_UNKNOWN, OutboxEntry, Recorded, Verdict},
};
use ecf_taxauth::where_to_look;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::command::OneReceipt;
use crate::{App, OperatorError};

const LOST: &str = "the answer to the send was lost and no look-up found out what became of it";

/// The operator's finding about a receipt that was sent and has no verdict.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Resolution {
    /// The tax authority does not have the receipt: it is sent again.
    NotArrived,
    /// The authority has it under this track id: the verdict is polled.
    TrackId(String),
    /// The authority has published its verdict.
    Accepted,
    ConditionallyAccepted,
    Rejected {
        secuencia_utilizada: Option<bool>,
    },
}

/// Shows the stored receipt, with its attempts and its next look.
pub(crate) async fn show(app: &App, one: &OneReceipt) -> Result<Value, OperatorError> {
    Ok(json!({ "receipt": view(&receipt(app, one).await?) }))
}

/// Enqueues the next step of a receipt again. Every step is safe to run twice.
pub(crate) async fn requeue(app: &App, one: &OneReceipt) -> Result<Value, OperatorError> {
    let receipt = receipt(app, one).await?;
    let queued = queue(app, &receipt).await?;
    let queued = queued.ok_or_else(|| nothing_to_do(&receipt))?;
    Ok(json!({ "queued": queued, "receipt": view(&receipt) }))
}

/// Retries a failed receipt: a signed one is sent again, any other is issued again.
pub(crate) async fn retry(app: &App, one: &OneReceipt) -> Result<Value, OperatorError> {
    let failed = receipt(app, one).await?;
    let retried = retry_failed(app, &failed).await?;
    let queued = queue(app, &retried).await?;
    Ok(json!({ "queued": queued, "receipt": view(&retried) }))
}

/// Resolves a receipt that the authority may have and whose verdict does not arrive.
///
/// Each step is conditional on the state that the operator saw. No outcome frees the number while the authority may
/// still accept it.
pub(crate) async fn resolve(app: &App, one: &OneReceipt, outcome: Resolution) -> Result<Value, OperatorError> {
    let (scope, now) = (one.scope(), app.clock.now());
    let seen = receipt(app, one).await?;
    may_be_resolved(&seen, &outcome, now)?;
    let decision = json!({ "resolve_outcome": outcome }).to_string();
    let mut seen = written(app.table.record_decision(&scope, &seen, &decision, now).await?)?;
    tracing::warn!(receipt.id = %seen.public_id, encf = seen.encf().map(tracing::field::display), state = %seen.state, decision, "an operator decided about a receipt");
    if seen.state != ReceiptState::Submitted {
        let lost = app
            .table
            .record_outcome_unknown(&scope, &seen.public_id, seen.sending.attempts, LOST, now);
        seen = written(lost.await?)?;
    }
    let resolved = match outcome {
        Resolution::NotArrived if seen.sending.track_id.is_some() => {
            let by = NotFoundBy::Operator;
            written(app.table.return_to_send(&scope, &seen, by, now).await?)?
        }
        Resolution::TrackId(track_id) if seen.sending.track_id.is_some() => {
            written(app.table.replace_track(&scope, &seen, &track_id, now).await?)?
        }
        Resolution::NotArrived => {
            let failure = Failure {
                code: "not_delivered",
                message: "the send was lost and did not arrive, as an operator found out",
                taxauth_response: None,
            };
            let failed = written(app.table.record_failed(&scope, &seen, failure, now).await?)?;
            retry_failed(app, &failed).await?
        }
        Resolution::TrackId(track_id) => written(app.table.resolve_outcome(&scope, &seen, &track_id, now).await?)?,
        Resolution::Accepted => judge(app, &scope, &seen, ReceiptState::Accepted, None).await?,
        Resolution::ConditionallyAccepted => {
            judge(app, &scope, &seen, ReceiptState::ConditionallyAccepted, None).await?
        }
        Resolution::Rejected { secuencia_utilizada } => {
            judge(app, &scope, &seen, ReceiptState::Rejected, secuencia_utilizada).await?
        }
    };
    let queued = queue(app, &resolved).await?;
    Ok(json!({ "queued": queued, "receipt": view(&resolved) }))
}

/// Whether the operator may resolve the receipt: no step is pending, or the pending one has exceeded its time.
fn may_be_resolved(seen: &Receipt, outcome: &Resolution, now: Timestamp) -> Result<(), OperatorError> {
    let refused = |code, message| Err(OperatorError::refused(code, message));
    let lost_send = seen
        .sending
        .lease_until
        .filter(|_| matches!(seen.state, ReceiptState::Signed | ReceiptState::Contingency));
    if seen.state == ReceiptState::Submitted && seen.error_code.as_deref() == Some(OUTCOME_UNKNOWN) {
        return Ok(());
    }
    let goes_on_until = match (seen.state, lost_send) {
        (ReceiptState::Submitted, _) => seen.sending.submitted_at.unwrap_or(seen.created_at) + NOT_FOUND_WINDOW,
        (_, Some(_)) => seen.sending.started_at.unwrap_or(seen.created_at) + NOT_FOUND_WINDOW,
        _ => {
            return refused(
                "outcome_is_known",
                format!("the receipt is {} and its outcome is not unknown", seen.state),
            );
        }
    };
    if now < goes_on_until || lost_send.is_some_and(|until| until > now) {
        return refused(
            "too_early",
            format!("the workers ask by themselves; an operator decides from {goes_on_until}"),
        );
    }
    let can_be_looked_up = where_to_look(seen.scope.environment, seen.is_sent_as_summary()).is_some();
    match outcome {
        Resolution::NotArrived if can_be_looked_up && seen.sending.lookup_negatives == 0 => refused(
            "not_looked_up",
            "no look-up has said that the tax authority does not have it: requeue_receipt looks it up".to_owned(),
        ),
        Resolution::Rejected {
            secuencia_utilizada: Some(false),
        } => refused(
            "number_may_be_used",
            "the tax authority may still judge the document, so its number is not given to another one: leave secuencia_utilizada out"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

async fn judge(
    app: &App,
    scope: &Scope,
    seen: &Receipt,
    state: ReceiptState,
    secuencia_utilizada: Option<bool>,
) -> Result<Receipt, OperatorError> {
    let company = app.table.company(&scope.company).await?;
    let deliver_45 = company.is_some_and(|company| company.settings.deliver_45);
    let mut outbox = vec![OutboxEntry::Webhook];
    outbox.extend(seen.goes_to_buyer(state, deliver_45).then_some(OutboxEntry::Exchange));
    let verdict = Verdict {
        state,
        track_id: None,
        error_code: None,
        error_message: (state != ReceiptState::Accepted)
            .then(|| "the verdict was looked up by an operator after the answer was lost".to_owned()),
        secuencia_utilizada,
        taxauth_response: None,
        outbox,
    };
    let recorded = app
        .table
        .record_verdict(scope, &seen.public_id, verdict, app.clock.now())
        .await?;
    let receipt = written(recorded)?;
    app.table
        .count_verdict(
            scope,
            receipt.day(),
            receipt.fiscal.ecf_type,
            state,
            &receipt.fiscal.monto_total,
        )
        .await?;
    Ok(receipt)
}

async fn retry_failed(app: &App, failed: &Receipt) -> Result<Receipt, OperatorError> {
    match app.table.retry_failed(&failed.scope, failed, app.clock.now()).await? {
        Recorded::Now(receipt) => Ok(receipt),
        Recorded::Already(receipt) => Err(OperatorError::refused(
            "not_failed",
            format!("the receipt is {}; only a failed one is retried", receipt.state),
        )),
        Recorded::Missing => Err(missing()),
    }
}

/// Enqueues the receipt's next steps and returns their names; `None` for a receipt that is complete.
async fn queue(app: &App, receipt: &Receipt) -> Result<Option<String>, StoreError> {
    let steps = receipt.next_steps();
    for step in &steps {
        app.queues.send_next(receipt, *step, Duration::ZERO).await?;
    }
    let names: Vec<_> = steps.iter().map(|step| step.as_str()).collect();
    Ok((!names.is_empty()).then(|| names.join(", ")))
}

async fn receipt(app: &App, one: &OneReceipt) -> Result<Receipt, OperatorError> {
    let found = app.table.receipt(&one.scope(), &one.receipt).await?;
    found.ok_or_else(missing)
}

fn written(recorded: Recorded) -> Result<Receipt, OperatorError> {
    match recorded {
        Recorded::Now(receipt) => Ok(receipt),
        Recorded::Already(receipt) => Err(OperatorError::refused(
            "changed_meanwhile",
            format!("the receipt is {} by now", receipt.state),
        )),
        Recorded::Missing => Err(missing()),
    }
}

fn missing() -> OperatorError {
    OperatorError::refused("not_found", "the company has no such receipt in this environment")
}

fn nothing_to_do(receipt: &Receipt) -> OperatorError {
    let hint = match receipt.state {
        ReceiptState::Failed => ": use retry_failed",
        ReceiptState::Submitted => ": use resolve_outcome",
        _ => "",
    };
    OperatorError::refused(
        "nothing_to_do",
        format!("the receipt is {} and has no next step{hint}", receipt.state),
    )
}

pub(crate) fn view(receipt: &Receipt) -> Value {
    json!({
        "public_id": receipt.public_id, "status": receipt.state, "encf": receipt.encf(), "ecf_type": receipt.fiscal.ecf_type,
        "created_at": receipt.created_at, "updated_at": receipt.updated_at, "scheduled_for": receipt.scheduled_for,
        "send_attempt": receipt.sending.attempts, "lease_until": receipt.sending.lease_until, "track_id": receipt.sending.track_id,
        "lookup_negatives": receipt.sending.lookup_negatives, "lost_track_ids": receipt.sending.lost_track_ids,
        "submitted_at": receipt.sending.submitted_at, "operator_decision": receipt.operator_decision,
        "error_code": receipt.error_code, "error_message": receipt.error_message,
        "next_action_at": receipt.next_action_at,
    })
}
