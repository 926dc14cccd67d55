//! Writing a verdict down: the state, the authority's answer and the outbox in one write, then the webhook.

use ecf::{Environment, ReceiptState, ReceiptType};
use ecf_runtime::{Metric, Outcome};
use ecf_store::{ExchangeJob, OutboxEntry, Receipt, Recorded, StoreError, SubmissionJob, WebhookJob};
use ecf_taxauth::{Judged, Session, Verdict};

use crate::{App, look_up, notes, used_number};

/// Records a final verdict and queues its event. A verdict that is none yet is looked up later.
pub(crate) async fn record(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
    judged: &Judged,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    if matches!(judged.verdict, Verdict::Rejected { .. }) && judged.answer.says_already_used() {
        return used_number::of_used_number(app, job, session, receipt, judged).await;
    }
    let Some((state, secuencia_utilizada)) = final_state(judged.verdict) else {
        return look_up::soon(app, job, receipt, None).await;
    };
    write(app, receipt, state, secuencia_utilizada, judged, None).await?;
    Ok(Outcome::Done)
}

/// The state that a verdict makes final, and whether a rejection burned the number.
pub(crate) fn final_state(verdict: Verdict) -> Option<(ReceiptState, Option<bool>)> {
    match verdict {
        Verdict::Accepted => Some((ReceiptState::Accepted, None)),
        Verdict::ConditionallyAccepted => Some((ReceiptState::ConditionallyAccepted, None)),
        Verdict::Rejected { secuencia_utilizada } => Some((ReceiptState::Rejected, secuencia_utilizada)),
        Verdict::InProcess | Verdict::NotFound | Verdict::Unclear => None,
    }
}

/// Tells the operator of a verdict, and how long it took.
fn tell(app: &App, receipt: &Receipt) {
    let metric = match receipt.state {
        ReceiptState::Accepted => Metric::ReceiptsAccepted,
        ReceiptState::ConditionallyAccepted => Metric::ReceiptsConditionallyAccepted,
        _ => Metric::ReceiptsRejected,
    };
    let seconds = app.clock.now().duration_since(receipt.created_at).as_secs();
    let seconds = u64::try_from(seconds).unwrap_or(0);
    app.tell(
        receipt.scope.environment,
        &[(metric, 1), (Metric::VerdictSeconds, seconds)],
    );
}

/// Whether the receipt goes to its buyer now. Only a type 45 depends on what the company wants.
async fn goes_to_buyer(app: &App, receipt: &Receipt, state: ReceiptState) -> Result<bool, StoreError> {
    if receipt.ecf_type != ReceiptType::E45 {
        return Ok(receipt.goes_to_buyer(state, false));
    }
    let company = app.profiles.of(&receipt.scope.company, app.clock.now()).await?;
    Ok(company.is_some_and(|company| receipt.goes_to_buyer(state, company.settings.deliver_45)))
}

/// Writes one final state. Whoever wrote it first queues the event and counts; anybody else finds it done. `track_id` is
/// that of the copy that was judged, when the receipt knows another or none.
pub(crate) async fn write(
    app: &App,
    receipt: &Receipt,
    state: ReceiptState,
    secuencia_utilizada: Option<bool>,
    judged: &Judged,
    track_id: Option<&str>,
) -> Result<(), StoreError> {
    let with_words = state != ReceiptState::Accepted;
    let mut outbox = vec![OutboxEntry::Webhook];
    // The simulation step of the certification takes no number twice (process guide, step 4).
    let leaves_number = state == ReceiptState::Rejected && secuencia_utilizada == Some(false);
    if leaves_number && receipt.scope.environment != Environment::CerteCF {
        outbox.push(OutboxEntry::Number);
    }
    if goes_to_buyer(app, receipt, state).await? {
        outbox.push(OutboxEntry::Exchange);
    }
    let verdict = ecf_store::Verdict {
        state,
        track_id: track_id.map(str::to_owned),
        error_code: judged.answer.error_code().filter(|_| with_words).map(str::to_owned),
        error_message: judged.answer.words().filter(|_| with_words),
        secuencia_utilizada,
        taxauth_response: Some(judged.answer.to_json()),
        outbox,
    };
    let now = app.clock.now();
    let recorded = app
        .table
        .record_verdict(&receipt.scope, &receipt.public_id, verdict, now)
        .await?;
    let receipt = match recorded {
        Recorded::Now(receipt) => receipt,
        Recorded::Already(receipt) if !receipt.state.is_final() => {
            tracing::error!(receipt.id = %receipt.public_id, from = %receipt.state, to = %state, "the table of states has no such step");
            return Ok(());
        }
        _ => return Ok(()),
    };
    tracing::info!(receipt.id = %receipt.public_id, encf = receipt.encf().map(tracing::field::display), state = %state, "verdict");
    tell(app, &receipt);
    // All of it is made good by housekeeping and the consistency check when they fail here.
    let event = WebhookJob::Event(receipt.job());
    if let Err(error) = app.queues.send_webhook(&event, std::time::Duration::ZERO).await {
        tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "event not queued; housekeeping will");
    }
    if receipt.outbox.contains(&OutboxEntry::Exchange) {
        let delivery = ExchangeJob::Deliver(receipt.job());
        if let Err(error) = app.queues.send_exchange(&delivery, std::time::Duration::ZERO).await {
            tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "delivery not queued; housekeeping will");
        }
    }
    notes::wake(app, &receipt).await;
    if let Err(error) = app
        .table
        .count_verdict(
            &receipt.scope,
            receipt.day(),
            receipt.ecf_type,
            state,
            &receipt.monto_total,
        )
        .await
    {
        tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "verdict not counted");
    }
    if receipt.outbox.contains(&OutboxEntry::Number)
        && let Err(error) = app.table.free_left_number(&receipt).await
    {
        tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "number not freed; housekeeping will");
    }
    Ok(())
}
