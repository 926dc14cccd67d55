//! Announcements: events other than a receipt's verdict, with their bytes, until every subscriber was notified.
//!
//! An announcement is written before the message that starts its delivery. Until it is delivered, the record is on the
//! due index, so a lost message is recovered. It is retained for 90 days, so that the same announcement is not made
//! twice.

use jiff::{SignedDuration, Timestamp};

use super::{
    Table,
    change::Change,
    condition::exists,
    due,
    item::{Item, NewItem, Stored, bytes, expiry, instant, text},
    keys::{self, DUE, TTL},
};
use crate::{
    StoreError,
    ids::{AnnouncementId, Scope},
};

const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);
/// When housekeeping first looks at an announcement that was not delivered.
const FIRST_LOOK: SignedDuration = SignedDuration::from_mins(10);

const EVENT: &str = "event";
const BODY: &str = "body";
const AT: &str = "at";

/// An event and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub id: AnnouncementId,
    pub event: String,
    /// The body of every delivery attempt.
    pub body: Vec<u8>,
    pub at: Timestamp,
}

impl Table {
    /// Stores an announcement that is not delivered yet. Returns `false` when it exists already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn create_announcement(&self, scope: &Scope, new: &Announcement) -> Result<bool, StoreError> {
        self.put_new("create announcement", item(scope, new)).await
    }

    /// The announcement with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn announcement(&self, scope: &Scope, id: &AnnouncementId) -> Result<Option<Announcement>, StoreError> {
        let stored = self.read("read announcement", &keys::announcement(scope, id)).await?;
        stored.as_ref().map(|stored| read_announcement(*id, stored)).transpose()
    }

    /// The announcement, if it is not delivered yet.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn undelivered_announcement(
        &self,
        scope: &Scope,
        id: &AnnouncementId,
    ) -> Result<Option<Announcement>, StoreError> {
        let stored = self.read("read announcement", &keys::announcement(scope, id)).await?;
        let undelivered = stored.filter(|stored| stored.has(DUE.sk));
        undelivered
            .as_ref()
            .map(|stored| read_announcement(*id, stored))
            .transpose()
    }

    /// Takes an announcement off the due index. Returns `false` when it was off already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_announcement_delivered(&self, scope: &Scope, id: &AnnouncementId) -> Result<bool, StoreError> {
        let change = Change::of(keys::announcement(scope, id))
            .remove(&[DUE.pk, DUE.sk])
            .when(exists(DUE.sk));
        self.applied("announcement told", change).await
    }
}

pub(super) fn item(scope: &Scope, new: &Announcement) -> Item {
    let shard = new.id.spread() % due::SHARDS;
    NewItem::new(&keys::announcement(scope, &new.id))
        .with(EVENT, text(&new.event))
        .with(BODY, bytes(&new.body))
        .with(AT, instant(new.at))
        .with(DUE.pk, text(keys::due_partition(shard)))
        .with(DUE.sk, text(keys::due_sort(new.at + FIRST_LOOK)))
        .with(TTL, expiry(new.at + KEPT))
        .build()
}

fn read_announcement(id: AnnouncementId, stored: &Stored) -> Result<Announcement, StoreError> {
    Ok(Announcement {
        id,
        event: stored.str(EVENT)?.to_owned(),
        body: stored.bytes(BODY)?.to_vec(),
        at: stored.instant(AT)?,
    })
}
