//! A verdict's event: one attempt at every subscription, then the outbox entry goes.

use ecf_runtime::Outcome;
use ecf_store::{
    AnnouncementId, EventKey, ReceiptId, Scope, StoreError, Subject, WebhookJob, receipts::OutboxEntry,
    undelivered::Undelivered, waits::due_at, webhooks::Webhook,
};
use ecf_webhooks::decide::{Happened, Health, Pending, Place, Step, decide};
use ecf_webhooks::{event_body, matches};
use futures::future::join_all;
use jiff::Timestamp;

use crate::deliver::{Event, attempt};
use crate::schedule::Lane;
use crate::{App, health, lanes, parking, schedule};

/// Delivers an event to every webhook that subscribes to it. Runs again after a crash: a second delivery is better than none. A
/// webhook whose attempt cannot be recorded does not stop the others.
pub(crate) async fn deliver(app: &App, scope: &Scope, id: &ReceiptId) -> Result<Outcome<WebhookJob>, StoreError> {
    let Some(receipt) = app.table.receipt(scope, id).await? else {
        return Ok(Outcome::GiveUp {
            reason: "the receipt does not exist".to_owned(),
        });
    };
    if !receipt.outbox.contains(&OutboxEntry::Webhook) {
        return Ok(Outcome::Done);
    }
    let (name, body) = match event_body(&receipt, &app.stamp_hosts) {
        Ok(event) => event,
        Err(error) => {
            return Ok(Outcome::GiveUp {
                reason: error.to_string(),
            });
        }
    };
    let event = Event {
        name,
        body,
        key: EventKey::new(
            receipt.completed_at.unwrap_or(receipt.updated_at),
            Subject::Receipt(*id),
        ),
    };
    let notified_at = deliver_to_all(app, scope, &event).await?;
    app.table.webhooks_notified(scope, id, notified_at).await?;
    Ok(Outcome::Done)
}

/// The same for an event of our own.
pub(crate) async fn announce(app: &App, scope: &Scope, id: &AnnouncementId) -> Result<Outcome<WebhookJob>, StoreError> {
    let Some(announcement) = app.table.undelivered_announcement(scope, id).await? else {
        return Ok(Outcome::Done);
    };
    let Ok(name) = announcement.event.parse() else {
        return Ok(Outcome::GiveUp {
            reason: format!("announcement {id} is no event: {}", announcement.event),
        });
    };
    let event = Event {
        name,
        body: announcement.body,
        key: EventKey::new(announcement.at, Subject::Announcement(*id)),
    };
    deliver_to_all(app, scope, &event).await?;
    app.table.record_announcement_delivered(scope, id).await?;
    Ok(Outcome::Done)
}

/// When the first webhook took the event, if one did.
///
/// A webhook that the service switched off keeps what it would have heard; one that its owner switched off does not.
async fn deliver_to_all(app: &App, scope: &Scope, event: &Event) -> Result<Option<Timestamp>, StoreError> {
    let webhooks = app.table.webhooks(scope).await?;
    let told = webhooks
        .iter()
        .filter(|webhook| webhook.is_active || webhook.paused.is_some())
        .filter(|webhook| matches(&webhook.events, event.name))
        .map(|webhook| deliver_to_one(app, scope, webhook, event));
    let taken: Vec<_> = join_all(told).await.into_iter().collect::<Result<_, _>>()?;
    Ok(taken.into_iter().flatten().min())
}

/// The first attempt, or the parking in its place. A failed one is kept with its bytes and gets the second. The result is
/// when the webhook took the event.
async fn deliver_to_one(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    event: &Event,
) -> Result<Option<Timestamp>, StoreError> {
    let health = Health::from(webhook);
    let now = app.clock.now();
    let mut pending = Pending {
        place: Place::Queued,
        attempts: 0,
        since: now,
    };
    if decide(&pending, &health, Happened::Due, now).step != Step::Deliver {
        parking::park(app, scope, webhook, event).await?;
        return Ok(None);
    }
    // Held until the attempt is recorded: a burst meets a receiver that hangs with few attempts, and learns from them.
    let Some(_place) = app.receivers.enter(webhook).await else {
        lanes::hand_over(app, scope, webhook, event).await?;
        return Ok(None);
    };
    let sent = attempt(app, scope, webhook, event, 1, Lane::Fast).await?;
    lanes::note(app, scope, webhook, &sent).await?;
    (pending.attempts, pending.since) = (1, sent.at);
    let decision = decide(&pending, &health, Happened::Attempted(sent.answer), sent.at);
    if let Step::Retry(wait) = decision.step {
        let next = sent.at + wait;
        let waiting = Undelivered {
            key: event.key,
            event: event.name.as_str().to_owned(),
            body: event.body.clone(),
            since: sent.at,
            attempts: 1,
            due_at: Some(due_at(sent.at, next)),
        };
        // An earlier run of this job has stored the event: its attempts go on.
        if app.table.store_undelivered(scope, &webhook.id, &waiting).await? {
            let job = schedule::job(scope, webhook.id, event.key, 2, Lane::of(sent.has_timed_out));
            schedule::queue_next(app, &job, sent.at, next).await;
        }
    }
    if let Some(change) = decision.health {
        health::change(app, scope, webhook, change, sent.at).await?;
    }
    Ok((decision.step == Step::Done).then_some(sent.at))
}
