//! What the tax authority says of a received receipt.
//!
//! The question is asked until the answer is final; the item is on the due index meanwhile. The document whose security code the
//! authority confirms gets the number, and the others of that number are superseded.

use jiff::{SignedDuration, Timestamp};

use super::{ASKED, AUTHORITY, AUTHORITY_AT, ID, InboxItem, InboxList, PROVEN, REVISION, SUPERSEDED_BY, current_list};
use crate::{
    StoreError,
    ids::{InboxId, Scope},
    table::{
        Query, Table,
        announcements::{self, Announcement},
        change::Change,
        condition::{equals, exists},
        item::{flag, instant, number, text},
        keys::{self, DUE, Key, PK},
        write::{Part, Transacted},
    },
};

/// When housekeeping asks about a receipt whose first question was lost.
pub(super) const FIRST_LOOK: SignedDuration = SignedDuration::from_mins(2);
/// How often a write is repeated because the item changed meanwhile.
const ROUNDS: usize = 5;

/// What the tax authority says of a received receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorityState {
    /// Not known yet.
    Pending,
    Accepted,
    ConditionallyAccepted,
    Rejected,
    /// After days the authority has no such document: other bytes of the number, or none.
    NotFound,
}

impl AuthorityState {
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Accepted,
        Self::ConditionallyAccepted,
        Self::Rejected,
        Self::NotFound,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::ConditionallyAccepted => "conditionally_accepted",
            Self::Rejected => "rejected",
            Self::NotFound => "not_found",
        }
    }

    /// Whether the authority holds this very document as valid.
    pub const fn is_acceptance(self) -> bool {
        matches!(self, Self::Accepted | Self::ConditionallyAccepted)
    }
}

impl Table {
    /// Begins the next question, and says when the one after it is due. `false`: another attempt has it, or the answer is known.
    pub async fn claim_confirmation(
        &self,
        scope: &Scope,
        seen: &InboxItem,
        next: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::inbox_item(scope, InboxList::All, &seen.id))
            .set(ASKED, number(seen.asked.saturating_add(1)))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(exists(DUE.sk))
            .still(ASKED, (seen.asked > 0).then(|| number(seen.asked)));
        self.applied("claim confirmation", change).await
    }

    /// Records a final answer with its announcement. An accepted document gets the number, and the others of that number are
    /// superseded.
    ///
    /// # Errors
    /// Also when the item keeps changing. The item stays on the due index then.
    pub async fn record_confirmation(
        &self,
        scope: &Scope,
        id: &InboxId,
        state: AuthorityState,
        now: Timestamp,
        news: &Announcement,
    ) -> Result<(), StoreError> {
        let Some(item) = self.inbox_item(scope, id).await? else {
            return Ok(());
        };
        // The others first: while they are open, the item is on the due index.
        if state.is_acceptance() {
            self.give_number(scope, &item).await?;
        } else {
            self.release_number(scope, &item).await?;
        }
        self.change_item(scope, id, Some(news), |change| {
            change
                .set(AUTHORITY, text(state.as_str()))
                .set(AUTHORITY_AT, instant(now))
        })
        .await
    }

    /// The confirmed document holds its number from now on, whatever came first.
    async fn give_number(&self, scope: &Scope, item: &InboxItem) -> Result<(), StoreError> {
        let number = Change::of(keys::received_lock(scope, &item.rnc_emisor, &item.encf))
            .set(ID, text(item.id))
            .set(PROVEN, flag(true));
        self.apply("give number to confirmed receipt", number).await?;
        let copies = Query::of(keys::received_copies(scope, &item.rnc_emisor, &item.encf));
        for copy in self.query("read documents of a number", copies).await? {
            let other: InboxId = copy.parse(ID)?;
            if other != item.id {
                self.change_item(scope, &other, None, |change| change.set(SUPERSEDED_BY, text(item.id)))
                    .await?;
            }
        }
        Ok(())
    }

    /// A document that the authority does not confirm holds no number.
    async fn release_number(&self, scope: &Scope, item: &InboxItem) -> Result<(), StoreError> {
        let number = Change::of(keys::received_lock(scope, &item.rnc_emisor, &item.encf))
            .remove(&[PROVEN])
            .when(equals(ID, text(item.id)));
        self.apply("release number of unconfirmed receipt", number).await?;
        Ok(())
    }

    /// Changes an item and its copy in the list that it is in. With an announcement the change is final: nothing is due then.
    async fn change_item(
        &self,
        scope: &Scope,
        id: &InboxId,
        news: Option<&Announcement>,
        change: impl Fn(Change) -> Change,
    ) -> Result<(), StoreError> {
        let operation = "change inbox item";
        for _ in 0..ROUNDS {
            let Some(item) = self.inbox_item(scope, id).await? else {
                return Ok(());
            };
            let on = |key: Key| change(Change::of(key));
            let revision = (item.revision > 0).then(|| number(item.revision));
            let mut record = on(keys::inbox_item(scope, InboxList::All, id))
                .set(REVISION, number(item.revision.saturating_add(1)))
                .still(REVISION, revision);
            if news.is_some() {
                record = record.remove(&[DUE.pk, DUE.sk]);
            }
            let copy = on(keys::inbox_item(scope, current_list(&item), id)).when(exists(PK));
            let mut parts = vec![Part::Update(record), Part::Update(copy)];
            parts.extend(news.map(|news| Part::PutNew(announcements::item(scope, news))));
            match self.transact(operation, parts).await? {
                Transacted::Done => return Ok(()),
                // The announcement is there: an earlier attempt was recorded, and its answer was lost.
                Transacted::Refused(refused) if refused.get(2).is_some_and(Option::is_some) => return Ok(()),
                Transacted::Refused(_) => {}
            }
        }
        Err(StoreError::retry(operation, "the item keeps changing"))
    }
}
