//! Companies whose receipts are held while the authority is unreachable.
//!
//! The record exists from the first held receipt until the outage is over. It is on the due index, so housekeeping
//! announces the end also to a company that issues nothing in the meantime.

use ecf::Rnc;
use jiff::Timestamp;

use super::{
    Table, due,
    item::{NewItem, Stored, instant, text},
    keys::{self, DUE},
};
use crate::{StoreError, ids::Scope};

const REASON: &str = "reason";
const SINCE: &str = "since";
const RNC: &str = "rnc";

/// Why and since when calls to the authority are held in an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    pub reason: OutageReason,
    pub since: Timestamp,
}

/// Why calls to the authority are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageReason {
    /// An announced maintenance window.
    Maintenance,
    /// Calls failed.
    Unreachable,
    /// The authority's status service reported it.
    Reported,
}

impl OutageReason {
    const ALL: [Self; 3] = [Self::Maintenance, Self::Unreachable, Self::Reported];

    /// The name in the table, in responses and in events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Maintenance => "maintenance",
            Self::Unreachable => "unreachable",
            Self::Reported => "reported",
        }
    }
}

/// A company with held receipts, and the outage in which the first of them was held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    pub company_rnc: Rnc,
    pub outage: Outage,
}

impl Table {
    /// The contingency of a company's environment.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn contingency(&self, scope: &Scope) -> Result<Option<Contingency>, StoreError> {
        let stored = self.read("read contingency", &keys::contingency(scope)).await?;
        stored.as_ref().map(read).transpose()
    }

    /// Records a contingency; housekeeping looks at it at `look`. Returns `false` when there is one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn begin_contingency(
        &self,
        scope: &Scope,
        new: &Contingency,
        look: Timestamp,
    ) -> Result<bool, StoreError> {
        let shard = scope.company.spread() % due::SHARDS;
        let item = NewItem::new(&keys::contingency(scope))
            .with(REASON, text(new.outage.reason.as_str()))
            .with(SINCE, instant(new.outage.since))
            .with(RNC, text(&new.company_rnc))
            .with(DUE.pk, text(keys::due_partition(shard)))
            .with(DUE.sk, text(keys::due_sort(look)))
            .build();
        self.put_new("begin contingency", item).await
    }

    /// Removes a contingency. Returns `false` when it was removed before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn end_contingency(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.delete("end contingency", &keys::contingency(scope)).await
    }
}

fn read(stored: &Stored) -> Result<Contingency, StoreError> {
    Ok(Contingency {
        company_rnc: stored.parse(RNC)?,
        outage: Outage {
            reason: stored.one_of(REASON, &OutageReason::ALL, OutageReason::as_str)?,
            since: stored.instant(SINCE)?,
        },
    })
}
