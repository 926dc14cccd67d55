//! A verdict's event: one attempt at every subscription, then the outbox entry goes.

use ecf_runtime::Outcome;
use ecf_store::{AnnouncementId, OutboxEntry, ReceiptId, Scope, StoreError, Subject, WebhookJob};
use ecf_webhooks::{event_body, matches};
use futures::future::join_all;

use crate::App;
use crate::deliver::{Event, first_attempt};

/// Delivers to all who want to hear of it. Runs again after a crash: better told twice than never. One subscription whose
/// attempt cannot be recorded does not keep the others from theirs.
pub(crate) async fn tell(app: &App, scope: &Scope, id: &ReceiptId) -> Result<Outcome<WebhookJob>, StoreError> {
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
        subject: Subject::Receipt(*id),
    };
    tell_everybody(app, scope, &event).await?;
    app.table.outbox_done(scope, id, OutboxEntry::Webhook).await?;
    Ok(Outcome::Done)
}

/// The same for an event of our own.
pub(crate) async fn announce(app: &App, scope: &Scope, id: &AnnouncementId) -> Result<Outcome<WebhookJob>, StoreError> {
    let Some(announcement) = app.table.untold_announcement(scope, id).await? else {
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
        subject: Subject::Announcement(*id),
    };
    tell_everybody(app, scope, &event).await?;
    app.table.announcement_told(scope, id).await?;
    Ok(Outcome::Done)
}

async fn tell_everybody(app: &App, scope: &Scope, event: &Event) -> Result<(), StoreError> {
    let webhooks = app.table.webhooks(scope).await?;
    let attempts = webhooks
        .iter()
        .filter(|webhook| webhook.is_active && matches(&webhook.events, event.name))
        .map(|webhook| first_attempt(app, scope, webhook, event));
    join_all(attempts).await.into_iter().collect()
}
