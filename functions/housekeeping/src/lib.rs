//! Runs every minute: finds overdue records and enqueues their next step.
//!
//! A receipt stays on the due index from its creation until its verdict was published. Without failures that entry is
//! never used; a lost message, answer or worker is detected here. Each entry is claimed by a conditional write before a
//! job is enqueued, so that two runs, or a run and a slow worker, do not enqueue the same step twice. Companies take
//! turns ([`round_robin`]), and a run continues while entries and time are left ([`sweep`]). The interval between two looks
//! at a receipt grows with its age: when the authority or a queue is hours behind, more copies of the same jobs would
//! not help.
//!
//! A P12 that a sign-up stored without completing the company is deleted here too.
//!
//! Number ranges are on the same index ([`ranges`]), and so are days whose counters must be compared ([`days`]).
//!
//! While the authority is out of reach, receipts are held instead of enqueued until the gates may open ([`round`]), and
//! the longest-waiting ones raise an [`alarm`]. [`news`] publishes events about receipts that stopped or wait too long, and
//! [`contingency`] about the outage. This function also polls the authority's status service, for all
//! functions.

mod alarm;
mod contingency;
mod days;
mod news;
mod ranges;
mod round;
pub mod round_robin;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use ecf::ReceiptState;
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Metrics};
use ecf_store::{
    AnnouncementId, AnnulmentId, ApprovalId, CertificationJob, Clients, EventKey, ExchangeJob, InboxId, QueueUrls,
    Queues, ReceiptId, RunId, StoreError, Table, Vault, WebhookId, WebhookJob,
    due::{DueEntry, DueRecord},
    receipts::{AlarmTimes, OutboxEntry},
};
use ecf_taxauth::{Endpoints, Gates, StatusWatch, TaxAuth, TimeOuts};
use jiff::{SignedDuration, Timestamp};

use crate::round::Round;

/// The next look at a receipt whose job was enqueued now: after half its age, within these bounds.
const SHORTEST_LOOK: SignedDuration = SignedDuration::from_mins(10);
const LONGEST_LOOK: SignedDuration = SignedDuration::from_hours(1);

/// Interval of the requests to the authority's status service.
const STATUS_SPACING: SignedDuration = SignedDuration::from_mins(5);

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    table: Table,
    vault: Vault,
    queues: Queues,
    gates: Arc<Gates>,
    status: Arc<StatusWatch>,
    alarm_times: AlarmTimes,
    /// The metrics output of the function.
    pub metrics: Metrics,
    clock: Clock,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `SECRET_PREFIX`, `ISSUING_QUEUE_URL`,
    /// `SUBMISSION_QUEUE_*_URL`, `WEBHOOK_QUEUE_URL`, `EXCHANGE_QUEUE_URL`, `CERTIFICATION_QUEUE_URL`,
    /// `DELIVERY_ALARM_HOURS`, `STUCK_ALARM_HOURS` and `TAXAUTH_STATUS_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let endpoints = Endpoints::default().with_status_base(&env.required("TAXAUTH_STATUS_URL")?)?;
        let taxauth = TaxAuth::new(endpoints, TimeOuts::of_status())?;
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        Ok(Self {
            gates: Arc::new(Gates::new(table.clone(), clock.clone())),
            status: Arc::new(StatusWatch::new(taxauth, vault.clone(), table.clone())),
            vault,
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            alarm_times: AlarmTimes {
                delivery: env.required_as("DELIVERY_ALARM_HOURS")?,
                step: env.required_as("STUCK_ALARM_HOURS")?,
            },
            metrics: Metrics::from_env(env)?,
            table,
            clock,
        })
    }
}

/// One run over the overdue records, then over ranges and days. A failure does not stop the rest.
///
/// # Errors
/// The first failure, after everything was processed.
pub async fn run(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let mut failure = app.status.check(&app.gates, now, STATUS_SPACING).await.err();
    let round = Round::new(&app.table, &app.gates, &app.alarm_times);
    if let Err(error) = sweep::run(app, &round).await {
        failure.get_or_insert(error);
    }
    if let Err(error) = contingency::end_all(app).await {
        failure.get_or_insert(error);
    }
    if let Err(error) = round.recount(now).await {
        tracing::error!(error = %ecf_runtime::telemetry::chain(&error), "ranges could not be scheduled for a recount");
        failure.get_or_insert(error);
    }
    if let Err(error) = ranges::look_after_all(app).await {
        failure.get_or_insert(error);
    }
    if let Err(error) = days::close_all(app).await {
        failure.get_or_insert(error);
    }
    round.emit_metrics(&app.metrics, app.clock.now()).await;
    failure.map_or(Ok(()), Err)
}

/// Claims one entry and enqueues the next step of its record. Returns whether there was a step.
async fn serve(app: &App, round: &Round<'_>, entry: &DueEntry, now: Timestamp) -> Result<bool, StoreError> {
    match entry.record {
        DueRecord::Receipt(id) => look_after(app, round, entry, &id, now).await,
        DueRecord::Announcement(id) => announce(app, entry, id, now).await,
        DueRecord::Undelivered(webhook, event) => deliver(app, entry, webhook, event, now).await,
        DueRecord::Webhook(webhook) => unpark(app, entry, webhook, now).await,
        DueRecord::Approval(id) => approve(app, entry, &id, now).await,
        DueRecord::Annulment(id) => annul(app, entry, &id, now).await,
        DueRecord::Inbox(id) => confirm(app, entry, &id, now).await,
        DueRecord::Run(id) => take_on(app, entry, id, now).await,
        DueRecord::UnclaimedP12 => judge_p12(app, entry, now).await.map(|()| false),
    }
}

/// Claims an entry and enqueues the next step of the receipt. Returns whether there was a step.
async fn look_after(
    app: &App,
    round: &Round<'_>,
    entry: &DueEntry,
    id: &ReceiptId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let receipt = match app.table.receipt(&entry.scope, id).await {
        Ok(Some(receipt)) => receipt,
        Ok(None) => return Ok(false),
        Err(error @ StoreError::Corrupt { .. }) => {
            // A corrupt record must not stay the first in every run.
            app.table.claim_due(entry, now + LONGEST_LOOK).await?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    news::report_alert(app, &receipt, now).await?;
    round.alarm(&receipt, now).await?;
    if receipt.waits_for_a_person() {
        round.rest(entry, &receipt, now).await?;
        return Ok(false);
    }
    let steps = receipt.next_steps();
    let calls_authority = steps.iter().any(|step| step.calls_authority());
    let is_held = calls_authority && round.hold(&receipt, now).await?;
    // Also a receipt that goes on as the probe was held by a worker before.
    if is_held || receipt.state == ReceiptState::Contingency {
        contingency::begin(app, round, &receipt, now).await?;
    }
    if is_held {
        return Ok(false);
    }
    let next = now + next_look(now.duration_since(receipt.created_at));
    let next = app
        .alarm_times
        .next(&receipt, now)
        .map_or(next, |alarm| next.min(alarm));
    if !app.table.claim_due(entry, next).await? {
        return Ok(false);
    }
    if receipt.outbox.contains(&OutboxEntry::Number) {
        app.table.free_left_number(&receipt).await?;
    }
    if steps.is_empty() && receipt.outbox.is_empty() {
        tracing::error!(receipt.id = %receipt.public_id, state = %receipt.state, "an overdue receipt has no next step");
    }
    if calls_authority {
        round.record_unsent(&receipt);
    }
    for step in &steps {
        app.queues.send_next(&receipt, *step, Duration::ZERO).await?;
    }
    if calls_authority {
        tracing::info!(receipt.id = %receipt.public_id, state = %receipt.state, due = %entry.at, %next, "an overdue receipt was enqueued");
    }
    Ok(!steps.is_empty())
}

/// Enqueues an announcement whose message was lost.
async fn announce(
    app: &App,
    entry: &DueEntry,
    announcement: AnnouncementId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let scope = entry.scope;
    let job = WebhookJob::Announce {
        scope,
        announcement,
        attempt: 0,
    };
    app.queues.send_webhook(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Enqueues an event whose next attempt is due.
async fn deliver(
    app: &App,
    entry: &DueEntry,
    webhook: WebhookId,
    event: EventKey,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let Some(waiting) = app.table.undelivered(&entry.scope, &webhook, &event).await? else {
        return Ok(false);
    };
    let scope = entry.scope;
    let job = WebhookJob::Deliver {
        scope,
        webhook,
        event,
        attempt: waiting.attempts.saturating_add(1),
        slow: false,
    };
    app.queues.send_webhook(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Enqueues the parked events of a webhook.
async fn unpark(app: &App, entry: &DueEntry, webhook: WebhookId, now: Timestamp) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let scope = entry.scope;
    let job = WebhookJob::Unpark {
        scope,
        webhook,
        slow: false,
    };
    app.queues.send_webhook(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Enqueues an approval whose next attempt is due.
async fn approve(app: &App, entry: &DueEntry, id: &ApprovalId, now: Timestamp) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let Some(approval) = app.table.approval(&entry.scope, id).await? else {
        return Ok(false);
    };
    let scope = entry.scope;
    let job = ExchangeJob::Approval {
        scope,
        approval: *id,
        attempt: approval.attempts,
    };
    app.queues.send_exchange(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Enqueues an annulment whose next attempt is due.
async fn annul(app: &App, entry: &DueEntry, id: &AnnulmentId, now: Timestamp) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let Some(annulment) = app.table.annulment(&entry.scope, id).await? else {
        return Ok(false);
    };
    let scope = entry.scope;
    let job = ExchangeJob::Annulment {
        scope,
        annulment: *id,
        attempt: annulment.attempts,
    };
    app.queues.send_exchange(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Enqueues the next question to the authority about a received receipt.
async fn confirm(app: &App, entry: &DueEntry, id: &InboxId, now: Timestamp) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let Some(item) = app.table.inbox_item(&entry.scope, id).await? else {
        return Ok(false);
    };
    let scope = entry.scope;
    let job = ExchangeJob::Confirm {
        scope,
        inbox: *id,
        attempt: item.asked,
    };
    app.queues.send_exchange(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Enqueues the step of a run of the certification whose worker or message was lost.
async fn take_on(app: &App, entry: &DueEntry, id: RunId, now: Timestamp) -> Result<bool, StoreError> {
    if !app.table.claim_due(entry, now + SHORTEST_LOOK).await? {
        return Ok(false);
    }
    let scope = entry.scope;
    let Some(run) = app.table.run(&scope, &id).await? else {
        return Ok(false);
    };
    let job = CertificationJob::Run {
        scope,
        run: id,
        step: run.step,
        waits: 0,
    };
    app.queues.send_certification(&job, Duration::ZERO).await?;
    Ok(true)
}

/// Deletes a P12 that a sign-up stored an hour ago without completing its company.
async fn judge_p12(app: &App, entry: &DueEntry, now: Timestamp) -> Result<(), StoreError> {
    let scope = &entry.scope;
    if !app.table.claim_due(entry, now + LONGEST_LOOK).await? {
        return Ok(());
    }
    if app.table.company(&scope.company).await?.is_none() {
        app.vault.discard_certificate(&scope.company).await?;
        tracing::warn!(company.id = %scope.company, "the P12 of a failed sign-up was deleted");
    }
    app.table.drop_unclaimed_p12(scope).await?;
    Ok(())
}

fn next_look(age: SignedDuration) -> SignedDuration {
    (age / 2).clamp(SHORTEST_LOOK, LONGEST_LOOK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_comes_later_the_older_the_receipt() {
        for (age, minutes) in [
            (0, 10),
            (10, 10),
            (20, 10),
            (40, 20),
            (80, 40),
            (160, 60),
            (100_000, 60),
        ] {
            let next = next_look(SignedDuration::from_mins(age));
            assert_eq!(next, SignedDuration::from_mins(minutes), "{age}");
        }
    }
}
