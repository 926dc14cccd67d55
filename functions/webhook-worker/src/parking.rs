//! Events behind a webhook that does not answer anyway.
//!
//! A webhook that failed for an hour is dead: its events are kept without an attempt, and one of them, the oldest, is tried
//! with the waits of the schedule. Once it is taken the others follow, as many at a time as one job takes. Behind a webhook
//! that is switched off an event costs its record and nothing else, until the webhook is switched on or the event's day is over.

use std::time::Duration;

use ecf_store::{Scope, StoreError, WebhookId, WebhookJob, undelivered::Undelivered, webhooks::Webhook};

use crate::App;
use crate::deliver::Event;
use crate::schedule::Lane;

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
    app.table.store_undelivered(scope, &webhook.id, &waiting).await?;
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
        tracing::warn!(%error, "a probe was not enqueued; housekeeping enqueues it");
    }
}

/// The job that delivers what is parked.
pub(crate) fn job(scope: &Scope, webhook: &WebhookId, lane: Lane) -> WebhookJob {
    WebhookJob::Unpark {
        scope: *scope,
        webhook: *webhook,
        slow: lane.is_slow(),
    }
}
