//! A verdict's event: one attempt at every subscription, then the outbox entry goes.

use ecf_runtime::Outcome;
use ecf_store::{OutboxEntry, ReceiptId, Scope, StoreError, WebhookJob};
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
    let webhooks = app.table.webhooks(scope).await?;
    let event = Event {
        name,
        body,
        receipt: *id,
    };
    let attempts = webhooks
        .iter()
        .filter(|webhook| webhook.is_active && matches(&webhook.events, name))
        .map(|webhook| first_attempt(app, scope, webhook, &event));
    join_all(attempts).await.into_iter().collect::<Result<(), _>>()?;
    app.table.outbox_done(scope, id, OutboxEntry::Webhook).await?;
    Ok(Outcome::Done)
}
