//! Companies whose receipts are held while the authority is unreachable.
//!
//! The record exists from the first held receipt until the outage is over, so that the end is announced also to a company
//! that issues nothing in the meantime. It is not on the due index: an earlier version of housekeeping cannot read a kind of
//! record there that it does not know. One partition per environment is enough for one write per company and outage.

use ecf::{Environment, Rnc};
use jiff::{SignedDuration, Timestamp};

use super::{
    Query, Table,
    condition::equals,
    item::{NewItem, Stored, expiry, instant, text, to_millis},
    keys::{self, SK, TTL},
};
use crate::{
    StoreError,
    ids::{CompanyId, Scope},
};

const REASON: &str = "reason";
const SINCE: &str = "since";
const BEGUN_AT: &str = "begun_at";
const RNC: &str = "rnc";
const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

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
    pub scope: Scope,
    pub company_rnc: Rnc,
    pub outage: Outage,
    /// When it was noticed.
    pub begun_at: Timestamp,
}

impl Table {
    /// The contingency of a company's environment.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn contingency(&self, scope: &Scope) -> Result<Option<Contingency>, StoreError> {
        let stored = self.read("read contingency", &keys::contingency(scope)).await?;
        stored.map(|stored| read(scope.environment, &stored)).transpose()
    }

    /// All contingencies of an environment.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn contingencies(&self, environment: Environment) -> Result<Vec<Contingency>, StoreError> {
        let query = Query::of(keys::contingencies(environment));
        let found = self.query("read contingencies", query).await?;
        found.iter().map(|stored| read(environment, stored)).collect()
    }

    /// Records a contingency. Returns `false` when the company has one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn begin_contingency(&self, new: &Contingency) -> Result<bool, StoreError> {
        let item = NewItem::new(&keys::contingency(&new.scope))
            .with(REASON, text(new.outage.reason.as_str()))
            .with(SINCE, instant(new.outage.since))
            .with(BEGUN_AT, instant(new.begun_at))
            .with(RNC, text(&new.company_rnc))
            .with(TTL, expiry(new.begun_at + KEPT))
            .build();
        self.put_new("begin contingency", item).await
    }

    /// Removes a contingency. Returns `false` when it was removed before, or when another one began.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn end_contingency(&self, seen: &Contingency) -> Result<bool, StoreError> {
        let same = equals(BEGUN_AT, instant(to_millis(seen.begun_at)));
        self.delete_when("end contingency", &keys::contingency(&seen.scope), same)
            .await
    }
}

fn read(environment: Environment, stored: &Stored) -> Result<Contingency, StoreError> {
    let company: CompanyId = stored.parse(SK)?;
    Ok(Contingency {
        scope: Scope { company, environment },
        company_rnc: stored.parse(RNC)?,
        outage: Outage {
            reason: stored.one_of(REASON, &OutageReason::ALL, OutageReason::as_str)?,
            since: stored.instant(SINCE)?,
        },
        begun_at: stored.instant(BEGUN_AT)?,
    })
}
