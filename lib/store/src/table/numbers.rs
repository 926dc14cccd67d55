//! Ranges of e-NCF numbers.
//!
//! A range belongs to one company, environment and type, and is numbered either by the service or by the caller. A
//! range that was opened without a choice is fixed by its first use. `opening.rs` opens and changes ranges, `taking.rs`
//! takes numbers from them, `holes.rs` frees the numbers of crashed requests, `counting.rs` counts the numbers that
//! callers choose, `alerts.rs` reports ranges that run low or expire. Only the lock that is written with the receipt
//! marks a number as used.
//!
//! A range is on the due index from the first taken number until every number below `next` is locked or listed as free.
//! The item that counts a type's openings is on it while one of its ranges has an expiry.

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
/// With a number appended: the time at which this freed number was taken again.
const TAKEN: &str = "taken";
/// The lowest number that was not checked since it was taken.
const CHECKED: &str = "checked";
/// The number of locked numbers in a range that the caller numbers.
const USED: &str = "used";
/// The receipt that was counted last, so that a repeated write does not count twice.
const COUNTED: &str = "counted";
/// When that count was last compared with the locks.
const VERIFIED_AT: &str = "verified_at";
/// Set while the range is switched off.
const OFF: &str = "off";
const PUBLISHED_LOW: &str = "told_low";
const PUBLISHED_EXPIRING: &str = "told_expiring";
const CREATED_AT: &str = "created_at";
const VERSION: &str = "version";

/// Upper bound of the tries when a range changes concurrently.
const ROUNDS: u32 = 16;

/// Who numbers a range.
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

/// The id of a range within its company and environment: its type and its first number, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeId {
    pub ecf_type: ReceiptType,
    pub start: u64,
}

/// A text that is not the id of a range.
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

/// A range and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub ecf_type: ReceiptType,
    pub start: u64,
    pub end: u64,
    /// The lowest number that was never taken; above `end` when all were. In a range that the caller numbers: one above
    /// the highest used number.
    pub next: u64,
    /// The count of used numbers, in a range that the caller numbers.
    pub used: u64,
    pub valid_until: Option<Fecha>,
    pub numbering: Option<Numbering>,
    /// `false` when it is switched off: it then neither gives nor accepts numbers.
    pub active: bool,
    /// Freed numbers, which are taken before `next`.
    pub free: Vec<u64>,
    /// Freed numbers that were taken again, and when, until it is known whether a receipt has them.
    pub retaken: Vec<(u64, Timestamp)>,
    /// Every lower number of this range is locked or was freed.
    pub checked: u64,
    pub last_taken_at: Option<Timestamp>,
    /// When `used` was last compared with the locks.
    pub verified_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The next look by housekeeping.
    pub next_look: Option<Timestamp>,
    /// The last number of the range when the warning about few numbers was published.
    pub published_low: Option<u64>,
    /// The last day of the range when the warning about its expiry was published.
    pub published_expiring: Option<Fecha>,
}

/// The state of a range.
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

    /// Whether the caller numbers it.
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

    /// The count of its numbers.
    pub fn total(&self) -> u64 {
        self.end + 1 - self.start
    }

    /// The count of numbers that it can still give, or that the caller can still use.
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
    /// The ranges of one type or of all, sorted by type and first number.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
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
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn range(&self, scope: &Scope, id: RangeId) -> Result<Option<Range>, StoreError> {
        let stored = self.read("read range", &key(scope, id)).await?;
        stored.as_ref().map(read_range).transpose()
    }

    /// The type's version (the count of openings and changes), and its ranges by first number.
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

    /// The range that contains a number.
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
        published_low: stored.opt_parse(PUBLISHED_LOW)?,
        published_expiring: stored.opt_parse(PUBLISHED_EXPIRING)?,
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
