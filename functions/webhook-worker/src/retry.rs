//! Later attempts, each begun by whoever claims it.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{EventKey, LONGEST_DELAY, Scope, StoreError, Subject, Undelivered, Webhook, WebhookId, WebhookJob};
use ecf_webhooks::WINDOW;
use jiff::{SignedDuration, Timestamp};

use crate::deliver::{Event, attempt};
use crate::lanes::{self, BUSY_WAIT, Lane};
use crate::{App, health, parking};

/// How long an attempt may take before another may begin.
pub(crate) const LEASE: SignedDuration = SignedDuration::from_mins(5);
/// How long the due index waits for a message that is on its way.
const GRACE: SignedDuration = SignedDuration::from_mins(10);

/// What came of a later attempt.
#[derive(Debug)]
pub(crate) enum Tried {
    Taken,
    /// Not taken by this many attempts; the next comes then.
    Failed {
        attempts: u32,
        next: Timestamp,
        /// Whether that is an attempt of the slow lane.
        is_slow: bool,
    },
    /// Given up, with its record gone.
    Over,
    /// Another worker has begun it.
    Busy,
}

/// Where the due index finds an attempt that a message may bring: a queue delays by a quarter of an hour at most, so a longer
/// wait is housekeeping's from the start.
pub(crate) fn look_at(now: Timestamp, next: Timestamp) -> Timestamp {
    match message_delay(now, next) {
        Some(_) => next + GRACE,
        None => next,
    }
}

/// Sends the message of the next attempt, when a queue can hold it that long. A message that is lost is found by the due index.
pub(crate) async fn queue_next(app: &App, job: &WebhookJob, now: Timestamp, next: Timestamp) {
    let Some(delay) = message_delay(now, next) else { return };
    if let Err(error) = app.queues.send_webhook(job, delay).await {
        let error = ecf_runtime::telemetry::chain(&error);
        tracing::warn!(%error, "a retry was not queued; it comes by the due index");
    }
}

fn message_delay(now: Timestamp, next: Timestamp) -> Option<Duration> {
    let wait = Duration::try_from(next.duration_since(now)).unwrap_or_default();
    (wait <= LONGEST_DELAY).then_some(wait)
}

/// The job of an attempt.
pub(crate) fn job(scope: &Scope, webhook: WebhookId, event: EventKey, attempt: u32, lane: Lane) -> WebhookJob {
    WebhookJob::Deliver {
        scope: *scope,
        webhook,
        event,
        attempt,
        slow: lane.is_slow(),
    }
}

/// Runs the job of an attempt. One that was made meanwhile is not made again.
pub(crate) async fn run(
    app: &App,
    scope: &Scope,
    webhook: &WebhookId,
    event: &EventKey,
    number: u32,
    lane: Lane,
) -> Result<Outcome<WebhookJob>, StoreError> {
    let waiting = app.table.undelivered(scope, webhook, event).await?;
    let Some(waiting) = waiting.filter(|waiting| waiting.attempts.saturating_add(1) == number) else {
        return Ok(Outcome::Done);
    };
    let Some(webhook) = app.table.webhook(scope, webhook).await? else {
        tracing::info!(%webhook, subject = %event.subject, "the webhook was removed; its delivery ends");
        app.table.forget_undelivered(scope, webhook, event).await?;
        return Ok(Outcome::Done);
    };
    if !webhook.is_active || health::is_dead(&webhook, app.clock.now()) {
        app.table
            .postpone_undelivered(scope, &webhook.id, event, waiting.attempts, None)
            .await?;
        parking::parked(app, scope, &webhook).await?;
        return Ok(Outcome::Done);
    }
    // A job that waited in the slow lane would keep the other webhooks there waiting.
    let (place, wait) = match lane {
        Lane::Fast => (app.receivers.enter(&webhook).await, Duration::ZERO),
        Lane::Slow => (app.receivers.try_enter(&webhook), BUSY_WAIT),
    };
    let Some(_place) = place else {
        let job = job(scope, webhook.id, *event, number, Lane::Slow);
        return Ok(Outcome::Again { job, after: wait });
    };
    if let Tried::Failed {
        attempts,
        next,
        is_slow,
    } = retry(app, scope, &webhook, &waiting, lane).await?
    {
        let now = app.clock.now();
        app.table
            .postpone_undelivered(scope, &webhook.id, event, attempts, Some(look_at(now, next)))
            .await?;
        let lane = Lane::of(is_slow);
        let job = job(scope, webhook.id, *event, attempts.saturating_add(1), lane);
        queue_next(app, &job, now, next).await;
    }
    Ok(Outcome::Done)
}

/// Claims and makes one attempt. After a failure the record keeps its lease until the caller says when the next one comes.
pub(crate) async fn retry(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    waiting: &Undelivered,
    lane: Lane,
) -> Result<Tried, StoreError> {
    let now = app.clock.now();
    let age = Duration::try_from(now.duration_since(waiting.since)).unwrap_or_default();
    if age > WINDOW {
        return give_up(app, scope, webhook, waiting, "it was not taken within 24 hours").await;
    }
    let Ok(name) = waiting.event.parse() else {
        return give_up(app, scope, webhook, waiting, "its record names no event").await;
    };
    if !app
        .table
        .claim_undelivered(scope, &webhook.id, waiting, now, now + LEASE)
        .await?
    {
        return Ok(Tried::Busy);
    }
    let attempts = waiting.attempts.saturating_add(1);
    let event = Event {
        name,
        body: waiting.body.clone(),
        key: waiting.key,
    };
    let sent = attempt(app, scope, webhook, &event, attempts, lane).await?;
    lanes::note(app, scope, webhook, &sent).await?;
    if sent.succeeded {
        // Before its record goes: a run that ends in between makes the attempt again.
        if let Subject::Receipt(receipt) = &waiting.key.subject {
            app.table.record_notified(scope, receipt, sent.at).await?;
        }
        app.table.forget_undelivered(scope, &webhook.id, &waiting.key).await?;
        health::took(app, scope, webhook).await?;
        return Ok(Tried::Taken);
    }
    health::refused(app, scope, webhook, &sent).await?;
    if sent.is_hopeless {
        return give_up(app, scope, webhook, waiting, "the webhook's secret does not open").await;
    }
    match sent.next_after(attempts, waiting.since) {
        Some(next) => Ok(Tried::Failed {
            attempts,
            next,
            is_slow: sent.has_timed_out || lane.is_slow(),
        }),
        None => give_up(app, scope, webhook, waiting, "it was not taken within 24 hours").await,
    }
}

async fn give_up(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    waiting: &Undelivered,
    reason: &str,
) -> Result<Tried, StoreError> {
    app.table.forget_undelivered(scope, &webhook.id, &waiting.key).await?;
    tracing::error!(webhook = %webhook.id, subject = %waiting.key.subject, event = waiting.event, attempts = waiting.attempts, reason, "delivery given up");
    Ok(Tried::Over)
}
