//! The two lanes: a receiver that lets an attempt run out of time must not hold what others wait for.
//!
//! The fast lane gives an attempt [`FAST_LIMIT`]. A webhook whose attempt runs out of it is *slow*: its events go to a queue of
//! their own, with workers of their own and the whole time limit, until one of them is answered within the fast limit. In both
//! lanes a process makes [`PER_WEBHOOK`] attempts at one webhook at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ecf_store::{Scope, StoreError, WebhookId, undelivered::Undelivered, waits::due_at, webhooks::Webhook};
use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::App;
use crate::deliver::{Attempted, Event};
use crate::schedule::{self, FAST_LIMIT, Lane};

/// Attempts at one webhook that a process makes at the same time.
pub(crate) const PER_WEBHOOK: usize = 4;
/// How long a job of the fast lane waits for a place among them; then its event goes to the slow lane.
const PLACE_WAIT: Duration = Duration::from_millis(500);
/// When a job of the slow lane comes back that found all of them under way.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(15);
/// How long a process remembers by itself that a webhook ran out of time: its jobs of one burst read the webhook before
/// the first of them wrote to the table.
const REMEMBERED: Duration = Duration::from_secs(30);
/// Webhooks that a process remembers before it forgets those with nothing under way.
const MOST_REMEMBERED: usize = 1_000;

/// What this process is doing at each webhook.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receivers(Arc<Mutex<HashMap<WebhookId, Receiver>>>);

#[derive(Debug)]
struct Receiver {
    attempts: Arc<Semaphore>,
    timed_out: Option<Instant>,
}

impl Receivers {
    /// A place among the attempts that the fast lane makes at a webhook. `None`: the webhook belongs to the slow lane, or those
    /// under way take too long.
    pub(crate) async fn enter(&self, webhook: &Webhook) -> Option<OwnedSemaphorePermit> {
        if self.is_slow(webhook) {
            return None;
        }
        let attempts = self.attempts(&webhook.id);
        let place = tokio::time::timeout(PLACE_WAIT, attempts.acquire_owned()).await;
        let place = place.ok()?.expect("it is never closed");
        (!self.is_slow(webhook)).then_some(place)
    }

    /// A place in the slow lane, if there is one now.
    pub(crate) fn try_enter(&self, webhook: &Webhook) -> Option<OwnedSemaphorePermit> {
        self.attempts(&webhook.id).try_acquire_owned().ok()
    }

    /// Whether a webhook belongs to the slow lane: by its record, or by what this process has just seen.
    pub(crate) fn is_slow(&self, webhook: &Webhook) -> bool {
        let timed_out = self.known().get(&webhook.id).and_then(|receiver| receiver.timed_out);
        webhook.slow_since.is_some() || timed_out.is_some_and(|at| at.elapsed() < REMEMBERED)
    }

    fn note(&self, id: &WebhookId, timed_out: Option<Instant>) {
        if let Some(receiver) = self.known().get_mut(id) {
            receiver.timed_out = timed_out;
        }
    }

    fn attempts(&self, id: &WebhookId) -> Arc<Semaphore> {
        let mut known = self.known();
        if known.len() >= MOST_REMEMBERED {
            known.retain(|_, receiver| receiver.attempts.available_permits() < PER_WEBHOOK);
        }
        let receiver = known.entry(*id).or_insert_with(|| Receiver {
            attempts: Arc::new(Semaphore::new(PER_WEBHOOK)),
            timed_out: None,
        });
        receiver.attempts.clone()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<WebhookId, Receiver>> {
        self.0.lock().expect("nobody panics with it")
    }
}

/// Notes what an attempt says of a webhook's lane. Nothing is written while it stays in its lane.
pub(crate) async fn note(app: &App, scope: &Scope, webhook: &Webhook, sent: &Attempted) -> Result<(), StoreError> {
    if sent.has_timed_out {
        app.receivers.note(&webhook.id, Some(Instant::now()));
        if webhook.slow_since.is_none() && app.table.webhook_timed_out(scope, &webhook.id, sent.at).await? {
            tracing::warn!(webhook = %webhook.id, company.id = %scope.company, "a webhook did not answer in time: its events move to the slow queue");
        }
    } else if sent.was_answered && sent.took < FAST_LIMIT {
        app.receivers.note(&webhook.id, None);
        if webhook.slow_since.is_some() && app.table.webhook_in_time(scope, &webhook.id).await? {
            tracing::info!(webhook = %webhook.id, company.id = %scope.company, "a webhook answers in time again");
        }
    }
    Ok(())
}

/// Keeps an event of a slow webhook and queues its first attempt on the slow lane.
pub(crate) async fn hand_over(app: &App, scope: &Scope, webhook: &Webhook, event: &Event) -> Result<(), StoreError> {
    let now: Timestamp = app.clock.now();
    let waiting = Undelivered {
        key: event.key,
        event: event.name.as_str().to_owned(),
        body: event.body.clone(),
        since: now,
        attempts: 0,
        due_at: Some(due_at(now, now)),
    };
    if app.table.store_undelivered(scope, &webhook.id, &waiting).await? {
        let job = schedule::job(scope, webhook.id, event.key, 1, Lane::Slow);
        schedule::queue_next(app, &job, now, now).await;
    }
    Ok(())
}
