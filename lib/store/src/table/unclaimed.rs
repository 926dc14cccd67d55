//! P12 secrets whose company does not exist yet.
//!
//! A sign-up stores the P12 first and creates the company last. A failure in between would leave a private key without
//! an owner in the vault. Therefore a record is written before the P12: an hour later housekeeping checks whether the
//! company exists.

use jiff::{SignedDuration, Timestamp};

use super::{
    Table, due,
    item::{NewItem, text},
    keys::{self, DUE},
};
use crate::{StoreError, ids::Scope};

/// Every sign-up is finished by then.
const LOOKED_AT_AFTER: SignedDuration = SignedDuration::from_hours(1);

impl Table {
    /// Records that a P12 is about to be stored for a company that does not exist yet.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or the record exists: ids are random, so two sign-ups never share one.
    pub async fn record_unclaimed_p12(&self, scope: &Scope, now: Timestamp) -> Result<(), StoreError> {
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

    /// Removes the record. Returns `false` when it was removed before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn drop_unclaimed_p12(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.delete("drop unclaimed P12", &keys::unclaimed_p12(scope)).await
    }
}
