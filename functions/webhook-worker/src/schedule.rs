//! When and where the attempts at a webhook are made: the lane, the message that brings the next attempt, and the due index
//! behind it.

use std::time::Duration;

use ecf_store::{EventKey, Scope, WebhookId, WebhookJob, waits::message_delay};
use ecf_webhooks::TimeOuts;
use jiff::Timestamp;

use crate::App;

/// How long an attempt in the fast lane may take.
pub const FAST_LIMIT: Duration = Duration::from_secs(2);
/// Where an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Fast,
    Slow,
}

impl Lane {
    pub(crate) fn of(slow: bool) -> Self {
        if slow { Self::Slow } else { Self::Fast }
    }

    pub(crate) fn is_slow(self) -> bool {
        self == Self::Slow
    }

    pub(crate) fn limit(self) -> Duration {
        match self {
            Self::Fast => FAST_LIMIT,
            Self::Slow => TimeOuts::default().total,
        }
    }
}

/// Sends the message of the next attempt, when a queue can hold it that long. A message that is lost is found by the due index.
pub(crate) async fn queue_next(app: &App, job: &WebhookJob, now: Timestamp, next: Timestamp) {
    let Some(delay) = message_delay(now, next) else { return };
    if let Err(error) = app.queues.send_webhook(job, delay).await {
        let error = ecf_runtime::telemetry::chain(&error);
        tracing::warn!(%error, "a retry was not enqueued; housekeeping enqueues it");
    }
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
