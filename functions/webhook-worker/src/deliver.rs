//! One attempt at one subscription, its record, and the next attempt when it failed.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{Delivery, DeliveryId, Scope, StoreError, Subject, Webhook, WebhookJob};
use ecf_webhooks::{EventName, WINDOW, WebhookSecret, backoff, deliver};
use jiff::{SignedDuration, Timestamp};

use crate::App;

/// How many ids in a row are tried for one attempt.
const IDS: u32 = 16;
const NO_SECRET: &str = "not sent: the webhook's secret does not open; give it a new one";

/// What is told, in the bytes that every attempt repeats.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: EventName,
    pub(crate) body: Vec<u8>,
    pub(crate) subject: Subject,
}

/// The first attempt; a failed one is kept with its bytes, and queues the second.
pub(crate) async fn first_attempt(
    app: &App,
    scope: &Scope,
    webhook: &Webhook,
    event: &Event,
) -> Result<(), StoreError> {
    let sent = attempt(app, scope, webhook, event, 1).await?;
    if let Some(wait) = sent.next_after(1, Duration::ZERO) {
        let job = WebhookJob::Deliver {
            company: scope.company,
            environment: scope.environment,
            webhook: webhook.id,
            delivery: sent.id,
            attempt: 2,
            not_before: Some(sent.at + wait),
        };
        app.queues
            .send_webhook(&job, Duration::try_from(wait).unwrap_or_default())
            .await?;
    }
    Ok(())
}

/// A later attempt: the bytes come from the record of the first.
pub(crate) async fn again(app: &App, job: &WebhookJob) -> Result<Outcome<WebhookJob>, StoreError> {
    let WebhookJob::Deliver {
        company,
        environment,
        webhook,
        delivery,
        attempt: number,
        not_before,
        ..
    } = job
    else {
        return Ok(Outcome::GiveUp {
            reason: "not a delivery".to_owned(),
        });
    };
    // A queue delays by 15 minutes at most: longer waits come in hops.
    let left = not_before
        .map(|time| time.duration_since(app.clock.now()))
        .and_then(|left| Duration::try_from(left).ok());
    if let Some(after) = left.filter(|left| !left.is_zero()) {
        return Ok(Outcome::Again {
            job: job.clone(),
            after,
        });
    }
    let scope = Scope {
        company: *company,
        environment: *environment,
    };
    let Some(first) = app.table.delivery(&scope, webhook, *delivery).await? else {
        return Ok(Outcome::GiveUp {
            reason: "the first attempt's record is gone".to_owned(),
        });
    };
    let Some(webhook) = app
        .table
        .webhook(&scope, webhook)
        .await?
        .filter(|webhook| webhook.is_active)
    else {
        tracing::info!(
            delivery = delivery.as_u64(),
            "the webhook was removed or switched off; its delivery ends"
        );
        return Ok(Outcome::Done);
    };
    let (Some(body), Some(subject), Ok(name)) = (first.body, first.subject, first.event.parse()) else {
        return Ok(Outcome::GiveUp {
            reason: "the first attempt's record is not complete".to_owned(),
        });
    };
    let sent = attempt(app, &scope, &webhook, &Event { name, body, subject }, *number).await?;
    if sent.succeeded {
        return Ok(Outcome::Done);
    }
    let since_first = Duration::try_from(sent.at.duration_since(first.sent_at)).unwrap_or_default();
    match sent.next_after(*number, since_first) {
        Some(wait) => {
            let mut next = job.clone();
            if let WebhookJob::Deliver {
                attempt, not_before, ..
            } = &mut next
            {
                *attempt = number.saturating_add(1);
                *not_before = Some(sent.at + wait);
            }
            Ok(Outcome::Again {
                job: next,
                after: Duration::try_from(wait).unwrap_or_default(),
            })
        }
        None if sent.is_hopeless => Ok(Outcome::GiveUp {
            reason: format!("the secret of webhook {} does not open", webhook.id),
        }),
        None => Ok(Outcome::GiveUp {
            reason: format!("webhook {} did not take the event within 24 hours", webhook.id),
        }),
    }
}

/// Whether an event's day is over, counted from its first attempt.
pub(crate) fn is_over(app: &App, first: DeliveryId) -> bool {
    let since_first = app.clock.now().as_millisecond() - first.millis();
    i64::try_from(WINDOW.as_millis()).is_ok_and(|window| since_first >= window)
}

/// What the schedule needs to know of an attempt.
struct Made {
    id: DeliveryId,
    at: Timestamp,
    succeeded: bool,
    /// No attempt can succeed as long as the webhook is what it is.
    is_hopeless: bool,
}

impl Made {
    fn next_after(&self, attempts: u32, since_first: Duration) -> Option<SignedDuration> {
        let jitter = u16::from_be_bytes(ecf_runtime::random());
        let wait = backoff(attempts, since_first, jitter).filter(|_| !self.succeeded && !self.is_hopeless)?;
        SignedDuration::try_from(wait).ok()
    }
}

/// Posts and records. The first failure keeps the bytes, so that every retry sends these, whatever the code is by then.
async fn attempt(app: &App, scope: &Scope, webhook: &Webhook, event: &Event, number: u32) -> Result<Made, StoreError> {
    let at = app.clock.now();
    let secret = open_secret(app, scope, webhook).await?;
    let is_hopeless = secret.is_none();
    let (status_code, excerpt, succeeded) = match secret {
        Some(secret) => {
            let sent = deliver(&app.client, &webhook.url, &secret, event.name, event.body.clone()).await;
            let error = sent.error.map(|error| error.to_string());
            (sent.status_code, sent.excerpt.or(error), sent.succeeded)
        }
        None => (None, Some(NO_SECRET.to_owned()), false),
    };
    let delivery = Delivery {
        id: id(at, webhook, event, number),
        event: event.name.as_str().to_owned(),
        attempt: number,
        status_code,
        response_excerpt: excerpt,
        succeeded,
        sent_at: at,
        subject: Some(event.subject),
        body: (number == 1 && !succeeded).then(|| event.body.clone()),
    };
    let id = record(app, scope, webhook, delivery).await?;
    tracing::info!(webhook = %webhook.id, subject = %event.subject, event = event.name.as_str(), attempt = number, status_code, succeeded, "delivery");
    Ok(Made {
        id,
        at,
        succeeded,
        is_hopeless,
    })
}

/// The secret that signs; `None` when what is kept does not open as this webhook's, which no retry mends.
async fn open_secret(app: &App, scope: &Scope, webhook: &Webhook) -> Result<Option<WebhookSecret>, StoreError> {
    let context = ecf_store::webhook_context(scope, &webhook.id);
    let opened = match app.vault.open(&context, &webhook.sealed_secret).await {
        Ok(opened) => opened,
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::error!(webhook = %webhook.id, error = %error, "the secret of a webhook does not open");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let text = std::str::from_utf8(&opened).ok();
    Ok(text.and_then(|text| WebhookSecret::parse(text).ok()))
}

/// The subject is part of it: two receipts' events may reach one webhook within a millisecond.
fn id(at: Timestamp, webhook: &Webhook, event: &Event, number: u32) -> DeliveryId {
    let event = format!("{} {}", event.subject, event.name.as_str());
    DeliveryId::new(at.as_millisecond(), &webhook.id, &event, number)
}

/// Records an attempt under its id, or under the next free one: 12 bits do not tell all events of a millisecond apart.
async fn record(app: &App, scope: &Scope, webhook: &Webhook, mut delivery: Delivery) -> Result<DeliveryId, StoreError> {
    for _ in 0..IDS {
        if app.table.record_delivery(scope, &webhook.id, &delivery).await? {
            return Ok(delivery.id);
        }
        // Our own record, whose answer was lost, is not in the way.
        let there = app.table.delivery(scope, &webhook.id, delivery.id).await?;
        if there.is_some_and(|there| there.subject == delivery.subject && there.attempt == delivery.attempt) {
            return Ok(delivery.id);
        }
        delivery.id = delivery.id.next();
    }
    Err(StoreError::Contended {
        operation: "record delivery",
        attempts: IDS,
    })
}
