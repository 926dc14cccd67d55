//! One attempt at one subscription, its record, and the next attempt when it failed.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{Delivery, DeliveryId, ReceiptId, Scope, StoreError, Webhook, WebhookJob};
use ecf_webhooks::{Attempt, EventName, WebhookSecret, backoff, deliver};
use jiff::{SignedDuration, Timestamp};

use crate::App;

/// What is told, in the bytes that every attempt repeats.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: EventName,
    pub(crate) body: Vec<u8>,
    pub(crate) receipt: ReceiptId,
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
            receipt: Some(event.receipt),
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
    let (Some(body), Some(receipt), Ok(name)) = (first.body, first.receipt, first.event.parse()) else {
        return Ok(Outcome::GiveUp {
            reason: "the first attempt's record is not complete".to_owned(),
        });
    };
    let sent = attempt(app, &scope, &webhook, &Event { name, body, receipt }, *number).await?;
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
        None => Ok(Outcome::GiveUp {
            reason: format!("webhook {} did not take the event within 24 hours", webhook.id),
        }),
    }
}

/// What the schedule needs to know of an attempt.
struct Made {
    id: DeliveryId,
    at: Timestamp,
    succeeded: bool,
}

impl Made {
    fn next_after(&self, attempts: u32, since_first: Duration) -> Option<SignedDuration> {
        let jitter = u16::from_be_bytes(ecf_runtime::random());
        let wait = backoff(attempts, since_first, jitter).filter(|_| !self.succeeded)?;
        SignedDuration::try_from(wait).ok()
    }
}

/// Posts and records. The first failure keeps the bytes, so that every retry sends these, whatever the code is by then.
async fn attempt(app: &App, scope: &Scope, webhook: &Webhook, event: &Event, number: u32) -> Result<Made, StoreError> {
    let at = app.clock.now();
    let sealed = app
        .vault
        .open(&ecf_store::webhook_context(scope, &webhook.id), &webhook.sealed_secret)
        .await?;
    let secret = std::str::from_utf8(&sealed)
        .ok()
        .and_then(|secret| WebhookSecret::parse(secret).ok());
    let Some(secret) = secret else {
        return Err(StoreError::corrupt(
            webhook.id.to_string(),
            "secret",
            "is not a webhook secret",
        ));
    };
    let Attempt {
        status_code,
        excerpt,
        succeeded,
        error,
    } = deliver(&app.client, &webhook.url, &secret, event.name, event.body.clone()).await;
    let id = DeliveryId::new(at.as_millisecond(), &webhook.id, event.name.as_str(), number);
    let delivery = Delivery {
        id,
        event: event.name.as_str().to_owned(),
        attempt: number,
        status_code,
        response_excerpt: excerpt.or(error.map(|error| error.to_string())),
        succeeded,
        sent_at: at,
        receipt: Some(event.receipt),
        body: (number == 1 && !succeeded).then(|| event.body.clone()),
    };
    app.table.record_delivery(scope, &webhook.id, &delivery).await?;
    tracing::info!(webhook = %webhook.id, receipt.id = %event.receipt, event = event.name.as_str(), attempt = number, status_code, succeeded, "delivery");
    Ok(Made { id, at, succeeded })
}
