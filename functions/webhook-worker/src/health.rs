//! Whether a webhook works. It is written when that changes, and never while all is well.

use std::time::Duration;

use ecf_store::{Pause, Scope, StoreError, Webhook, WebhookJob};
use ecf_webhooks::{DEAD_AFTER, News, PAUSE_AFTER};
use jiff::Timestamp;

use crate::deliver::Attempted;
use crate::{App, parking};

const GONE: u16 = 410;

/// Whether it has failed for so long that its events are not tried one by one.
pub(crate) fn is_dead(webhook: &Webhook, now: Timestamp) -> bool {
    webhook.failing_since.is_some_and(|since| age(since, now) >= DEAD_AFTER)
}

fn age(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

/// It took something: what is parked behind it may follow.
pub(crate) async fn took(app: &App, scope: &Scope, webhook: &Webhook) -> Result<(), StoreError> {
    if webhook.failing_since.is_none() {
        return Ok(());
    }
    app.table.webhook_recovered(scope, &webhook.id).await?;
    if webhook.probe_at.is_some() {
        parking::start(app, scope, &webhook.id).await;
    }
    Ok(())
}

/// It did not. Who failed for days, or says that it is gone for good, is switched off.
pub(crate) async fn refused(app: &App, scope: &Scope, webhook: &Webhook, sent: &Attempted) -> Result<(), StoreError> {
    let since = match webhook.failing_since {
        Some(since) => since,
        None => {
            app.table.webhook_failed(scope, &webhook.id, sent.at).await?;
            sent.at
        }
    };
    let reason = if sent.status_code == Some(GONE) {
        "its receiver answered 410 Gone".to_owned()
    } else if age(since, sent.at) >= PAUSE_AFTER {
        format!("its receiver has taken nothing since {since:.0}")
    } else {
        return Ok(());
    };
    pause(app, scope, webhook, since, Pause { at: sent.at, reason }).await
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
        reason: &pause.reason,
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
    tracing::warn!(webhook = %webhook.id, company.id = %scope.company, reason = pause.reason, "a webhook was switched off");
    let job = WebhookJob::Announce {
        scope: *scope,
        announcement: news.id,
        attempt: 0,
    };
    if let Err(error) = app.queues.send_webhook(&job, Duration::ZERO).await {
        let error = ecf_runtime::telemetry::chain(&error);
        tracing::warn!(%error, "the news was not queued; it comes by the due index");
    }
    Ok(())
}
