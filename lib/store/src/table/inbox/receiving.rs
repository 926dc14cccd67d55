//! Stores a received receipt.
//!
//! Anyone can send a document that names any issuer. Therefore a number belongs to a document only when its signer is
//! trusted or the tax authority confirmed it; until then several documents with the same number may coexist. Each
//! document is stored once: the hash of its signature is the key of a lock. (The security code has only six characters,
//! so an attacker could reproduce it.)

use ecf::{Encf, Rnc};

use super::{ID, InboxItem, InboxList, PROVEN, read, stored};
use crate::{
    ContentHash, StoreError,
    ids::{InboxId, Scope},
    table::{
        Table,
        announcements::{self, Announcement},
        change::Change,
        condition::absent,
        item::{NewItem, flag, text},
        keys,
        write::{Part, Transacted},
    },
};

/// The result of storing a received receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxItemCreated {
    New,
    /// This document is stored already, or its number belongs to another document.
    Duplicate,
}

impl Table {
    /// Stores a receipt together with its announcement. Its documents are in the bucket already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn store_received(
        &self,
        scope: &Scope,
        item: &InboxItem,
        signature: &ContentHash,
        news: &Announcement,
    ) -> Result<InboxItemCreated, StoreError> {
        let copy = keys::received_copy(scope, &item.rnc_emisor, &item.encf, signature);
        let number = Change::of(keys::received_lock(scope, &item.rnc_emisor, &item.encf)).when(absent(PROVEN));
        let number = if item.proves_its_number() {
            number.set(ID, text(item.id)).set(PROVEN, flag(true))
        } else {
            number.set_once(ID, text(item.id))
        };
        let parts = vec![
            Part::PutNew(NewItem::new(&copy).with(ID, text(item.id)).build()),
            Part::Update(number),
            Part::PutNew(stored(scope, InboxList::All, item)),
            Part::PutNew(stored(scope, InboxList::Unread, item)),
            Part::PutNew(announcements::item(scope, news)),
        ];
        match self.transact("store received receipt", parts).await {
            Ok(Transacted::Done) => Ok(InboxItemCreated::New),
            Ok(Transacted::Refused(_)) => Ok(InboxItemCreated::Duplicate),
            // Perhaps only the answer was lost: the lock of the copy shows whose it is.
            Err(error) if error.is_retryable() => match self.read("read received copy", &copy).await? {
                Some(copy) if copy.parse::<InboxId>(ID)? == item.id => Ok(InboxItemCreated::New),
                Some(_) => Ok(InboxItemCreated::Duplicate),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Whether this document is stored already, or its number belongs to another document.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn was_received(
        &self,
        scope: &Scope,
        rnc_emisor: &Rnc,
        encf: &Encf,
        signature: &ContentHash,
        xml: &ContentHash,
    ) -> Result<bool, StoreError> {
        let copy = keys::received_copy(scope, rnc_emisor, encf, signature);
        let number = keys::received_lock(scope, rnc_emisor, encf);
        let (copy, number) = futures::try_join!(
            self.read("read received copy", &copy),
            self.read("read received number", &number)
        )?;
        let Some(number) = number.filter(|_| copy.is_none()) else {
            return Ok(copy.is_some());
        };
        if number.has(PROVEN) {
            return Ok(true);
        }
        // Older records have no lock of the copy.
        let first = self.inbox_item(scope, &number.parse(ID)?).await?;
        Ok(first.is_some_and(|first| first.xml == *xml))
    }

    /// The receipt with this number: the document to which the number belongs, otherwise the first one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn received(
        &self,
        scope: &Scope,
        rnc_emisor: &Rnc,
        encf: &Encf,
    ) -> Result<Option<InboxItem>, StoreError> {
        let number = keys::received_lock(scope, rnc_emisor, encf);
        match self.read("read received number", &number).await? {
            Some(number) => self.inbox_item(scope, &number.parse(ID)?).await,
            None => Ok(None),
        }
    }

    /// The received receipt with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn inbox_item(&self, scope: &Scope, id: &InboxId) -> Result<Option<InboxItem>, StoreError> {
        let key = keys::inbox_item(scope, InboxList::All, id);
        let stored = self.read("read inbox item", &key).await?;
        stored.as_ref().map(read).transpose()
    }
}
