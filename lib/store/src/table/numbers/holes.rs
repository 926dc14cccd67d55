//! Frees the numbers of crashed requests.
//!
//! A number that was taken and is not locked is a hole. It is dead, and goes to the free list, when a later number's
//! lock, or its own taking, is older than any running request can be. Freeing a number whose request is still running
//! does no harm: the lock decides who gets it. The range records how far it was checked, so each lock is read once.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::{Encf, ReceiptType};
use jiff::{SignedDuration, Timestamp};

use super::{CHECKED, FREE, NEXT, Numbering, Range, RangeId, TAKEN, key, read_range};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Query, Sort, Table,
        change::Change,
        condition::{absent, equals, exists, size_equals},
        item::{instant, number, text},
        keys::{self, DUE, LOCK_PARTITIONS, PK, SK},
        receipts::{LOCK_TAKEN_AT, OutboxEntry, Receipt},
        write::Applied,
    },
};

/// The number of partitions of the due index that hold ranges.
pub const RANGE_SHARDS: u8 = 4;
/// Upper bound of the free list of a range, so that its item stays small.
const MOST_FREE: usize = 100;
/// Upper bound of the free list for numbers that a rejection left. The lock of their receipt names them too; a number whose request
/// died is in no other place.
const MOST_LEFT: usize = MOST_FREE / 2;

/// How many numbers of a range one look covers.
const WINDOW: u64 = 4_000;
/// How many numbers that were freed and taken again one look checks; each is a term of one condition.
const MOST_RETAKEN: usize = 20;

/// A range that is due since `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRange {
    pub scope: Scope,
    pub id: RangeId,
    pub at: Timestamp,
}

/// A type that is due since `at`, because the passage of time alone may call for a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueType {
    pub scope: Scope,
    pub ecf_type: ReceiptType,
    pub at: Timestamp,
}

/// A due entry about numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueNumbers {
    Range(DueRange),
    Type(DueType),
}

/// The result of a look for dead numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeReviewed {
    /// The range afterwards.
    pub range: Range,
    /// The count of freed numbers.
    pub freed: usize,
    /// Whether another look would find more right now.
    pub more: bool,
}

pub(super) fn shard_of(scope: &Scope) -> u8 {
    scope.company.spread() % RANGE_SHARDS
}

impl Range {
    /// Whether the free list is full. Dead numbers then wait until a number is taken.
    pub fn is_full(&self) -> bool {
        self.free.len() >= MOST_FREE
    }

    /// Whether every taken number is known to be locked or free.
    pub fn is_settled(&self) -> bool {
        self.is_callers() || (self.checked >= self.next && self.retaken.is_empty())
    }
}

impl Table {
    /// The due ranges and types of one shard, the most overdue first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn due_numbers(&self, shard: u8, now: Timestamp, limit: usize) -> Result<Vec<DueNumbers>, StoreError> {
        let query = Query {
            sort: Sort::Between(DUE.sk, keys::due_sort(Timestamp::UNIX_EPOCH), keys::due_sort(now)),
            limit: Some(limit),
            ..Query::index(&DUE, keys::due_ranges_partition(shard))
        };
        let entries = self.query("read due numbers", query).await?;
        entries
            .iter()
            .map(|entry| {
                let scope = keys::ranges_scope(entry.pk()?)?;
                let at = entry.parse(DUE.sk)?;
                Ok(match keys::range_parts(entry.sk()?) {
                    Some((ecf_type, start)) => DueNumbers::Range(DueRange {
                        scope,
                        id: RangeId { ecf_type, start },
                        at,
                    }),
                    None => DueNumbers::Type(DueType {
                        scope,
                        ecf_type: entry.parse(SK)?,
                        at,
                    }),
                })
            })
            .collect()
    }

    /// Sets the next look at a type's ranges, or takes the type off the index, unless another process did or a range
    /// was opened or changed since.
    pub async fn put_off_type(&self, entry: &DueType, next: Option<Timestamp>) -> Result<(), StoreError> {
        let change = Change::of(keys::ranges_version(&entry.scope, entry.ecf_type))
            .due_at(next)
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.apply("put off type", change).await?;
        Ok(())
    }

    /// Frees the dead numbers among those that were taken and not checked yet, a bounded number at a time.
    ///
    /// [`Table::put_off_range`], which ends the look, stores how far the range was checked.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn free_dead_numbers(
        &self,
        entry: &DueRange,
        range: Range,
        dead_after: SignedDuration,
        now: Timestamp,
    ) -> Result<RangeReviewed, StoreError> {
        if range.is_settled() {
            return Ok(RangeReviewed::nothing_more(range));
        }
        let scope = &entry.scope;
        let window_end = range.next.min(range.checked + WINDOW);
        let locks = self
            .locks_between(scope, range.ecf_type, range.checked, window_end)
            .await?;
        let mut review = Review::of(&range, &locks, window_end, now - dead_after);
        for &(sequence, taken_at) in range.retaken.iter().take(MOST_RETAKEN) {
            let encf = Encf::new(range.ecf_type, sequence)
                .map_err(|error| StoreError::corrupt(key(scope, range.id()), TAKEN, error))?;
            let is_used = match self.receipt_by_encf(scope, &encf).await? {
                Some(owner) => !owner.left_its_number(),
                None => false,
            };
            review.judge_retaken(sequence, taken_at, is_used, now - dead_after);
        }
        let freed = review.dead.len();
        let more = review.checked == window_end && window_end < range.next;
        let range = if review.dead.is_empty() && review.forgotten.is_empty() {
            Range {
                checked: review.checked,
                ..range
            }
        } else {
            match self.apply("free numbers", review_change(entry, &review)).await? {
                Applied::Done(stored) => read_range(&stored)?,
                // Another run is processing it.
                Applied::Refused(_) => return Ok(RangeReviewed::nothing_more(range)),
            }
        };
        Ok(RangeReviewed { range, freed, more })
    }

    /// Ends a look: stores how far the range was checked, and the next look, if one is due. Returns `false` when the
    /// range changed since it was read; the findings may be outdated then, and it stays due.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn put_off_range(
        &self,
        entry: &DueRange,
        range: &Range,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let free = match range.free.len() {
            0 => absent(FREE),
            free => size_equals(FREE, number(free)),
        };
        let change = end_of_look(entry, range, next)
            .when(equals(NEXT, number(range.next)))
            .when(free);
        self.applied("put off range", change).await
    }

    /// Ends a look at a range that needs another one, whatever changed since.
    pub async fn look_again(&self, entry: &DueRange, range: &Range, next: Timestamp) -> Result<(), StoreError> {
        let change = end_of_look(entry, range, Some(next));
        self.apply("look again", change).await?;
        Ok(())
    }

    /// Postpones a range that failed, so that it is not the first in every run.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn give_up_look(&self, entry: &DueRange, next: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(key(&entry.scope, entry.id))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.apply("give up look", change).await?;
        Ok(())
    }

    /// Releases a number that a rejection left free, once: adds it to the free list if the service numbers its range
    /// and less than half of the list is used, and removes the entry from the receipt's outbox.
    ///
    /// The lock stays with the rejected receipt until another receipt takes the number.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn free_left_number(&self, receipt: &Receipt) -> Result<(), StoreError> {
        let scope = &receipt.scope;
        if let Some(encf) = receipt.encf()
            && let Some(range) = self.range_of(scope, encf).await?
            && range.numbering == Some(Numbering::Service)
            && range.free.len() < MOST_LEFT
            // Notes wait for a successor that names the number, so it must not go to another buyer's receipt.
            && receipt.waiting_notes.is_empty()
            // A caller that names the number may have taken it already.
            && self.number_left_by(scope, encf).await?.is_some()
        {
            let change = Change::of(key(scope, range.id()))
                .add(FREE, AttributeValue::Ns(vec![encf.sequence().to_string()]))
                .when(exists(PK));
            self.apply("list number as free", change).await?;
        }
        self.outbox_done(scope, &receipt.public_id, OutboxEntry::Number).await?;
        Ok(())
    }

    /// The locks of the numbers from `from` to before `to`, and when each number was taken.
    async fn locks_between(
        &self,
        scope: &Scope,
        ecf_type: ReceiptType,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<u64, Timestamp>, StoreError> {
        let mut locks = BTreeMap::new();
        // A short stretch has numbers in some of the partitions only.
        for first in from..to.min(from + LOCK_PARTITIONS) {
            let query = Query {
                sort: Sort::Between(SK, keys::lock_sort(from), keys::lock_sort(to - 1)),
                consistent: true,
                ..Query::of(keys::lock_partition(scope, ecf_type, first))
            };
            for lock in self.query("read e-NCF locks", query).await? {
                locks.insert(lock.parse(SK)?, lock.instant(LOCK_TAKEN_AT)?);
            }
        }
        Ok(locks)
    }
}

/// The process that moves the entry has the look; of two concurrent ones, one ends it.
fn end_of_look(entry: &DueRange, range: &Range, next: Option<Timestamp>) -> Change {
    let change = Change::of(key(&entry.scope, entry.id)).when(equals(DUE.sk, text(keys::due_sort(entry.at))));
    let change = if range.checked > range.start {
        change.set(CHECKED, number(range.checked))
    } else {
        change
    };
    change.due_at(next)
}

/// The write that stores the findings, while the look is not ended.
fn review_change(entry: &DueRange, review: &Review) -> Change {
    let mut change = Change::of(key(&entry.scope, entry.id))
        .set(CHECKED, number(review.checked))
        .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
    for (sequence, taken_at) in &review.forgotten {
        let name = format!("{TAKEN}{sequence}");
        change = change.when(equals(&name, instant(*taken_at))).remove(&[&name]);
    }
    if !review.dead.is_empty() {
        let dead = review.dead.iter().map(u64::to_string).collect();
        change = change.add(FREE, AttributeValue::Ns(dead));
    }
    change
}

impl RangeReviewed {
    fn nothing_more(range: Range) -> Self {
        Self {
            range,
            freed: 0,
            more: false,
        }
    }
}

/// The findings of a look at some of a range's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Review {
    /// Every lower number is locked, was freed before, or is dead.
    checked: u64,
    /// The numbers for the free list.
    dead: Vec<u64>,
    /// Freed numbers that were taken again, and need not be recorded any more.
    forgotten: Vec<(u64, Timestamp)>,
    room: usize,
}

impl Review {
    /// Walks from the first unchecked number to the first one that cannot be decided yet or has no room on the free
    /// list.
    fn of(range: &Range, locks: &BTreeMap<u64, Timestamp>, window_end: u64, dead_if_before: Timestamp) -> Self {
        let mut review = Self {
            checked: range.checked,
            dead: Vec::new(),
            forgotten: Vec::new(),
            room: MOST_FREE.saturating_sub(range.free.len()),
        };
        // Numbers are taken in order: every number before a dead request's is old enough as well.
        let newest_dead = match range.last_taken_at {
            Some(at) if at <= dead_if_before => Some(range.next - 1),
            _ => locks
                .iter()
                .rev()
                .find(|(_, locked_at)| **locked_at <= dead_if_before)
                .map(|(sequence, _)| *sequence),
        };
        // After a lost answer, a look may see numbers that it freed before: they are on the free list, or among those
        // taken again.
        let freed_before = |sequence: u64| {
            range.free.contains(&sequence) || range.retaken.iter().any(|(retaken, _)| *retaken == sequence)
        };
        while review.checked < window_end {
            let sequence = review.checked;
            if !locks.contains_key(&sequence) && !freed_before(sequence) {
                let is_dead = newest_dead.is_some_and(|newest| sequence <= newest);
                if !is_dead || review.room == 0 {
                    break;
                }
                review.free(sequence);
            }
            review.checked += 1;
        }
        review
    }

    fn judge_retaken(&mut self, sequence: u64, taken_at: Timestamp, is_used: bool, dead_if_before: Timestamp) {
        let is_dead = !is_used && taken_at <= dead_if_before;
        if is_dead && self.room > 0 {
            self.free(sequence);
        }
        if is_used || (is_dead && self.dead.last() == Some(&sequence)) {
            self.forgotten.push((sequence, taken_at));
        }
    }

    fn free(&mut self, sequence: u64) {
        self.dead.push(sequence);
        self.room -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn range(next: u64, last_taken_at: i64) -> Range {
        Range {
            ecf_type: ReceiptType::E31,
            start: 1,
            end: 1_000,
            next,
            used: 0,
            valid_until: None,
            numbering: Some(Numbering::Service),
            active: true,
            free: Vec::new(),
            retaken: Vec::new(),
            checked: 1,
            last_taken_at: Some(at(last_taken_at)),
            verified_at: None,
            created_at: at(0),
            next_look: None,
            published_low: None,
            published_expiring: None,
        }
    }

    fn locks(taken: &[(u64, i64)]) -> BTreeMap<u64, Timestamp> {
        taken
            .iter()
            .map(|(sequence, second)| (*sequence, at(*second)))
            .collect()
    }

    /// Requests that took their number at second 100 or before are dead.
    fn review(range: &Range, taken: &[(u64, i64)]) -> (u64, Vec<u64>) {
        let review = Review::of(range, &locks(taken), range.next, at(100));
        (review.checked, review.dead)
    }

    #[test]
    fn an_unlocked_number_is_dead_once_a_later_lock_or_the_last_take_is_old() {
        // 2 and 4 have no lock; the numbers after 4 are too young to prove anything about it.
        let mixed = [(1, 10), (3, 100), (5, 101)];
        assert_eq!(review(&range(6, 500), &mixed), (4, vec![2]));
        assert_eq!(review(&range(6, 100), &mixed), (6, vec![2, 4]));
        assert_eq!(review(&range(6, 500), &[(5, 100)]), (6, vec![1, 2, 3, 4]));
        // The last numbers have no later lock.
        assert_eq!(review(&range(4, 101), &[(1, 10)]), (2, vec![]));
        assert_eq!(review(&range(4, 100), &[(1, 10)]), (4, vec![2, 3]));
    }

    /// Locks carry the start of their request, so a higher number may have an older lock.
    #[test]
    fn any_later_lock_that_is_old_will_do() {
        assert_eq!(review(&range(6, 500), &[(3, 300), (4, 90), (5, 200)]), (6, vec![1, 2]));
    }

    #[test]
    fn the_free_list_holds_a_hundred_and_the_rest_waits_for_room() {
        let (checked, dead) = review(&range(151, 10), &[(1, 1)]);
        assert_eq!((checked, dead.len(), dead.last()), (102, 100, Some(&101)));
        let mut full = range(151, 10);
        full.free = (500..598).collect();
        assert_eq!(review(&full, &[(1, 1)]), (4, vec![2, 3]));
    }

    /// Regression, found with 10,000 receipts under faults: after one look had lost its answer, the write named a
    /// number twice, and the range was never checked again.
    #[test]
    fn what_was_freed_before_is_not_judged_twice_by_a_look_that_is_behind() {
        let mut behind = range(5, 50);
        behind.free = vec![3];
        behind.retaken = vec![(2, at(60))];
        let mut review = Review::of(&behind, &BTreeMap::new(), 5, at(100));
        assert_eq!((review.checked, &review.dead), (5, &vec![1, 4]));
        review.judge_retaken(2, at(60), false, at(100));
        assert_eq!((review.dead, review.forgotten), (vec![1, 4, 2], vec![(2, at(60))]));
    }

    #[test]
    fn a_freed_number_that_was_taken_again_is_freed_again_when_nobody_used_it() {
        let range = range(1, 0);
        let judged = |taken_at, is_used, room| {
            let mut review = Review::of(&range, &BTreeMap::new(), 1, at(100));
            review.room = room;
            review.judge_retaken(7, at(taken_at), is_used, at(100));
            (review.dead, review.forgotten.len())
        };
        assert_eq!(judged(101, false, 9), (vec![], 0));
        assert_eq!(judged(100, false, 9), (vec![7], 1));
        assert_eq!(judged(100, false, 0), (vec![], 0));
        assert_eq!(judged(101, true, 9), (vec![], 1));
    }
}
