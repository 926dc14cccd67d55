//! The circuit breaker of each host of the tax authority, one per environment, shared by every process that calls it.
//!
//! This file keeps what is known; what follows from it is decided by `ecf_taxauth`. A breaker is written when something
//! failed or changed, never by a call that went well, and only by whoever saw its newest version.

use std::{collections::BTreeMap, fmt};

use ecf::Environment;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Table,
    change::Change,
    item::{Stored, number, text},
    keys,
    write::{Applied, dice},
};
use crate::StoreError;

const VERSION: &str = "ve";
const BREAKER: &str = "br";
/// Tells our own write, whose answer was lost and repeated by the SDK, from another process's.
const WRITER: &str = "wr";

/// A host of the tax authority that receipts depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// Tokens, receipts in full and every question about them.
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

/// What is known of a host; the default is that nothing is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    /// Grows by one with each write.
    pub version: u64,
    /// By party, what failed since the last call that went well. A party is a company, or a certificate where no company
    /// is known.
    pub failures: BTreeMap<String, Failures>,
    /// Present while calls are held.
    pub open: Option<OpenBreaker>,
}

/// What failed for one party.
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
    /// From then on one call may find out whether the host is back.
    pub probe_at: Timestamp,
    /// Until when somebody is finding out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probing_until: Option<Timestamp>,
}

/// What opened a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Calls failed.
    Failures,
    /// The authority's own status service said so.
    Status,
}

/// Its attribute in the table.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failures: BTreeMap<String, Failures>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenBreaker>,
}

impl Table {
    /// Replaces a breaker, if it is still the one that was seen. Answers with the breaker as it is now, and whether this
    /// call wrote it.
    pub async fn replace_breaker(
        &self,
        environment: Environment,
        host: Host,
        seen: &Breaker,
        next: Breaker,
    ) -> Result<(Breaker, bool), StoreError> {
        let kept = Kept {
            failures: next.failures,
            open: next.open,
        };
        let kept = serde_json::to_string(&kept).expect("texts, numbers and instants are JSON");
        let writer = dice().to_string();
        let change = Change::of(keys::breaker(environment, host))
            .set(VERSION, number(seen.version + 1))
            .set(BREAKER, text(&kept))
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
    let kept: Kept = serde_json::from_str(stored.str(BREAKER)?).map_err(|error| stored.corrupt(BREAKER, error))?;
    Ok(Breaker {
        version: stored.parse(VERSION)?,
        failures: kept.failures,
        open: kept.open,
    })
}
