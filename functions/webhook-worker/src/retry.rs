//! Later attempts, each begun by whoever claims it.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{
    EventKey, Scope, StoreError, Subject, Undelivered, Webhook, WebhookId, WebhookJob,
    waits::{WEBHOOK_LEASE, due_at},
};
use ecf_webhooks::WINDOW;
use jiff::Timestamp;

use crate::deliver::{Event, attempt};
use crate::lanes::BUSY_WAIT;
use crate::schedule::{Lane, job, queue_next};
use crate::{App, health, lanes, parking};

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
            .postpone_undelivered(scope, &webhook.id, event, attempts, Some(due_at(now, next)))
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
        .claim_undelivered(scope, &webhook.id, waiting, now, now + WEBHOOK_LEASE)
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
