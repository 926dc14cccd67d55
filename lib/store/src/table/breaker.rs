//! The circuit breaker of each host of the tax authority, one per environment, shared by every process that calls it.
//!
//! This file stores the state of a breaker; `ecf_taxauth` decides what follows from it. A breaker is written only after
//! a failure or a change, never for a successful call, and only by a process that read its newest version.

use std::{collections::BTreeMap, fmt};

use ecf::Environment;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Table,
    change::Change,
    item::{Stored, number, text},
    keys,
    write::{Applied, random},
};
use crate::StoreError;

const VERSION: &str = "ve";
const BREAKER: &str = "br";
/// Distinguishes our own write, whose answer was lost and which the SDK repeated, from another process's.
const WRITER: &str = "wr";

/// A host of the tax authority that receipts depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// Tokens, complete receipts and all questions about them.
    Ecf,
    /// Summaries of consumer invoices.
    Fc,
}

impl Host {
    pub const ALL: [Self; 2] = [Self::Ecf, Self::Fc];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ecf => "ecf",
            Self::Fc => "fc",
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a host; the default has no failures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    /// Incremented with each write.
    pub version: u64,
    /// Failures since the last success, by party. A party is a company, or a certificate where the company is unknown.
    pub failures: BTreeMap<String, Failures>,
    /// Present while calls are held.
    pub open: Option<OpenBreaker>,
}

/// The failures of one party.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    pub first: Timestamp,
    pub last: Timestamp,
    pub count: u32,
}

/// An open breaker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenBreaker {
    pub since: Timestamp,
    pub cause: Cause,
    /// From then on one call may probe whether the host is back.
    pub probe_at: Timestamp,
    /// The end of the current probe's lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probing_until: Option<Timestamp>,
}

/// The cause of an open breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Calls failed.
    Failures,
    /// The authority's own status service reported it.
    Status,
}

/// The attribute in the table.
#[derive(Serialize, Deserialize)]
struct BreakerAttribute {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failures: BTreeMap<String, Failures>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenBreaker>,
}

impl Table {
    /// Replaces a breaker, if it is unchanged since it was read. Returns the current breaker, and whether this call
    /// wrote it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn replace_breaker(
        &self,
        environment: Environment,
        host: Host,
        seen: &Breaker,
        next: Breaker,
    ) -> Result<(Breaker, bool), StoreError> {
        let attribute = BreakerAttribute {
            failures: next.failures,
            open: next.open,
        };
        let attribute = serde_json::to_string(&attribute).expect("texts, numbers and instants are JSON");
        let writer = random().to_string();
        let change = Change::of(keys::breaker(environment, host))
            .set(VERSION, number(seen.version + 1))
            .set(BREAKER, text(&attribute))
            .set(WRITER, text(&writer));
        let change = change.still(VERSION, (seen.version > 0).then(|| number(seen.version)));
        match self.apply("replace breaker", change).await? {
            Applied::Done(stored) => Ok((read(&stored)?, true)),
            Applied::Refused(Some(stored)) => {
                let is_ours = stored.opt_str(WRITER)? == Some(writer.as_str());
                Ok((read(&stored)?, is_ours))
            }
            Applied::Refused(None) => Ok((Breaker::default(), false)),
        }
    }
}

pub(super) fn read(stored: &Stored) -> Result<Breaker, StoreError> {
    let attribute: BreakerAttribute =
        serde_json::from_str(stored.str(BREAKER)?).map_err(|error| stored.corrupt(BREAKER, error))?;
    Ok(Breaker {
        version: stored.parse(VERSION)?,
        failures: attribute.failures,
        open: attribute.open,
    })
}
