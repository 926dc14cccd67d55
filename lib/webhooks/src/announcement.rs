//! How events that are not verdicts get on their way: an announcement is stored once, then its job is enqueued.
//!
//! Their bodies are flat like a verdict's and fixed at once. (`public_id`, `event`) is the receiver's key to drop repetitions:
//! the same news of the same thing is one announcement, however often it is announced.

use std::time::Duration;

use ecf_store::{AnnouncementId, Queues, Scope, StoreError, Table, WebhookJob, announcements::Announcement};
use jiff::Timestamp;
use serde::Serialize;

use crate::event::EventName;
use crate::payload::without_offset;

/// What the announcements of one moment have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) company_rnc: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Serialize)]
struct Payload<'a, D> {
    event: &'a str,
    public_id: String,
    company_rnc: &'a str,
    #[serde(flatten)]
    details: D,
    timestamp: String,
}

impl Head<'_> {
    /// The announcement with its bytes. `about` is the same text when the same news is announced again.
    pub(crate) fn announcement(&self, event: EventName, about: &str, details: impl Serialize) -> Announcement {
        let id = AnnouncementId::of(self.scope, event.as_str(), about);
        let payload = Payload {
            event: event.as_str(),
            public_id: id.to_string(),
            company_rnc: self.company_rnc,
            details,
            timestamp: without_offset(self.now),
        };
        Announcement {
            id,
            event: event.as_str().to_owned(),
            body: serde_json::to_vec(&payload).expect("texts and numbers always serialize"),
            at: self.now,
        }
    }
}

/// Stores an announcement, then enqueues its delivery; when the message is lost, housekeeping finds the announcement on the due
/// index. `false`: the same was announced before, and nothing is enqueued.
///
/// # Errors
/// When it is not stored or not enqueued. An announcement that is stored and not enqueued is delivered later.
pub async fn announce(
    table: &Table,
    queues: &Queues,
    scope: &Scope,
    announcement: &Announcement,
) -> Result<bool, StoreError> {
    if !table.create_announcement(scope, announcement).await? {
        return Ok(false);
    }
    enqueue_announcement(queues, scope, &announcement.id).await?;
    Ok(true)
}

/// Enqueues the delivery of a stored announcement.
///
/// # Errors
/// When the queue does not take it; the announcement is delivered later.
pub async fn enqueue_announcement(
    queues: &Queues,
    scope: &Scope,
    announcement: &AnnouncementId,
) -> Result<(), StoreError> {
    let job = WebhookJob::Announce {
        scope: *scope,
        announcement: *announcement,
        attempt: 0,
    };
    queues.send_webhook(&job, Duration::ZERO).await
}
