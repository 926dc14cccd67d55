//! What follows the end of a receipt's way. Housekeeping and the consistency check make up for each effect that fails here.

use std::time::Duration;

use ecf::sending::Effect;
use ecf_runtime::telemetry;
use ecf_store::{ExchangeJob, Receipt, ReceiptJob, StoreError, SubmissionJob, WebhookJob, receipts::OutboxEntry};

use crate::App;
use crate::report::{Happened, Report};

/// Carries the effects out in their order. One that fails does not keep the others from it.
pub(crate) async fn announce(app: &App, receipt: &Receipt, effects: &[Effect]) -> Report<'static> {
    for effect in effects {
        let (done, failure) = match effect {
            Effect::Event => (
                event(app, receipt).await,
                "the event was not enqueued; housekeeping enqueues it",
            ),
            Effect::Delivery => (
                delivery(app, receipt).await,
                "the delivery was not enqueued; housekeeping enqueues it",
            ),
            Effect::Notes => {
                notes(app, receipt).await;
                continue;
            }
            Effect::Count => (count(app, receipt).await, "the verdict was not counted"),
            Effect::Number => (
                number(app, receipt).await,
                "the number was not freed; housekeeping frees it",
            ),
        };
        if let Err(error) = done {
            tracing::warn!(receipt.id = %receipt.public_id, error = %telemetry::chain(&error), "{failure}");
        }
    }
    Happened::Finished.into()
}

async fn event(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    let event = WebhookJob::Event(receipt.job());
    app.queues.send_webhook(&event, Duration::ZERO).await
}

async fn delivery(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    if !receipt.outbox.contains(&OutboxEntry::Exchange) {
        return Ok(());
    }
    let delivery = ExchangeJob::Deliver(receipt.job());
    app.queues.send_exchange(&delivery, Duration::ZERO).await
}

/// Enqueues the notes that await this receipt's verdict.
async fn notes(app: &App, receipt: &Receipt) {
    for note in &receipt.waiting_notes {
        let job = SubmissionJob::Send(ReceiptJob {
            scope: receipt.scope,
            receipt: *note,
            attempt: 0,
        });
        if let Err(error) = app.queues.send_submission(&job, Duration::ZERO).await {
            tracing::warn!(receipt.id = %note, error = %telemetry::chain(&error), "a waiting note was not enqueued; housekeeping enqueues it");
        }
    }
}

async fn count(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    let (scope, day) = (&receipt.scope, receipt.day());
    app.table
        .count_verdict(
            scope,
            day,
            receipt.fiscal.ecf_type,
            receipt.state,
            &receipt.fiscal.monto_total,
        )
        .await
}

async fn number(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    if !receipt.outbox.contains(&OutboxEntry::Number) {
        return Ok(());
    }
    app.table.free_left_number(receipt).await?;
    Ok(())
}
