//! Whether a webhook works. It is written when that changes, and never while all is well.

use std::time::Duration;

use ecf_language::Say;
use ecf_store::{
    Scope, StoreError, WebhookJob,
    webhooks::{Pause, Webhook},
};
use ecf_webhooks::News;
use ecf_webhooks::decide::HealthChange;
use jiff::Timestamp;

use crate::{App, parking};

/// Writes down how an attempt changed a webhook's health.
pub(crate) async fn change(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    change: HealthChange,
    at: Timestamp,
) -> Result<(), StoreError> {
    match change {
        HealthChange::Recovers => {
            app.table.webhook_recovered(scope, &webhook.id).await?;
            // What is parked behind it may follow.
            if webhook.probe_at.is_some() {
                parking::start(app, scope, &webhook.id).await;
            }
            Ok(())
        }
        HealthChange::Fails => app.table.webhook_failed(scope, &webhook.id, at).await,
        HealthChange::Disable { failing_since, reason } => {
            if webhook.failing_since.is_none() {
                app.table.webhook_failed(scope, &webhook.id, at).await?;
            }
            let reason = reason.say().into();
            pause(app, scope, webhook, failing_since, Pause { at, reason }).await
        }
    }
}

async fn pause(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    failing_since: Timestamp,
    pause: Pause,
) -> Result<(), StoreError> {
    let Some(company) = app.table.company(&scope.company).await? else {
        return Ok(());
    };
    let news = News::WebhookPaused {
        webhook: webhook.id,
        reason: &pause.reason.en,
        failing_since,
    };
    let news = news.announcement(scope, company.rnc.as_str(), pause.at);
    if !app
        .table
        .pause_webhook(scope, &webhook.id, failing_since, &pause, &news)
        .await?
    {
        return Ok(());
    }
    tracing::warn!(webhook = %webhook.id, company.id = %scope.company, reason = &*pause.reason.en, "a webhook was switched off");
    let job = WebhookJob::Announce {
        scope: *scope,
        announcement: news.id,
        attempt: 0,
    };
    if let Err(error) = app.queues.send_webhook(&job, Duration::ZERO).await {
        let error = ecf_runtime::telemetry::chain(&error);
        tracing::warn!(%error, "an event was not enqueued; housekeeping enqueues it");
    }
    Ok(())
}
