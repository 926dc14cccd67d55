//! What has a next step, by time: a sparse index, sharded so that no partition takes every receipt.
//!
//! Housekeeping reads each shard for entries whose time has come and claims each before it queues anything, so a long
//! backlog does not make it queue one thing twice.

use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    change::Change,
    condition::{equals, exists},
    item::{Stored, text},
    keys::{self, DUE, InboxList, Key, SK},
};
use crate::{
    StoreError,
    ids::{AnnouncementId, AnnulmentId, ApprovalId, EventKey, InboxId, ReceiptId, Scope, WebhookId},
};

/// How many shards the index has.
pub const SHARDS: u8 = 8;

/// A record whose next step was due at `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueEntry {
    pub scope: Scope,
    pub record: DueRecord,
    pub at: Timestamp,
}

/// What has a next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DueRecord {
    Receipt(ReceiptId),
    /// An announcement that not everybody was told yet.
    Announcement(AnnouncementId),
    /// An event whose next attempt at a webhook has come.
    Undelivered(WebhookId, EventKey),
    /// A webhook behind which events are parked.
    Webhook(WebhookId),
    /// An approval that not both were told yet.
    Approval(ApprovalId),
    /// An annulment that the authority did not answer yet.
    Annulment(AnnulmentId),
    /// A received receipt about which the authority is asked.
    Inbox(InboxId),
    /// A P12 that a sign-up stored for its company to come.
    UnclaimedP12,
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
            DueRecord::UnclaimedP12 => keys::unclaimed_p12(&self.scope),
        }
    }
}

impl Table {
    /// The entries of one shard whose time has come, the most overdue first.
    pub async fn due_now(&self, shard: u8, now: Timestamp, limit: usize) -> Result<Vec<DueEntry>, StoreError> {
        self.due(shard, Timestamp::UNIX_EPOCH, now, false, limit).await
    }

    /// The same, the least overdue first and none that was due before `from`.
    pub async fn due_latest(
        &self,
        shard: u8,
        from: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueEntry>, StoreError> {
        self.due(shard, from, now, true, limit).await
    }

    async fn due(
        &self,
        shard: u8,
        from: Timestamp,
        to: Timestamp,
        newest_first: bool,
        limit: usize,
    ) -> Result<Vec<DueEntry>, StoreError> {
        let query = Query {
            sort: Sort::Between(DUE.sk, keys::due_sort(from), keys::due_sort(to)),
            newest_first,
            limit: Some(limit),
            ..Query::index(&DUE, keys::due_partition(shard))
        };
        let entries = self.query("read due", query).await?;
        entries
            .iter()
            .map(|entry| {
                let (scope, record) = record_of(entry)?;
                Ok(DueEntry {
                    scope,
                    record,
                    at: entry.parse(DUE.sk)?,
                })
            })
            .collect()
    }

    /// Moves an entry to its next time. `false`: somebody else did, or nothing is due any more.
    pub async fn claim_due(&self, entry: &DueEntry, next: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(entry.key())
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.applied("claim due", change).await
    }

    /// Takes an entry off the index. `false`: somebody moved it, or it is off already.
    pub async fn drop_due(&self, entry: &DueEntry) -> Result<bool, StoreError> {
        let change = Change::of(entry.key())
            .remove(&[DUE.pk, DUE.sk])
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.applied("drop due", change).await
    }

    /// Sets when housekeeping looks after a receipt that waits. `false`: nothing is due for it.
    pub async fn postpone(&self, scope: &Scope, receipt: &ReceiptId, next: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(scope, receipt))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(exists(DUE.sk));
        self.applied("postpone", change).await
    }
}

/// What an entry of the index is, by its key.
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
        Some((keys::UNCLAIMED, _)) => (keys::ending_scope(pk)?, DueRecord::UnclaimedP12),
        _ => {
            let (scope, id) = keys::parts(keys::RECEIPT, pk)?;
            (scope, DueRecord::Receipt(id))
        }
    })
}
