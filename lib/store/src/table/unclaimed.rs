//! P12 secrets whose company is not there yet.
//!
//! A sign-up stores the P12 first and makes the company last. Whatever fails in between would leave a private key in the vault that
//! belongs to nobody, so a note is written before it: an hour later housekeeping looks whether the company came to be.

use jiff::{SignedDuration, Timestamp};

use super::{
    Table, due,
    item::{NewItem, text},
    keys::{self, DUE},
};
use crate::{StoreError, ids::Scope};

/// By then no sign-up is under way any more.
const LOOKED_AT_AFTER: SignedDuration = SignedDuration::from_hours(1);

impl Table {
    /// Notes that a P12 is about to be stored for a company that is not there yet.
    ///
    /// # Errors
    /// Also when there is such a note: ids are drawn at random, so nobody else has this one.
    pub async fn note_unclaimed_p12(&self, scope: &Scope, now: Timestamp) -> Result<(), StoreError> {
        let operation = "note unclaimed P12";
        let shard = scope.company.spread() % due::SHARDS;
        let item = NewItem::new(&keys::unclaimed_p12(scope))
            .with(DUE.pk, text(keys::due_partition(shard)))
            .with(DUE.sk, text(keys::due_sort(now + LOOKED_AT_AFTER)))
            .build();
        if self.put_new(operation, item).await? {
            return Ok(());
        }
        Err(StoreError::unexpected(
            operation,
            format!("company {} has one", scope.company),
        ))
    }

    /// Drops the note. `false`: it was dropped before.
    pub async fn drop_unclaimed_p12(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.delete("drop unclaimed P12", &keys::unclaimed_p12(scope)).await
    }
}
