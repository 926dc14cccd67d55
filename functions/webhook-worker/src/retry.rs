//! Later attempts. A worker claims each before it begins.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{
    EventKey, Scope, StoreError, Subject, WebhookId, WebhookJob,
    undelivered::Undelivered,
    waits::{WEBHOOK_LEASE, due_at},
    webhooks::Webhook,
};
use ecf_webhooks::decide::{GiveUp, Happened, Health, Pending, Place, Step, decide};
use jiff::Timestamp;

use crate::deliver::{Event, attempt};
use crate::lanes::BUSY_WAIT;
use crate::schedule::{Lane, job, queue_next};
use crate::{App, health, lanes, parking};

/// What came of a later attempt.
#[derive(Debug)]
pub(crate) enum Tried {
    /// Carried out, but for [`Step::Retry`] and [`Step::Park`]: they keep the record's lease until the caller says when the next
    /// attempt comes.
    Decided {
        step: Step,
        /// When the attempt was made.
        at: Timestamp,
        /// Whether the next one is made in the slow lane.
        is_slow: bool,
    },
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
    let pending = Pending::of(&waiting, Place::Queued);
    match decide(&pending, &Health::from(&webhook), Happened::Due, app.clock.now()).step {
        Step::Park { .. } => {
            app.table
                .postpone_undelivered(scope, &webhook.id, event, waiting.attempts, None)
                .await?;
            parking::parked(app, scope, &webhook).await?;
            return Ok(Outcome::Done);
        }
        Step::GiveUp(reason) => {
            give_up(app, scope, &webhook, &waiting, reason).await?;
            return Ok(Outcome::Done);
        }
        _ => {}
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
    let tried = retry(app, scope, &webhook, &waiting, Place::Queued, lane).await?;
    if let Tried::Decided {
        step: Step::Retry(wait),
        at,
        is_slow,
    } = tried
    {
        let (now, next) = (app.clock.now(), at + wait);
        app.table
            .postpone_undelivered(scope, &webhook.id, event, number, Some(due_at(now, next)))
            .await?;
        let job = job(scope, webhook.id, *event, number.saturating_add(1), Lane::of(is_slow));
        queue_next(app, &job, now, next).await;
    }
    Ok(Outcome::Done)
}

/// Claims and makes one attempt, and carries out what it decides.
pub(crate) async fn retry(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    waiting: &Undelivered,
    place: Place,
    lane: Lane,
) -> Result<Tried, StoreError> {
    let now = app.clock.now();
    let Ok(name) = waiting.event.parse() else {
        let reason = GiveUp::UnknownEvent;
        give_up(app, scope, webhook, waiting, reason).await?;
        return Ok(Tried::Decided {
            step: Step::GiveUp(reason),
            at: now,
            is_slow: lane.is_slow(),
        });
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
    let pending = Pending {
        attempts,
        ..Pending::of(waiting, place)
    };
    let decision = decide(
        &pending,
        &Health::from(webhook),
        Happened::Attempted(sent.answer),
        sent.at,
    );
    if decision.step == Step::Done {
        // Before its record goes: a run that ends in between makes the attempt again.
        if let Subject::Receipt(receipt) = &waiting.key.subject {
            app.table.record_notified(scope, receipt, sent.at).await?;
        }
        app.table.forget_undelivered(scope, &webhook.id, &waiting.key).await?;
    }
    if let Some(change) = decision.health {
        health::change(app, scope, webhook, change, sent.at).await?;
    }
    if let Step::GiveUp(reason) = decision.step {
        give_up(app, scope, webhook, waiting, reason).await?;
    }
    Ok(Tried::Decided {
        step: decision.step,
        at: sent.at,
        is_slow: sent.has_timed_out || lane.is_slow(),
    })
}

/// Ends an event that was not taken.
pub(crate) async fn give_up(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    waiting: &Undelivered,
    reason: GiveUp,
) -> Result<(), StoreError> {
    app.table.forget_undelivered(scope, &webhook.id, &waiting.key).await?;
    tracing::error!(webhook = %webhook.id, subject = %waiting.key.subject, event = waiting.event, attempts = waiting.attempts, %reason, "delivery given up");
    Ok(())
}
