//! The due index: records with a next step, by time. Sparse, and sharded so that the receipts are spread over
//! partitions.
//!
//! Housekeeping reads each shard for due entries and claims each entry before it enqueues a job, so that a step of a
//! long backlog is not enqueued twice.

use std::num::NonZeroUsize;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Query, Sort, Table,
    change::Change,
    condition::{equals, exists},
    item::{Item, Stored, text},
    keys::{self, DUE, InboxList, Key, PK, SK},
};
use crate::{
    StoreError,
    ids::{AnnouncementId, AnnulmentId, ApprovalId, EventKey, InboxId, ReceiptId, RunId, Scope, WebhookId},
};

/// The number of shards of the index.
pub const SHARDS: u8 = 8;

/// A record whose next step was due at `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueEntry {
    pub scope: Scope,
    pub record: DueRecord,
    pub at: Timestamp,
}

/// A record with a next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DueRecord {
    Receipt(ReceiptId),
    /// An announcement that is not delivered to every subscriber yet.
    Announcement(AnnouncementId),
    /// An event whose next delivery attempt is due.
    Undelivered(WebhookId, EventKey),
    /// A webhook with parked events.
    Webhook(WebhookId),
    /// An approval that is not sent to both recipients yet.
    Approval(ApprovalId),
    /// An annulment without an answer of the authority.
    Annulment(AnnulmentId),
    /// A received receipt that the authority is asked about.
    Inbox(InboxId),
    /// A run of the certification whose rows are sent.
    Run(RunId),
    /// A P12 that a sign-up stored before its company exists.
    UnclaimedP12,
}

/// A position in the due index: a shard, and the last entry that was read there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuePlace {
    shard: u8,
    after: Option<IndexKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexKey {
    at: String,
    pk: String,
    sk: String,
}

/// The due entries of one shard.
#[derive(Debug, Default)]
pub struct Due {
    pub entries: Vec<DueEntry>,
    /// Why entries could not be read: a later version wrote them before it was rolled back.
    pub unreadable: Vec<StoreError>,
}

/// A part of the due index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuePart {
    pub entries: Vec<DueEntry>,
    /// The number of entries of this part that this version cannot read.
    pub unreadable: usize,
    /// The position of the next part; `None` after the last one.
    pub next: Option<DuePlace>,
}

pub(super) fn shard_of(receipt: &ReceiptId) -> u8 {
    receipt.spread() % SHARDS
}

impl DueEntry {
    fn key(&self) -> Key {
        match &self.record {
            DueRecord::Receipt(id) => keys::receipt(&self.scope, id),
            DueRecord::Announcement(id) => keys::announcement(&self.scope, id),
            DueRecord::Undelivered(webhook, event) => keys::undelivered(&self.scope, webhook, event),
            DueRecord::Webhook(id) => keys::webhook(&self.scope, id),
            DueRecord::Approval(id) => keys::approval(&self.scope, id),
            DueRecord::Annulment(id) => keys::annulment(&self.scope, id),
            DueRecord::Inbox(id) => keys::inbox_item(&self.scope, InboxList::All, id),
            DueRecord::Run(id) => keys::run(&self.scope, id),
            DueRecord::UnclaimedP12 => keys::unclaimed_p12(&self.scope),
        }
    }
}

impl Table {
    /// The due entries of one shard, the most overdue first, at most `limit` that this version can read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn due_now(&self, shard: u8, now: Timestamp, limit: usize) -> Result<Due, StoreError> {
        self.due(shard, Timestamp::UNIX_EPOCH, now, false, limit).await
    }

    /// The due entries of one shard, the least overdue first, without those due before `from`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn due_latest(
        &self,
        shard: u8,
        from: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<Due, StoreError> {
        self.due(shard, from, now, true, limit).await
    }

    async fn due(
        &self,
        shard: u8,
        from: Timestamp,
        to: Timestamp,
        newest_first: bool,
        limit: usize,
    ) -> Result<Due, StoreError> {
        let mut due = Due::default();
        let mut after: Option<IndexKey> = None;
        loop {
            let missing = limit - due.entries.len();
            let query = Query {
                sort: Sort::Between(DUE.sk, keys::due_sort(from), keys::due_sort(to)),
                newest_first,
                limit: Some(missing),
                ..Query::index(&DUE, keys::due_partition(shard))
            };
            let start = after.map(|after| after.start(shard));
            let mut found = self.query_from("read due", query, start).await?;
            found.truncate(missing);
            for entry in &found {
                match read_entry(entry) {
                    Ok(entry) => due.entries.push(entry),
                    Err(error) => due.unreadable.push(error),
                }
            }
            let last = found
                .last()
                .filter(|_| found.len() == missing && due.entries.len() < limit);
            let Some(last) = last else { return Ok(due) };
            after = Some(IndexKey::of(last)?);
        }
    }

    /// The entries of the index from a position, at most `limit`, due or not.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn walk_due(&self, at: Option<DuePlace>, limit: NonZeroUsize) -> Result<DuePart, StoreError> {
        let mut entries = Vec::new();
        let mut unreadable = 0;
        let mut next = Some(at.unwrap_or(DuePlace { shard: 0, after: None }));
        while let Some(place) = next.take_if(|_| entries.len() + unreadable < limit.get()) {
            let missing = limit.get() - entries.len() - unreadable;
            let query = Query {
                limit: Some(missing),
                ..Query::index(&DUE, keys::due_partition(place.shard))
            };
            let start = place.after.map(|after| after.start(place.shard));
            let mut found = self.query_from("walk due", query, start).await?;
            found.truncate(missing);
            next = match found.last() {
                Some(last) if found.len() == missing => Some(DuePlace {
                    shard: place.shard,
                    after: Some(IndexKey::of(last)?),
                }),
                _ => place.shard.checked_add(1).map(|shard| DuePlace { shard, after: None }),
            };
            next = next.filter(|place| place.shard < SHARDS);
            let before = entries.len();
            entries.extend(found.iter().filter_map(|entry| read_entry(entry).ok()));
            unreadable += found.len() - (entries.len() - before);
        }
        Ok(DuePart {
            entries,
            unreadable,
            next,
        })
    }

    /// Moves an entry to its next time. Returns `false` when another process moved it, or nothing is due any more.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_due(&self, entry: &DueEntry, next: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(entry.key())
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.applied("claim due", change).await
    }

    /// Takes an entry off the index. `false`: somebody moved it, or it is off already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn drop_due(&self, entry: &DueEntry) -> Result<bool, StoreError> {
        let change = Change::of(entry.key())
            .remove(&[DUE.pk, DUE.sk])
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.applied("drop due", change).await
    }

    /// Sets the next look at a waiting receipt. Returns `false` when the receipt is not on the index.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn postpone(&self, scope: &Scope, receipt: &ReceiptId, next: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(scope, receipt))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(exists(DUE.sk));
        self.applied("postpone", change).await
    }
}

impl IndexKey {
    fn of(entry: &Stored) -> Result<Self, StoreError> {
        Ok(Self {
            at: entry.str(DUE.sk)?.to_owned(),
            pk: entry.pk()?.to_owned(),
            sk: entry.sk()?.to_owned(),
        })
    }

    fn start(self, shard: u8) -> Item {
        Item::from([
            (DUE.pk.to_owned(), text(keys::due_partition(shard))),
            (DUE.sk.to_owned(), text(self.at)),
            (PK.to_owned(), text(self.pk)),
            (SK.to_owned(), text(self.sk)),
        ])
    }
}

fn read_entry(entry: &Stored) -> Result<DueEntry, StoreError> {
    let (scope, record) = record_of(entry)?;
    Ok(DueEntry {
        scope,
        record,
        at: entry.parse(DUE.sk)?,
    })
}

/// The record of an index entry, from its key.
fn record_of(entry: &Stored) -> Result<(Scope, DueRecord), StoreError> {
    let pk = entry.pk()?;
    Ok(match pk.split_once('#') {
        Some((keys::ANNOUNCEMENT, _)) => {
            let (scope, id) = keys::parts(keys::ANNOUNCEMENT, pk)?;
            (scope, DueRecord::Announcement(id))
        }
        Some((keys::APPROVAL, _)) => {
            let (scope, id) = keys::parts(keys::APPROVAL, pk)?;
            (scope, DueRecord::Approval(id))
        }
        Some((keys::ANNULMENT, _)) => {
            let (scope, id) = keys::parts(keys::ANNULMENT, pk)?;
            (scope, DueRecord::Annulment(id))
        }
        Some((keys::UNDELIVERED, _)) => {
            let (scope, webhook) = keys::parts(keys::UNDELIVERED, pk)?;
            (scope, DueRecord::Undelivered(webhook, entry.parse(SK)?))
        }
        Some((keys::WEBHOOKS, _)) => {
            let id = entry.sk()?.strip_prefix(keys::WEBHOOK).unwrap_or_default();
            let id = id.parse().map_err(|error| entry.corrupt(SK, error))?;
            (keys::ending_scope(pk)?, DueRecord::Webhook(id))
        }
        Some((keys::INBOX, _)) => (keys::ending_scope(pk)?, DueRecord::Inbox(entry.parse(SK)?)),
        Some((keys::RUNS, _)) => (keys::ending_scope(pk)?, DueRecord::Run(entry.parse(SK)?)),
        Some((keys::UNCLAIMED, _)) => (keys::ending_scope(pk)?, DueRecord::UnclaimedP12),
        _ => {
            let (scope, id) = keys::parts(keys::RECEIPT, pk)?;
            (scope, DueRecord::Receipt(id))
        }
    })
}
