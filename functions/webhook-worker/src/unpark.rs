//! Delivers the events that are parked behind a webhook, once it may take them again.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{
    Scope, StoreError, WebhookId, WebhookJob, undelivered::Undelivered, waits::WEBHOOK_LEASE, webhooks::Webhook,
};
use ecf_webhooks::decide::{Happened, Health, Pending, Place, Step, decide};
use futures::future::join_all;
use jiff::Timestamp;

use crate::App;
use crate::lanes::PER_WEBHOOK;
use crate::parking::job;
use crate::retry::{Tried, give_up, retry};
use crate::schedule::Lane;

/// The number of events that one job delivers.
const PAGE: usize = 25;
/// The same in the slow lane, where each attempt may take the whole time limit.
const SLOW_PAGE: usize = 1 + PER_WEBHOOK;

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
            Probed::Taken => break,
            // Nothing was sent, or nothing can be: the next oldest has to show whether the webhook answers.
            Probed::Skipped => {}
            Probed::Failed { next } => return until(app, scope, id, next).await,
        }
    }
    // Read again: it works now, and nobody needs to note that once more.
    let webhook = app.table.webhook(scope, id).await?.unwrap_or(webhook);
    let rest: Vec<Undelivered> = waiting.collect();
    for some in rest.chunks(PER_WEBHOOK) {
        let tried = join_all(some.iter().map(|waiting| one(app, scope, &webhook, waiting, lane))).await;
        for tried in tried.into_iter().collect::<Result<Vec<_>, _>>()? {
            if let Probed::Failed { next } = tried {
                return until(app, scope, id, next).await;
            }
        }
    }
    Ok(again)
}

/// What became of a parked event.
enum Probed {
    Taken,
    /// It stays parked without an attempt, or was given up.
    Skipped,
    /// It was not taken and is parked again; the webhook's next probe comes then.
    Failed {
        next: Timestamp,
    },
}

/// One attempt at a parked event.
async fn one(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    waiting: &Undelivered,
    lane: Lane,
) -> Result<Probed, StoreError> {
    let pending = Pending::of(waiting, Place::Parked);
    match decide(&pending, &Health::from(webhook), Happened::Due, app.clock.now()).step {
        Step::GiveUp(reason) => {
            give_up(app, scope, webhook, waiting, reason).await?;
            return Ok(Probed::Skipped);
        }
        Step::Park { .. } => return Ok(Probed::Skipped),
        _ => {}
    }
    let Tried::Decided { step, at, .. } = retry(app, scope, webhook, waiting, Place::Parked, lane).await? else {
        let next = app.clock.now() + WEBHOOK_LEASE;
        return Ok(Probed::Failed { next });
    };
    match step {
        Step::Done => Ok(Probed::Taken),
        Step::Park {
            probe_after: Some(wait),
        } => {
            let attempts = waiting.attempts.saturating_add(1);
            app.table
                .postpone_undelivered(scope, &webhook.id, &waiting.key, attempts, None)
                .await?;
            Ok(Probed::Failed { next: at + wait })
        }
        _ => Ok(Probed::Skipped),
    }
}

/// Leaves the rest to the next probe.
async fn until(app: &App, scope: &Scope, id: &WebhookId, next: Timestamp) -> Result<Outcome<WebhookJob>, StoreError> {
    app.table.postpone_probe(scope, id, next).await?;
    Ok(Outcome::Done)
}
