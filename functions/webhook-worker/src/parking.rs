//! Events behind a webhook that does not answer anyway.
//!
//! A webhook that failed for an hour is dead: its events are kept without an attempt, and one of them, the oldest, is tried
//! with the waits of the schedule. Once it is taken the others follow, as many at a time as one job takes. Behind a webhook
//! that is switched off an event costs its record and nothing else, until the webhook is switched on or the event's day is over.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{Scope, StoreError, Undelivered, Webhook, WebhookId, WebhookJob};
use futures::future::join_all;
use jiff::Timestamp;

use crate::App;
use crate::deliver::Event;
use crate::lanes::{Lane, PER_WEBHOOK};
use crate::retry::{LEASE, Tried, retry};

/// As many as one job delivers.
const PAGE: usize = 25;
/// The same in the slow lane, where each attempt may take the whole time limit.
const SLOW_PAGE: usize = 1 + PER_WEBHOOK;

/// Keeps an event without an attempt.
pub(crate) async fn park(app: &App, scope: &Scope, webhook: &Webhook, event: &Event) -> Result<(), StoreError> {
    let waiting = Undelivered {
        key: event.key,
        event: event.name.as_str().to_owned(),
        body: event.body.clone(),
        since: app.clock.now(),
        attempts: 0,
        due_at: None,
    };
    app.table.keep_undelivered(scope, &webhook.id, &waiting).await?;
    parked(app, scope, webhook).await
}

/// Sees to it that somebody looks after what was just parked.
pub(crate) async fn parked(app: &App, scope: &Scope, webhook: &Webhook) -> Result<(), StoreError> {
    if !webhook.is_active {
        // Switched on since it was read, it has looked for what is parked, and may have missed this.
        let current = app.table.webhook(scope, &webhook.id).await?;
        if !current.is_some_and(|current| current.is_active) {
            return Ok(());
        }
    }
    let now = app.clock.now();
    if app.table.count_parked(scope, &webhook.id, now).await? && webhook.probe_at.is_none() {
        start(app, scope, &webhook.id).await;
    }
    Ok(())
}

/// Sends the message that delivers what is parked. One that is lost is found by the due index.
pub(crate) async fn start(app: &App, scope: &Scope, webhook: &WebhookId) {
    if let Err(error) = app
        .queues
        .send_webhook(&job(scope, webhook, Lane::Fast), Duration::ZERO)
        .await
    {
        let error = ecf_runtime::telemetry::chain(&error);
        tracing::warn!(%error, "a probe was not queued; it comes by the due index");
    }
}

fn job(scope: &Scope, webhook: &WebhookId, lane: Lane) -> WebhookJob {
    WebhookJob::Unpark {
        scope: *scope,
        webhook: *webhook,
        slow: lane.is_slow(),
    }
}

/// Delivers what is parked, the oldest alone first; the first failure ends it until the next probe.
pub(crate) async fn unpark(
    app: &App,
    scope: &Scope,
    id: &WebhookId,
    came_by: Lane,
) -> Result<Outcome<WebhookJob>, StoreError> {
    let webhook = app.table.webhook(scope, id).await?;
    let Some(webhook) = webhook.filter(|webhook| webhook.is_active && webhook.probe_at.is_some()) else {
        return Ok(Outcome::Done);
    };
    // Slow by what an attempt showed since, it goes on in the other lane.
    let lane = if app.receivers.is_slow(&webhook) {
        Lane::Slow
    } else {
        Lane::Fast
    };
    let again = Outcome::Again {
        job: job(scope, id, lane),
        after: Duration::ZERO,
    };
    if lane != came_by && lane.is_slow() {
        return Ok(again);
    }
    let page = if lane.is_slow() { SLOW_PAGE } else { PAGE };
    let mut waiting = app.table.undelivered_of(scope, id, page).await?.into_iter();
    if waiting.len() == 0 {
        let is_over = app.table.end_probe(scope, &webhook).await?;
        return Ok(if is_over { Outcome::Done } else { again });
    }
    for oldest in waiting.by_ref() {
        match one(app, scope, &webhook, &oldest, lane).await? {
            Tried::Taken => break,
            // Its day was over: the next oldest has to show whether the webhook answers.
            Tried::Over => {}
            failed => return until(app, scope, id, &failed).await,
        }
    }
    // Read again: it works now, and nobody needs to note that once more.
    let webhook = app.table.webhook(scope, id).await?.unwrap_or(webhook);
    let rest: Vec<Undelivered> = waiting.collect();
    for some in rest.chunks(PER_WEBHOOK) {
        let tried = join_all(some.iter().map(|waiting| one(app, scope, &webhook, waiting, lane))).await;
        for tried in tried.into_iter().collect::<Result<Vec<_>, _>>()? {
            if matches!(tried, Tried::Failed { .. } | Tried::Busy) {
                return until(app, scope, id, &tried).await;
            }
        }
    }
    Ok(again)
}

/// One attempt at a parked event; after a failure it is parked again.
async fn one(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    waiting: &Undelivered,
    lane: Lane,
) -> Result<Tried, StoreError> {
    let tried = retry(app, scope, webhook, waiting, lane).await?;
    if let Tried::Failed { attempts, .. } = tried {
        app.table
            .postpone_undelivered(scope, &webhook.id, &waiting.key, attempts, None)
            .await?;
    }
    Ok(tried)
}

/// Leaves the rest to the next probe.
async fn until(app: &App, scope: &Scope, id: &WebhookId, tried: &Tried) -> Result<Outcome<WebhookJob>, StoreError> {
    let next: Timestamp = match tried {
        Tried::Failed { next, .. } => *next,
        _ => app.clock.now() + LEASE,
    };
    app.table.postpone_probe(scope, id, next).await?;
    Ok(Outcome::Done)
}
