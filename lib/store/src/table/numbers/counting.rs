//! Counts the used numbers of a range that the caller numbers.
//!
//! The request counts its number after the receipt is stored, with one write to the range. That write is not part of
//! the receipt's transaction: the range is a hot item, and two transactions on one item conflict. So a count can be
//! lost with its request, or counted twice when an answer is lost. Housekeeping compares the count with the locks once
//! no number was used for some minutes, and the operator's check does the same on demand. See `docs/decisions/0021`.

use std::ops::RangeInclusive;

use ecf::ReceiptType;
use jiff::{SignedDuration, Timestamp};

use super::{
    COUNTED, DueRange, LAST_TAKEN_AT, NEXT, NUMBERING, Numbering, ROUNDS, Range, USED, VERIFIED_AT, holes, key,
    read_range, taking::next_look,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Query, Sort, Table,
        change::Change,
        condition::{above, absent, at_most, differs, equals, exists},
        item::{instant, number, text},
        keys::{self, DUE, LOCK_PARTITIONS, PK, SK},
        receipts::Receipt,
        write::Applied,
    },
};

/// A range with more used numbers is compared with its locks once a day only, because a comparison reads all locks.
const LARGE: u64 = 20_000;
const LARGE_SPACING: SignedDuration = SignedDuration::from_hours(24);

/// The used numbers according to the locks, in a range that the caller numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedNumbers {
    /// The count of locked numbers.
    pub used: u64,
    /// One above the highest locked number; the first number of the range when none is locked.
    pub next: u64,
}

impl Range {
    /// When its count may be compared with the locks: after `quiet` without a new number, and for a large range a day
    /// after the last comparison. `None` when no number was ever used.
    pub fn verifiable_from(&self, quiet: SignedDuration) -> Option<Timestamp> {
        let quiet_from = self.last_taken_at? + quiet;
        Some(match self.verified_at {
            Some(at) if self.used > LARGE => quiet_from.max(at + LARGE_SPACING),
            _ => quiet_from,
        })
    }

    /// Whether its count agrees with the locks.
    pub fn agrees(&self, counted: UsedNumbers) -> bool {
        (self.used, self.next) == (counted.used, counted.next)
    }
}

impl Table {
    /// Counts the number of a new receipt, in a range that the caller numbers. A number that an earlier receipt left
    /// was counted with that receipt. `range` is the range from the claim of the number.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when other writers keep changing the record.
    pub async fn count_callers_number(
        &self,
        scope: &Scope,
        range: &Range,
        receipt: &Receipt,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let operation = "count number";
        let Some(encf) = receipt.encf().filter(|_| receipt.predecessor.is_none()) else {
            return Ok(());
        };
        let id = receipt.public_id.to_string();
        let mut range = range.clone();
        for _ in 1..=ROUNDS {
            let change = count_change(scope, &range, encf.sequence(), &id, now);
            match self.apply(operation, change).await? {
                Applied::Done(_) | Applied::Refused(None) => return Ok(()),
                // This write succeeded before, and its answer was lost.
                Applied::Refused(Some(stored)) if stored.opt_str(COUNTED)? == Some(&id) => return Ok(()),
                Applied::Refused(Some(stored)) => range = read_range(&stored)?,
            }
            if !range.is_callers() {
                return Ok(());
            }
        }
        Err(StoreError::Contended {
            operation,
            attempts: ROUNDS,
        })
    }

    /// Has the counts of the ranges with these numbers compared with the locks soon: numbers may have been
    /// locked or given back without being counted.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn recount_soon(
        &self,
        scope: &Scope,
        ecf_type: ReceiptType,
        numbers: RangeInclusive<u64>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ranges = self.ranges_of_type(scope, ecf_type, false).await?.1;
        for range in ranges
            .iter()
            .filter(|range| range.is_callers() && range.overlaps(*numbers.start(), *numbers.end()))
        {
            let change = touched(Change::of(key(scope, range.id())), scope, range, now).when(exists(PK));
            self.apply("recount soon", change).await?;
        }
        Ok(())
    }

    /// Counts the locks of a range; reads all of them.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn used_numbers_of(&self, scope: &Scope, range: &Range) -> Result<UsedNumbers, StoreError> {
        let in_partition = |place: u64| async move {
            let query = || Query {
                sort: Sort::Between(SK, keys::lock_sort(range.start), keys::lock_sort(range.end)),
                ..Query::of(keys::lock_partition(scope, range.ecf_type, place))
            };
            let used = self.count_items("count e-NCF locks", &query()).await?;
            let last = Query {
                newest_first: true,
                limit: Some(1),
                ..query()
            };
            let last = self.query("read last e-NCF lock", last).await?;
            let highest: Option<u64> = last.first().map(|lock| lock.parse(SK)).transpose()?;
            Ok::<_, StoreError>((used as u64, highest))
        };
        let partitions = futures::future::try_join_all((0..LOCK_PARTITIONS).map(in_partition)).await?;
        let highest = partitions.iter().filter_map(|(_, highest)| *highest).max();
        Ok(UsedNumbers {
            used: partitions.iter().map(|(used, _)| used).sum(),
            next: highest.map_or(range.start, |highest| highest + 1),
        })
    }

    /// Sets the count to the number of locks. `due` is the due entry of this look, which ends with it. Returns `false`
    /// when the range changed since it was read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn correct_used_numbers(
        &self,
        scope: &Scope,
        seen: &Range,
        counted: UsedNumbers,
        due: Option<&DueRange>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let some = |used: u64| (used > 0).then(|| number(used));
        let change = Change::of(key(scope, seen.id()))
            .set_or_remove(USED, some(counted.used))
            .set(NEXT, number(counted.next))
            .set(VERIFIED_AT, instant(now))
            .still(USED, some(seen.used))
            .still(NEXT, Some(number(seen.next)))
            .still(NUMBERING, Some(text(Numbering::Caller.as_str())))
            .still(LAST_TAKEN_AT, seen.last_taken_at.map(instant));
        let change = match due {
            Some(due) => change
                .remove(&[DUE.pk, DUE.sk])
                .still(DUE.sk, Some(text(keys::due_sort(due.at)))),
            None => change,
        };
        self.applied("correct used numbers", change).await
    }
}

/// Counts one more used number. When the write fails because `next` has changed, the caller reads again and retries.
fn count_change(scope: &Scope, range: &Range, sequence: u64, receipt: &str, now: Timestamp) -> Change {
    let change = touched(Change::of(key(scope, range.id())), scope, range, now)
        .add(USED, number(1))
        .set(COUNTED, text(receipt))
        .when(equals(NUMBERING, text(Numbering::Caller.as_str())))
        .when(absent(COUNTED).or(differs(COUNTED, text(receipt))));
    if sequence >= range.next {
        return change
            .set(NEXT, number(sequence + 1))
            .when(at_most(NEXT, number(sequence)));
    }
    change.when(above(NEXT, number(sequence)))
}

/// Puts the range on the due index; while it is there, that costs no index write.
fn touched(change: Change, scope: &Scope, range: &Range, now: Timestamp) -> Change {
    change
        .set(LAST_TAKEN_AT, instant(now))
        .set(DUE.pk, text(keys::due_ranges_partition(holes::shard_of(scope))))
        .set(DUE.sk, text(keys::due_sort(next_look(range, now))))
}

#[cfg(test)]
mod tests {
    use ecf::{Environment, Fecha};

    use super::{super::RangeState, *};
    use crate::ids::CompanyId;

    fn range() -> Range {
        Range {
            ecf_type: ReceiptType::E31,
            start: 1,
            end: 100_000,
            next: 51,
            used: 50,
            valid_until: None,
            numbering: Some(Numbering::Caller),
            active: true,
            free: Vec::new(),
            retaken: Vec::new(),
            checked: 1,
            last_taken_at: None,
            verified_at: None,
            created_at: Timestamp::UNIX_EPOCH,
            next_look: None,
            published_low: None,
            published_expiring: None,
        }
    }

    #[test]
    fn a4_what_is_left_follows_from_what_is_used_and_not_from_the_highest_number() {
        let mut range = range();
        range.next = range.end + 1;
        assert_eq!((range.available(), range.is_exhausted()), (99_950, false));
        range.used = range.total();
        let today: Fecha = "28-11-2026".parse().unwrap();
        assert_eq!((range.available(), range.state(today)), (0, RangeState::Exhausted));
    }

    #[test]
    fn a4_one_write_counts_and_only_a_higher_number_moves_next() {
        let scope = Scope {
            company: CompanyId::from_random([1; 20]),
            environment: Environment::TesteCF,
        };
        let range = range();
        let higher = count_change(&scope, &range, 51, "r", Timestamp::UNIX_EPOCH);
        assert!(higher.condition().ends_with("AND #next <= :next"));
        let lower = count_change(&scope, &range, 50, "r", Timestamp::UNIX_EPOCH);
        assert!(lower.condition().ends_with("AND #next > :next"));
    }

    #[test]
    fn a4_a_range_is_verified_once_it_is_quiet_and_a_large_one_once_a_day() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let quiet = SignedDuration::from_mins(3);
        let mut range = range();
        assert_eq!(range.verifiable_from(quiet), None);
        range.last_taken_at = Some(at("2026-11-28T12:00:00Z"));
        range.verified_at = Some(at("2026-11-28T11:00:00Z"));
        assert_eq!(range.verifiable_from(quiet), Some(at("2026-11-28T12:03:00Z")));
        range.used = LARGE + 1;
        assert_eq!(range.verifiable_from(quiet), Some(at("2026-11-29T11:00:00Z")));
    }
}
