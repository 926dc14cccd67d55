//! The tax authority's answer about a received receipt.
//!
//! The question is repeated until the answer is final; meanwhile the item is on the due index. The document whose
//! security code the authority confirms gets the number, and supersedes the other documents with that number.

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
/// Upper bound of the tries when the item changes concurrently.
const ROUNDS: usize = 5;

/// The tax authority's answer about a received receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorityState {
    /// There is no answer yet.
    Pending,
    Accepted,
    ConditionallyAccepted,
    Rejected,
    /// After three days the authority does not have this document.
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

    /// Whether the authority accepted this document.
    pub const fn is_acceptance(self) -> bool {
        matches!(self, Self::Accepted | Self::ConditionallyAccepted)
    }
}

impl Table {
    /// Claims the next question, and sets the time of the one after it. Returns `false` when another attempt has it, or
    /// the answer is final.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
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

    /// Records a final answer with its announcement. An accepted document gets the number, and supersedes the other
    /// documents with that number.
    ///
    /// # Errors
    /// Fails when DynamoDB fails, and when the item keeps changing. The item stays on the due index then.
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
        // The other documents first: while they are open, the item is on the due index.
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

    /// Gives the number to the confirmed document, even if another one was first.
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

    /// A document that the authority does not confirm loses its number.
    async fn release_number(&self, scope: &Scope, item: &InboxItem) -> Result<(), StoreError> {
        let number = Change::of(keys::received_lock(scope, &item.rnc_emisor, &item.encf))
            .remove(&[PROVEN])
            .when(equals(ID, text(item.id)));
        self.apply("release number of unconfirmed receipt", number).await?;
        Ok(())
    }

    /// Changes an item and its copy in its list. A change with an announcement is final, so it takes the item off the
    /// due index.
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
                // The announcement exists: an earlier attempt succeeded, and its answer was lost.
                Transacted::Refused(refused) if refused.get(2).is_some_and(Option::is_some) => return Ok(()),
                Transacted::Refused(_) => {}
            }
        }
        Err(StoreError::retry(operation, "the item keeps changing"))
    }
}
