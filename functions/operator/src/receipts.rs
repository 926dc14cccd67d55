//! Receipts that need a hand: queued again, retried, decided.

use std::time::Duration;

use ecf::ReceiptState;
use ecf_store::{
    ExchangeJob, Failure, IssuingJob, OUTCOME_UNKNOWN, OutboxEntry, Receipt, Recorded, Scope, StoreError,
    SubmissionJob, Verdict, WebhookJob,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::OneReceipt;
use crate::{App, OperatorError};

/// What an operator found out about a send whose answer was lost where nobody can look it up.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Outcome {
    /// The tax authority does not have it: it is sent again.
    NotArrived,
    /// It has it, by this track id: the verdict is asked for.
    TrackId(String),
    /// It has judged it.
    Accepted,
    ConditionallyAccepted,
    Rejected {
        secuencia_utilizada: Option<bool>,
    },
}

/// The receipt as it is kept, attempts and next look included.
pub(crate) async fn show(app: &App, one: &OneReceipt) -> Result<Value, OperatorError> {
    Ok(json!({ "receipt": view(&receipt(app, one).await?) }))
}

/// Queues the next step of a receipt once more; every step is safe to run twice.
pub(crate) async fn requeue(app: &App, one: &OneReceipt) -> Result<Value, OperatorError> {
    let receipt = receipt(app, one).await?;
    let queued = queue(app, &receipt).await?;
    let queued = queued.ok_or_else(|| nothing_to_do(&receipt))?;
    Ok(json!({ "queued": queued, "receipt": view(&receipt) }))
}

/// Puts a failed receipt back on its way: to its send when it is signed, else to be issued anew.
pub(crate) async fn retry(app: &App, one: &OneReceipt) -> Result<Value, OperatorError> {
    let failed = receipt(app, one).await?;
    let retried = retry_failed(app, &failed).await?;
    let queued = queue(app, &retried).await?;
    Ok(json!({ "queued": queued, "receipt": view(&retried) }))
}

/// Decides about a receipt whose outcome is unknown.
pub(crate) async fn resolve(app: &App, one: &OneReceipt, outcome: Outcome) -> Result<Value, OperatorError> {
    let seen = receipt(app, one).await?;
    if seen.state != ReceiptState::Submitted || seen.error_code.as_deref() != Some(OUTCOME_UNKNOWN) {
        return Err(OperatorError::refused(
            "outcome_is_known",
            format!("the receipt is {} and its outcome is not unknown", seen.state),
        ));
    }
    let (scope, now) = (one.scope(), app.clock.now());
    let resolved = match outcome {
        Outcome::NotArrived => {
            let failure = Failure {
                code: "not_delivered",
                message: "the send was lost and did not arrive, as an operator found out",
                taxauth_response: None,
            };
            let failed = written(app.table.record_failed(&scope, &seen, failure, now).await?)?;
            retry_failed(app, &failed).await?
        }
        Outcome::TrackId(track_id) => written(app.table.resolve_outcome(&scope, &seen, &track_id, now).await?)?,
        Outcome::Accepted => judge(app, &scope, &seen, ReceiptState::Accepted, None).await?,
        Outcome::ConditionallyAccepted => judge(app, &scope, &seen, ReceiptState::ConditionallyAccepted, None).await?,
        Outcome::Rejected { secuencia_utilizada } => {
            judge(app, &scope, &seen, ReceiptState::Rejected, secuencia_utilizada).await?
        }
    };
    let queued = queue(app, &resolved).await?;
    Ok(json!({ "queued": queued, "receipt": view(&resolved) }))
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
        .count_verdict(scope, receipt.day(), receipt.ecf_type, state, &receipt.monto_total)
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

/// Queues what the receipt's state calls for, and says what; nothing for one that is done.
async fn queue(app: &App, receipt: &Receipt) -> Result<Option<&'static str>, StoreError> {
    let (company, environment) = (receipt.scope.company, receipt.scope.environment);
    let (id, attempt) = (receipt.public_id, 0);
    if receipt.outbox.contains(&OutboxEntry::Webhook) {
        let event = WebhookJob::Event {
            company,
            environment,
            receipt: id,
            attempt,
        };
        app.queues.send_webhook(&event, Duration::ZERO).await?;
        return Ok(Some("event"));
    }
    if receipt.outbox.contains(&OutboxEntry::Exchange) {
        let delivery = ExchangeJob::Deliver {
            company,
            environment,
            receipt: id,
            attempt: receipt.delivery_attempts(),
        };
        app.queues.send_exchange(&delivery, Duration::ZERO).await?;
        return Ok(Some("deliver"));
    }
    let (what, job) = match receipt.state {
        ReceiptState::Received | ReceiptState::Deferred | ReceiptState::Validated => {
            let job = IssuingJob::Issue {
                company,
                environment,
                receipt: id,
                attempt,
            };
            app.queues.send_issuing(&job, Duration::ZERO).await?;
            return Ok(Some("issue"));
        }
        ReceiptState::Signed | ReceiptState::Contingency => (
            "send",
            SubmissionJob::Send {
                company,
                environment,
                receipt: id,
                attempt,
            },
        ),
        ReceiptState::Submitted if receipt.track_id.is_some() => (
            "poll",
            SubmissionJob::Poll {
                company,
                environment,
                receipt: id,
                attempt,
            },
        ),
        _ => return Ok(None),
    };
    app.queues.send_submission(&job, Duration::ZERO).await?;
    Ok(Some(what))
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

fn view(receipt: &Receipt) -> Value {
    json!({
        "public_id": receipt.public_id, "status": receipt.state, "encf": receipt.encf(), "ecf_type": receipt.ecf_type,
        "created_at": receipt.created_at, "updated_at": receipt.updated_at, "scheduled_for": receipt.scheduled_for,
        "send_attempt": receipt.send_attempt, "lease_until": receipt.lease_until, "track_id": receipt.track_id,
        "error_code": receipt.error_code, "error_message": receipt.error_message,
        "next_action_at": receipt.next_action_at,
    })
}
