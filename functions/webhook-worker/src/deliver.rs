//! One attempt at one webhook, and its record.

use std::time::Duration;

use ecf_language::{Bilingual, Say};
use ecf_runtime::Metric;
use ecf_store::{DeliveryId, EventKey, Scope, StoreError, deliveries::Delivery, webhooks::Webhook};
use ecf_webhooks::decide::Answer;
use ecf_webhooks::{DeliveryError, EventName, WebhookSecret, deliver};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::App;
use crate::schedule::Lane;

/// How many ids in a row are tried for one attempt.
const IDS: u32 = 16;
const NO_SECRET: Bilingual = Bilingual::fixed(
    "not sent: the webhook's secret does not open; give it a new one",
    "no se envió: el secreto del webhook no se puede abrir; asígnele uno nuevo",
);

/// What is delivered, in the bytes that every attempt repeats.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: EventName,
    pub(crate) body: Vec<u8>,
    pub(crate) key: EventKey,
}

/// What came of an attempt.
#[derive(Debug)]
pub(crate) struct Attempted {
    pub(crate) at: Timestamp,
    pub(crate) answer: Answer,
    /// Whether the receiver answered at all.
    pub(crate) was_answered: bool,
    /// The lane's time limit ran out before an answer.
    pub(crate) has_timed_out: bool,
    /// How long the receiver took.
    pub(crate) took: Duration,
}

/// Signs, posts and records.
pub(crate) async fn attempt(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    event: &Event,
    number: u32,
    lane: Lane,
) -> Result<Attempted, StoreError> {
    let at = app.clock.now();
    let secret = open_secret(app, scope, webhook).await?;
    let begun = Instant::now();
    let mut has_timed_out = false;
    let (status_code, excerpt, answer) = match secret {
        Some(secret) => {
            let client = app.client.within(lane.limit());
            let sent = deliver(&client, &webhook.url, &secret, event.name, event.body.clone()).await;
            has_timed_out = matches!(sent.error, Some(DeliveryError::TimedOut(_)));
            let error = sent.error.map(|error| error.say());
            let answer = if sent.succeeded {
                Answer::Taken
            } else {
                Answer::Refused {
                    status_code: sent.status_code,
                    retry_after: sent.retry_after,
                    jitter: u16::from_be_bytes(ecf_runtime::random()),
                }
            };
            (sent.status_code, sent.excerpt.map(Bilingual::same).or(error), answer)
        }
        None => (None, Some(NO_SECRET), Answer::Unsigned),
    };
    let succeeded = answer == Answer::Taken;
    let took = begun.elapsed();
    let delivery = Delivery {
        id: id(at, webhook, event, number),
        event: event.name.as_str().to_owned(),
        attempt: number,
        status_code,
        response_excerpt: excerpt.map(Into::into),
        succeeded,
        sent_at: at,
        subject: Some(event.key.subject),
        encf: encf_in(&event.body),
        body_sha256: Some(Sha256::digest(&event.body).into()),
    };
    record(app, scope, webhook, delivery).await?;
    tracing::info!(webhook = %webhook.id, subject = %event.key.subject, event = event.name.as_str(), attempt = number, status_code, succeeded, "webhook delivery attempted");
    let metric = if succeeded {
        Metric::WebhooksDelivered
    } else {
        Metric::WebhooksFailed
    };
    app.metrics.emit(scope.environment.as_str(), &[(metric, 1)], at);
    Ok(Attempted {
        at,
        answer,
        was_answered: status_code.is_some(),
        has_timed_out,
        took,
    })
}

/// The secret that signs: the one of this moment, so a new one serves retries too. `None` when what is kept does not open as
/// this webhook's, which no retry mends.
async fn open_secret(app: &App, scope: &Scope, webhook: &Webhook) -> Result<Option<WebhookSecret>, StoreError> {
    let context = ecf_store::webhooks::webhook_context(scope, &webhook.id);
    let opened = match app.vault.open(&context, &webhook.sealed_secret).await {
        Ok(opened) => opened,
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::error!(webhook = %webhook.id, error = %ecf_runtime::telemetry::chain(&error), "the secret of a webhook does not open");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let text = std::str::from_utf8(&opened).ok();
    Ok(text.and_then(|text| WebhookSecret::parse(text).ok()))
}

/// The e-NCF that the body names, so that the list of deliveries needs no other record.
fn encf_in(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        encf: Option<String>,
    }
    serde_json::from_slice::<Named>(body).ok()?.encf
}

/// The subject is part of it: two receipts' events may reach one webhook within a millisecond.
fn id(at: Timestamp, webhook: &Webhook, event: &Event, number: u32) -> DeliveryId {
    let event = format!("{} {}", event.key.subject, event.name.as_str());
    DeliveryId::new(at.as_millisecond(), &webhook.id, &event, number)
}

/// Records an attempt under its id, or under the next free one: 12 bits do not distinguish all events of a millisecond.
async fn record(app: &App, scope: &Scope, webhook: &Webhook, mut delivery: Delivery) -> Result<(), StoreError> {
    for _ in 0..IDS {
        if app.table.record_delivery(scope, &webhook.id, &delivery).await? {
            return Ok(());
        }
        // Our own record, whose answer was lost, is not in the way.
        let there = app.table.delivery(scope, &webhook.id, delivery.id).await?;
        if there.is_some_and(|there| there.subject == delivery.subject && there.attempt == delivery.attempt) {
            return Ok(());
        }
        delivery.id = delivery.id.next();
    }
    Err(StoreError::Contended {
        operation: "record delivery",
        attempts: IDS,
    })
}
