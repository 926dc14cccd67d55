//! Ranges of e-NCF numbers.
//!
//! A range belongs to one company, environment and type, and is numbered either by the service or by the caller;
//! a range that was opened without saying which is fixed by its first use. `opening.rs` opens and changes ranges,
//! `taking.rs` takes numbers from them, `holes.rs` finds the numbers whose request died and frees them, `counting.rs`
//! counts the numbers that callers choose, `alerts.rs` reports when a range runs low or out of time. The lock written
//! with the receipt is what makes a number used; it is the only judge.
//!
//! A range is on the due index from a take on until every number below `next` is locked or listed as free. The item that
//! counts a type's openings is on it while one of its ranges has an expiry to warn of.

mod alerts;
mod counting;
mod holes;
mod opening;
mod taking;

use std::{fmt, str::FromStr};

use ecf::{Encf, Fecha, ReceiptType};
use jiff::Timestamp;

pub use alerts::{RangeAlert, Thresholds};
pub use counting::UsedNumbers;
pub use holes::{DueNumbers, DueRange, DueType, RANGE_SHARDS, RangeReviewed};
pub use opening::{NewRange, RANGES_PER_TYPE, RangeChanged, RangeChanges, RangeOpened};
pub use taking::{CallerTake, NextNumber};

use super::{
    Query, Sort, Table,
    item::Stored,
    keys::{self, DUE, SK},
};
use crate::{StoreError, ids::Scope};

const END: &str = "last";
const NEXT: &str = "next";
const VALID_UNTIL: &str = "valid_until";
const NUMBERING: &str = "numbering";
const FREE: &str = "free";
const LAST_TAKEN_AT: &str = "last_taken_at";
/// With a number after it: when this number, which was free, was taken again.
const TAKEN: &str = "taken";
/// The lowest number that nobody has looked at since it was taken.
const CHECKED: &str = "checked";
/// How many numbers of a range that the caller numbers are locked.
const USED: &str = "used";
/// The receipt that was counted last: the same write, repeated, must not count twice.
const COUNTED: &str = "counted";
/// When that count was last compared with the locks.
const VERIFIED_AT: &str = "verified_at";
/// Set while the range is switched off.
const OFF: &str = "off";
const TOLD_LOW: &str = "told_low";
const TOLD_EXPIRING: &str = "told_expiring";
const CREATED_AT: &str = "created_at";
const VERSION: &str = "version";

/// How often a range is read again because others changed it in between.
const ROUNDS: u32 = 16;

/// Who gives the numbers of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    Service,
    Caller,
}

impl Numbering {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Caller => "caller",
        }
    }
}

/// What names a range within its company and environment: its type and its first number, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeId {
    pub ecf_type: ReceiptType,
    pub start: u64,
}

/// A text that names no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no range: a type and a first number were expected, such as 31-1")]
pub struct RangeIdError(String);

impl fmt::Display for RangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ecf_type.as_str(), self.start)
    }
}

impl FromStr for RangeId {
    type Err = RangeIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let id = text.split_once('-').and_then(|(ecf_type, start)| {
            Some(Self {
                ecf_type: ecf_type.parse().ok()?,
                start: start.parse().ok()?,
            })
        });
        id.filter(|id| id.to_string() == text)
            .ok_or_else(|| RangeIdError(text.to_owned()))
    }
}

/// A range as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub ecf_type: ReceiptType,
    pub start: u64,
    pub end: u64,
    /// The lowest number that was never taken; above `end` when all were. Where the caller numbers: one above the
    /// highest number that is used.
    pub next: u64,
    /// How many numbers are used, where the caller numbers.
    pub used: u64,
    pub valid_until: Option<Fecha>,
    pub numbering: Option<Numbering>,
    /// `false`: switched off, so that it gives no number and takes none.
    pub active: bool,
    /// Freed numbers, which are taken before `next`.
    pub free: Vec<u64>,
    /// Numbers that were free and are taken again, and when, until it shows whether a receipt got them.
    pub retaken: Vec<(u64, Timestamp)>,
    /// Every lower number of this range is locked or was freed.
    pub checked: u64,
    pub last_taken_at: Option<Timestamp>,
    /// When `used` was last compared with the locks.
    pub verified_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When housekeeping looks after this range.
    pub next_look: Option<Timestamp>,
    /// The last number that it had when it was told as low.
    pub told_low: Option<u64>,
    /// The last day that it had when it was told as expiring.
    pub told_expiring: Option<Fecha>,
}

/// What can be said of a range in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeState {
    Active,
    /// Switched off.
    Inactive,
    Expired,
    /// Every number was given, or used by the caller.
    Exhausted,
}

impl RangeState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Expired => "expired",
            Self::Exhausted => "exhausted",
        }
    }
}

impl Range {
    pub fn id(&self) -> RangeId {
        RangeId {
            ecf_type: self.ecf_type,
            start: self.start,
        }
    }

    pub fn contains(&self, sequence: u64) -> bool {
        (self.start..=self.end).contains(&sequence)
    }

    pub fn is_exhausted(&self) -> bool {
        self.available() == 0
    }

    /// Whether the caller gives its numbers.
    pub fn is_callers(&self) -> bool {
        self.numbering == Some(Numbering::Caller)
    }

    pub fn is_expired(&self, today: Fecha) -> bool {
        self.valid_until.is_some_and(|last_day| last_day < today)
    }

    /// Whether the service may take a number from it today.
    pub fn gives_numbers(&self, today: Fecha) -> bool {
        !self.is_callers() && self.state(today) == RangeState::Active
    }

    pub fn state(&self, today: Fecha) -> RangeState {
        if !self.active {
            RangeState::Inactive
        } else if self.is_expired(today) {
            RangeState::Expired
        } else if self.is_exhausted() {
            RangeState::Exhausted
        } else {
            RangeState::Active
        }
    }

    /// How many numbers it holds.
    pub fn total(&self) -> u64 {
        self.end + 1 - self.start
    }

    /// How many numbers it can still give, or the caller can still use.
    pub fn available(&self) -> u64 {
        if self.is_callers() {
            return self.total().saturating_sub(self.used);
        }
        (self.end + 1).saturating_sub(self.next) + self.free.len() as u64
    }

    fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start <= end && start <= self.end
    }
}

impl Table {
    /// The ranges of one type or of all, by type and first number.
    pub async fn ranges(&self, scope: &Scope, ecf_type: Option<ReceiptType>) -> Result<Vec<Range>, StoreError> {
        if let Some(ecf_type) = ecf_type {
            return Ok(self.ranges_of_type(scope, ecf_type, true).await?.1);
        }
        let query = Query {
            consistent: true,
            ..Query::of(keys::ranges_partition(scope))
        };
        let items = self.query("list ranges", query).await?;
        items.iter().filter(|item| !item.has(VERSION)).map(read_range).collect()
    }

    /// One range.
    pub async fn range(&self, scope: &Scope, id: RangeId) -> Result<Option<Range>, StoreError> {
        let stored = self.read("read range", &key(scope, id)).await?;
        stored.as_ref().map(read_range).transpose()
    }

    /// The type's version (how often a range was opened or changed) and its ranges by first number.
    async fn ranges_of_type(
        &self,
        scope: &Scope,
        ecf_type: ReceiptType,
        consistent: bool,
    ) -> Result<(u64, Vec<Range>), StoreError> {
        let query = Query {
            sort: Sort::BeginsWith(SK, ecf_type.as_str().to_owned()),
            consistent,
            ..Query::of(keys::ranges_partition(scope))
        };
        let mut version = 0;
        let mut ranges = Vec::new();
        for stored in self.query("read ranges", query).await? {
            match stored.opt_parse(VERSION)? {
                Some(found) => version = found,
                None => ranges.push(read_range(&stored)?),
            }
        }
        Ok((version, ranges))
    }

    /// The range that holds a number.
    async fn range_of(&self, scope: &Scope, encf: &Encf) -> Result<Option<Range>, StoreError> {
        let holds = |range: &Range| range.contains(encf.sequence());
        let ranges = self.ranges_of_type(scope, encf.receipt_type(), false).await?.1;
        if let Some(range) = ranges.into_iter().find(holds) {
            return Ok(Some(range));
        }
        // It may have been opened a moment ago.
        let ranges = self.ranges_of_type(scope, encf.receipt_type(), true).await?.1;
        Ok(ranges.into_iter().find(holds))
    }
}

fn key(scope: &Scope, id: RangeId) -> keys::Key {
    keys::range(scope, id.ecf_type, id.start)
}

fn read_range(stored: &Stored) -> Result<Range, StoreError> {
    let (ecf_type, start) = keys::range_parts(stored.sk()?).ok_or_else(|| stored.corrupt(SK, "is not a range's"))?;
    let numbering = match stored.opt_str(NUMBERING)? {
        None => None,
        Some("service") => Some(Numbering::Service),
        Some("caller") => Some(Numbering::Caller),
        Some(other) => return Err(stored.corrupt(NUMBERING, format!("is {other}"))),
    };
    let mut retaken = Vec::new();
    for name in stored.names() {
        if let Some(sequence) = name.strip_prefix(TAKEN) {
            let sequence = sequence.parse().map_err(|error| stored.corrupt(TAKEN, error))?;
            retaken.push((sequence, stored.instant_named(name, TAKEN)?));
        }
    }
    retaken.sort_unstable();
    Ok(Range {
        ecf_type,
        start,
        end: stored.parse(END)?,
        next: stored.parse(NEXT)?,
        used: stored.opt_parse(USED)?.unwrap_or(0),
        valid_until: stored.opt_parse(VALID_UNTIL)?,
        numbering,
        active: !stored.has(OFF),
        free: stored.numbers(FREE)?,
        retaken,
        checked: stored.opt_parse(CHECKED)?.unwrap_or(start),
        last_taken_at: stored.opt_instant(LAST_TAKEN_AT)?,
        verified_at: stored.opt_instant(VERIFIED_AT)?,
        created_at: stored.instant(CREATED_AT)?,
        next_look: stored.opt_parse(DUE.sk)?,
        told_low: stored.opt_parse(TOLD_LOW)?,
        told_expiring: stored.opt_parse(TOLD_EXPIRING)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranges_id_reads_back_and_has_one_spelling() {
        let id = RangeId {
            ecf_type: ReceiptType::E31,
            start: 5_000_000,
        };
        assert_eq!(id.to_string(), "31-5000000");
        assert_eq!("31-5000000".parse(), Ok(id));
        for wrong in ["31-05000000", "31-", "31", "99-1", "31-1-2", "31-+1", ""] {
            assert!(wrong.parse::<RangeId>().is_err(), "{wrong}");
        }
    }
}
