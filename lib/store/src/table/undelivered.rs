//! Undelivered events of a webhook, with the bytes that every attempt repeats.
//!
//! A record is created when a first attempt failed, or instead of an attempt when the webhook is failing anyway. While
//! it has attempts of its own, it is on the due index; otherwise it is *parked*, and the webhook's entry on the index
//! recovers it. It is removed when the event is delivered or given up, and expires soon after its day.

use jiff::{SignedDuration, Timestamp};

use super::{
    Query, Sort, Table,
    change::Change,
    condition::{absent, at_most, equals},
    due::SHARDS,
    item::{NewItem, Stored, bytes, expiry, instant, number, text},
    keys::{self, DUE, SK, TTL},
};
use crate::{
    StoreError,
    ids::{EventKey, Scope, WebhookId},
};

/// Longer than any retry.
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

const EVENT: &str = "event";
const BODY: &str = "body";
const SINCE: &str = "since";
const ATTEMPTS: &str = "attempts";
const LEASE: &str = "lu";

/// An event that waits for a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    pub key: EventKey,
    pub event: String,
    pub body: Vec<u8>,
    /// The start of its retry period: the first attempt, or the parking instead of it.
    pub since: Timestamp,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// The next attempt; `None` when it is parked.
    pub due_at: Option<Timestamp>,
}

impl Table {
    /// Stores an event for later attempts. Returns `false` when it is stored already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn store_undelivered(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        new: &Undelivered,
    ) -> Result<bool, StoreError> {
        let item = NewItem::new(&keys::undelivered(scope, webhook, &new.key))
            .with(EVENT, text(&new.event))
            .with(BODY, bytes(&new.body))
            .with(SINCE, instant(new.since))
            .with(ATTEMPTS, number(new.attempts))
            .with_some(DUE.pk, new.due_at.map(|_| text(shard_partition(webhook))))
            .with_some(DUE.sk, new.due_at.map(|at| text(keys::due_sort(at))))
            .with(TTL, expiry(new.since + KEPT))
            .build();
        self.put_new("keep undelivered", item).await
    }

    /// The event, if it still waits for the webhook.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn undelivered(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        key: &EventKey,
    ) -> Result<Option<Undelivered>, StoreError> {
        let stored = self
            .read("read undelivered", &keys::undelivered(scope, webhook, key))
            .await?;
        stored.as_ref().map(read_undelivered).transpose()
    }

    /// The events that wait for a webhook, oldest first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn undelivered_of(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        limit: usize,
    ) -> Result<Vec<Undelivered>, StoreError> {
        let query = Query {
            sort: Sort::All,
            consistent: true,
            limit: Some(limit),
            ..Query::of(keys::undelivered_partition(scope, webhook))
        };
        let items = self.query("list undelivered", query).await?;
        items.iter().map(read_undelivered).collect()
    }

    /// Claims the next attempt. A lease excludes other workers until `until`; then the due index recovers the event.
    /// Returns `false` when another worker has it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_undelivered(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        seen: &Undelivered,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = due_at(Change::of(keys::undelivered(scope, webhook, &seen.key)), webhook, until)
            .set(ATTEMPTS, number(seen.attempts.saturating_add(1)))
            .set(LEASE, instant(until))
            .when(equals(ATTEMPTS, number(seen.attempts)))
            .when(absent(LEASE).or(at_most(LEASE, instant(now))));
        self.applied("claim undelivered", change).await
    }

    /// Sets the next attempt after `attempts` of them; `None` parks the event. Returns `false` when a later attempt has
    /// started.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn postpone_undelivered(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        key: &EventKey,
        attempts: u32,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::undelivered(scope, webhook, key)).remove(&[LEASE]);
        let change = match next {
            Some(next) => due_at(change, webhook, next),
            None => change.remove(&[DUE.pk, DUE.sk]),
        };
        let change = change.when(equals(ATTEMPTS, number(attempts)));
        self.applied("postpone undelivered", change).await
    }

    /// Removes an event that was delivered or given up. Returns `false` when it was removed before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn forget_undelivered(
        &self,
        scope: &Scope,
        webhook: &WebhookId,
        key: &EventKey,
    ) -> Result<bool, StoreError> {
        self.delete("forget undelivered", &keys::undelivered(scope, webhook, key))
            .await
    }
}

/// The events of one webhook are on one shard: a failing webhook has few entries, a working one none.
pub(super) fn shard_partition(webhook: &WebhookId) -> String {
    keys::due_partition(webhook.spread() % SHARDS)
}

/// Puts a webhook's record on the due index.
pub(super) fn due_at(change: Change, webhook: &WebhookId, at: Timestamp) -> Change {
    change
        .set(DUE.pk, text(shard_partition(webhook)))
        .set(DUE.sk, text(keys::due_sort(at)))
}

fn read_undelivered(stored: &Stored) -> Result<Undelivered, StoreError> {
    Ok(Undelivered {
        key: stored.parse(SK)?,
        event: stored.str(EVENT)?.to_owned(),
        body: stored.bytes(BODY)?.to_vec(),
        since: stored.instant(SINCE)?,
        attempts: stored.parse(ATTEMPTS)?,
        due_at: stored.opt_parse(DUE.sk)?,
    })
}
