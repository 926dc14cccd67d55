//! Opens and changes ranges. Ranges of one type never overlap.

use ecf::{Fecha, ReceiptType};
use jiff::Timestamp;

use super::{
    CREATED_AT, END, NEXT, NUMBERING, Numbering, OFF, ROUNDS, Range, RangeId, VALID_UNTIL, VERSION, holes, key,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::exists,
        item::{NewItem, flag, instant, number, text},
        keys::{self, DUE, PK},
        write::{Part, Transacted, pause},
    },
};

/// Upper bound of the ranges of one type, because taking a number reads all of them.
pub const RANGES_PER_TYPE: usize = 50;

/// A range to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRange {
    pub ecf_type: ReceiptType,
    pub start: u64,
    pub end: u64,
    pub valid_until: Option<Fecha>,
    /// `None` when the first use decides.
    pub numbering: Option<Numbering>,
    pub created_at: Timestamp,
}

impl NewRange {
    pub fn id(&self) -> RangeId {
        RangeId {
            ecf_type: self.ecf_type,
            start: self.start,
        }
    }

    /// Whether `range` is this one, opened before.
    fn is(&self, range: &Range) -> bool {
        (self.start, self.end, self.valid_until) == (range.start, range.end, range.valid_until)
            && self
                .numbering
                .is_none_or(|numbering| range.numbering == Some(numbering))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeOpened {
    New,
    /// The same range is open already.
    Already(Range),
    /// This range of the same type overlaps.
    Overlaps(Range),
    /// The type has [`RANGES_PER_TYPE`] ranges.
    TooMany,
}

/// The changes of a range; `None` leaves a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RangeChanges {
    pub active: Option<bool>,
    /// Not below the current end.
    pub end: Option<u64>,
    pub valid_until: Option<Fecha>,
}

/// The result of changing a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeChanged {
    Now(Range),
    /// The new end is below the current one; the numbers between may be given already.
    WouldShrink(Range),
    /// This other range overlaps.
    Overlaps(Range),
    Missing,
}

impl Table {
    /// Opens a range, unless it overlaps another one of its type.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when ranges of this type keep being opened concurrently.
    pub async fn open_range(&self, scope: &Scope, new: NewRange) -> Result<RangeOpened, StoreError> {
        for attempt in 1..=ROUNDS {
            let (version, ranges) = self.ranges_of_type(scope, new.ecf_type, true).await?;
            if ranges.len() >= RANGES_PER_TYPE {
                return Ok(RangeOpened::TooMany);
            }
            if let Some(range) = ranges.into_iter().find(|range| range.overlaps(new.start, new.end)) {
                return Ok(if new.is(&range) {
                    RangeOpened::Already(range)
                } else {
                    RangeOpened::Overlaps(range)
                });
            }
            let item = NewItem::new(&keys::range(scope, new.ecf_type, new.start))
                .with(END, number(new.end))
                .with(NEXT, number(new.start))
                .with_some(VALID_UNTIL, new.valid_until.map(text))
                .with_some(NUMBERING, new.numbering.map(|numbering| text(numbering.as_str())))
                .with(CREATED_AT, instant(new.created_at))
                // Its first look takes it off again; until then, taking a number need not put it on the index.
                .with(DUE.pk, text(keys::due_ranges_partition(holes::shard_of(scope))))
                .with(DUE.sk, text(keys::due_sort(new.created_at)))
                .build();
            let parts = vec![
                Part::Update(one_version_on(scope, new.ecf_type, version, new.created_at)),
                Part::PutNew(item),
            ];
            match self.transact("open range", parts).await? {
                Transacted::Done => return Ok(RangeOpened::New),
                Transacted::Refused(_) => pause(attempt).await,
            }
        }
        Err(StoreError::Contended {
            operation: "open range",
            attempts: ROUNDS,
        })
    }

    /// Switches a range on or off, changes its expiry, or adds numbers at its end.
    ///
    /// # Errors
    /// As [`Table::open_range`].
    pub async fn change_range(
        &self,
        scope: &Scope,
        id: RangeId,
        changes: RangeChanges,
        now: Timestamp,
    ) -> Result<RangeChanged, StoreError> {
        for attempt in 1..=ROUNDS {
            let (version, ranges) = self.ranges_of_type(scope, id.ecf_type, true).await?;
            let (this, others): (Vec<_>, Vec<_>) = ranges.into_iter().partition(|range| range.id() == id);
            let Some(range) = this.into_iter().next() else {
                return Ok(RangeChanged::Missing);
            };
            let end = changes.end.unwrap_or(range.end);
            if end < range.end {
                return Ok(RangeChanged::WouldShrink(range));
            }
            if let Some(other) = others.into_iter().find(|other| other.overlaps(range.start, end)) {
                return Ok(RangeChanged::Overlaps(other));
            }
            let change = Change::of(key(scope, id))
                .set(END, number(end))
                .set_some(VALID_UNTIL, changes.valid_until.map(text))
                .when(exists(PK));
            let change = match changes.active {
                Some(true) => change.remove(&[OFF]),
                Some(false) => change.set(OFF, flag(true)),
                None => change,
            };
            let parts = vec![
                Part::Update(one_version_on(scope, id.ecf_type, version, now)),
                Part::Update(change),
            ];
            match self.transact("change range", parts).await? {
                Transacted::Done => {
                    let range = self.range(scope, id).await?;
                    return Ok(range.map_or(RangeChanged::Missing, RangeChanged::Now));
                }
                Transacted::Refused(_) => pause(attempt).await,
            }
        }
        Err(StoreError::Contended {
            operation: "change range",
            attempts: ROUNDS,
        })
    }

    /// Opens the numbers that every taxpayer has in pre-certification (technical description, environments): of each
    /// type the first half for callers that number themselves, the rest for this service. Existing ranges are
    /// unchanged.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn open_precertification_ranges(
        &self,
        scope: &Scope,
        valid_until: Fecha,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for ecf_type in ReceiptType::ALL {
            let halves = [
                (1, 4_999_999, Numbering::Caller),
                (5_000_000, 10_000_000, Numbering::Service),
            ];
            for (start, end, numbering) in halves {
                let new = NewRange {
                    ecf_type,
                    start,
                    end,
                    valid_until: ecf_type.carries_expiry().then_some(valid_until),
                    numbering: Some(numbering),
                    created_at: now,
                };
                self.open_range(scope, new).await?;
            }
        }
        Ok(())
    }
}

/// Increments the version with every opening and change, so that a request that checked an older list fails. The item
/// is due at once, so that housekeeping determines when to warn about the type's ranges.
fn one_version_on(scope: &Scope, ecf_type: ReceiptType, version: u64, now: Timestamp) -> Change {
    let change = Change::of(keys::ranges_version(scope, ecf_type))
        .set(VERSION, number(version + 1))
        .set(DUE.pk, text(keys::due_ranges_partition(holes::shard_of(scope))))
        .set(DUE.sk, text(keys::due_sort(now)));
    change.still(VERSION, (version > 0).then(|| number(version)))
}
