//! Attempts to deliver an event to a webhook, retained for 90 days.

use jiff::{SignedDuration, Timestamp};

use super::{
    Only, Query, Sort, Table,
    item::{Bilingually, NewItem, Stored, bytes, expiry, flag, instant, number, text},
    keys::{self, SK, TTL},
};
use crate::{
    StoreError, Words,
    ids::{DeliveryId, Scope, Subject, WebhookId},
};

const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

const EVENT: &str = "event";
const ATTEMPT: &str = "attempt";
const STATUS_CODE: &str = "status_code";
const EXCERPT: Bilingually = ["excerpt", "excerpt_es"];
const SUCCEEDED: &str = "succeeded";
const SENT_AT: &str = "sent_at";
const SUBJECT: &str = "subject";
const ENCF: &str = "encf";
const BODY_SHA256: &str = "body_sha256";

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub event: String,
    pub attempt: u32,
    /// Absent when the receiver did not answer.
    pub status_code: Option<u16>,
    pub response_excerpt: Option<Words>,
    pub succeeded: bool,
    pub sent_at: Timestamp,
    /// The subject of the event; absent for tests.
    pub subject: Option<Subject>,
    /// The e-NCF in the event's body; absent in events without one and in records from before it was stored.
    pub encf: Option<String>,
    /// The hash of the sent bytes, to verify that a redelivery sends the same bytes.
    pub body_sha256: Option<[u8; 32]>,
}

impl Table {
    /// Records an attempt. Returns `false` when it was recorded before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_delivery(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        delivery: &Delivery,
    ) -> Result<bool, StoreError> {
        let item = NewItem::new(&keys::delivery(scope, webhook, delivery.id))
            .with(EVENT, text(&delivery.event))
            .with(ATTEMPT, number(delivery.attempt))
            .with_some(STATUS_CODE, delivery.status_code.map(number))
            .with_words(EXCERPT, delivery.response_excerpt.as_ref())
            .with(SUCCEEDED, flag(delivery.succeeded))
            .with(SENT_AT, instant(delivery.sent_at))
            .with_some(SUBJECT, delivery.subject.map(text))
            .with_some(ENCF, delivery.encf.as_ref().map(text))
            .with_some(BODY_SHA256, delivery.body_sha256.map(bytes))
            .with(TTL, expiry(delivery.sent_at + KEPT))
            .build();
        self.put_new("record delivery", item).await
    }

    /// The recorded delivery attempt with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn delivery(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, StoreError> {
        let stored = self.read("read delivery", &keys::delivery(scope, webhook, id)).await?;
        stored.as_ref().map(read_delivery).transpose()
    }

    /// Attempts, newest first, and their total; optionally only those of one subject.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn deliveries(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        of: Option<Subject>,
        (limit, offset): (usize, usize),
        now: Timestamp,
    ) -> Result<(Vec<Delivery>, usize), StoreError> {
        // DynamoDB removes expired items late; ids contain their time, so the query can exclude them.
        let oldest = keys::delivery_sort(DeliveryId::earliest((now - KEPT).as_millisecond()));
        let newest = keys::delivery_sort(DeliveryId::latest());
        let query = Query {
            sort: Sort::Between(SK, oldest, newest),
            newest_first: true,
            consistent: true,
            only: of.map(|subject| Only::Is(SUBJECT, text(subject))).into_iter().collect(),
            ..Query::of(keys::deliveries_partition(scope, webhook))
        };
        let total = self.count_items("count deliveries", &query).await?;
        if offset >= total || limit == 0 {
            return Ok((Vec::new(), total));
        }
        let query = Query {
            limit: Some(offset.saturating_add(limit)),
            ..query
        };
        let items = self.query("list deliveries", query).await?;
        let page = items
            .iter()
            .skip(offset)
            .take(limit)
            .map(read_delivery)
            .collect::<Result<_, _>>()?;
        Ok((page, total))
    }
}

fn read_delivery(stored: &Stored) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        id: stored.parse(SK)?,
        event: stored.str(EVENT)?.to_owned(),
        attempt: stored.parse(ATTEMPT)?,
        status_code: stored.opt_parse(STATUS_CODE)?,
        response_excerpt: stored.opt_words(EXCERPT)?,
        succeeded: stored.flag(SUCCEEDED)?,
        sent_at: stored.instant(SENT_AT)?,
        subject: stored.opt_parse(SUBJECT)?,
        encf: stored.opt_str(ENCF)?.map(str::to_owned),
        body_sha256: stored.opt_hash(BODY_SHA256)?,
    })
}
