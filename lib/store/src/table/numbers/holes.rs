//! Numbers whose request died.
//!
//! A number that was taken and is not locked is a hole. It is dead, and goes to the free list, when a later number's
//! lock, or its own taking, is older than any request can still be. Freeing one that lives after all does no harm: the
//! lock decides who gets it. The range remembers up to where it was checked, so each lock is read once.

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

/// Over how many partitions of the due index ranges are spread.
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

/// A range that was to be looked after at `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRange {
    pub scope: Scope,
    pub id: RangeId,
    pub at: Timestamp,
}

/// A type whose ranges were to be looked over at `at`, because the clock alone may make them worth a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueType {
    pub scope: Scope,
    pub ecf_type: ReceiptType,
    pub at: Timestamp,
}

/// What is due about numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueNumbers {
    Range(DueRange),
    Type(DueType),
}

/// What came of looking for dead numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeReviewed {
    /// The range after it.
    pub range: Range,
    /// How many numbers were freed.
    pub freed: usize,
    /// Whether another look finds more right now.
    pub more: bool,
}

pub(super) fn shard_of(scope: &Scope) -> u8 {
    scope.company.spread() % RANGE_SHARDS
}

impl Range {
    /// Whether the free list takes no more. What is dead then waits until somebody takes a number.
    pub fn is_full(&self) -> bool {
        self.free.len() >= MOST_FREE
    }

    /// Whether it is known of every number that was taken that a receipt has it or that it is free.
    pub fn is_settled(&self) -> bool {
        self.is_callers() || (self.checked >= self.next && self.retaken.is_empty())
    }
}

impl Table {
    /// The ranges and types of one shard whose time has come, the most overdue first.
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

    /// Sets when a type's ranges are looked over next, or takes it off the index, unless somebody did or a range was opened or
    /// changed since.
    pub async fn put_off_type(&self, entry: &DueType, next: Option<Timestamp>) -> Result<(), StoreError> {
        let change = Change::of(keys::ranges_version(&entry.scope, entry.ecf_type))
            .due_at(next)
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.apply("put off type", change).await?;
        Ok(())
    }

    /// Frees the dead numbers among those that were taken and not looked at yet, a bounded number at a time.
    ///
    /// What was found to be in use is kept by [`Table::put_off_range`], which ends the look.
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
                // Another run is on it.
                Applied::Refused(_) => return Ok(RangeReviewed::nothing_more(range)),
            }
        };
        Ok(RangeReviewed { range, freed, more })
    }

    /// Ends a look: keeps how far the range was checked, and when the next look is due, if one is. `false`: the range
    /// changed since it was read, so that what was found out about it may not hold any more; it stays due.
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

    /// Ends a look at a range that needs another, whatever happened to it since.
    pub async fn look_again(&self, entry: &DueRange, range: &Range, next: Timestamp) -> Result<(), StoreError> {
        let change = end_of_look(entry, range, Some(next));
        self.apply("look again", change).await?;
        Ok(())
    }

    /// Puts off a range that cannot be looked at, so that it does not stand first in line at every run.
    pub async fn give_up_look(&self, entry: &DueRange, next: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(key(&entry.scope, entry.id))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.apply("give up look", change).await?;
        Ok(())
    }

    /// Makes good on a number that a rejection left free, once: lists it for the next receipt if the service numbers its
    /// range and half of the list is left for others, and takes the entry out of the receipt's outbox.
    ///
    /// The lock stays with the rejected receipt until another takes the number over.
    pub async fn free_left_number(&self, receipt: &Receipt) -> Result<(), StoreError> {
        let scope = &receipt.scope;
        if let Some(encf) = receipt.encf()
            && let Some(range) = self.range_of(scope, encf).await?
            && range.numbering == Some(Numbering::Service)
            && range.free.len() < MOST_LEFT
            // Notes wait for a successor that names the number: it must not go to another buyer's receipt.
            && receipt.waiting_notes.is_empty()
            // Whoever named the number may have it by now.
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

    /// The locks of the numbers from `from` up to and without `to`, and when each was taken.
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

/// Whoever moves the entry on has the look; of two at the same time one ends it.
fn end_of_look(entry: &DueRange, range: &Range, next: Option<Timestamp>) -> Change {
    let change = Change::of(key(&entry.scope, entry.id)).when(equals(DUE.sk, text(keys::due_sort(entry.at))));
    let change = if range.checked > range.start {
        change.set(CHECKED, number(range.checked))
    } else {
        change
    };
    change.due_at(next)
}

/// The write that keeps what was found, as long as the look is not over.
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

/// What a look at some of a range's numbers found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Review {
    /// Every lower number is locked, was freed before, or is dead.
    checked: u64,
    /// These go to the free list.
    dead: Vec<u64>,
    /// These were free and taken again, and need not be remembered any more.
    forgotten: Vec<(u64, Timestamp)>,
    room: usize,
}

impl Review {
    /// Walks from the first unchecked number to the first that cannot be judged yet or has no room on the free list.
    fn of(range: &Range, locks: &BTreeMap<u64, Timestamp>, window_end: u64, dead_if_before: Timestamp) -> Self {
        let mut review = Self {
            checked: range.checked,
            dead: Vec::new(),
            forgotten: Vec::new(),
            room: MOST_FREE.saturating_sub(range.free.len()),
        };
        // Numbers are taken in order: whatever is older than a dead request's taking is dead as well.
        let newest_dead = match range.last_taken_at {
            Some(at) if at <= dead_if_before => Some(range.next - 1),
            _ => locks
                .iter()
                .rev()
                .find(|(_, locked_at)| **locked_at <= dead_if_before)
                .map(|(sequence, _)| *sequence),
        };
        // A look whose answer was lost may be behind what it freed: such a number is on the list, or judged as one that was taken again.
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
            told_low: None,
            told_expiring: None,
        }
    }

    fn locks(taken: &[(u64, i64)]) -> BTreeMap<u64, Timestamp> {
        taken
            .iter()
            .map(|(sequence, second)| (*sequence, at(*second)))
            .collect()
    }

    /// Dead are requests that took their number at second 100 or before.
    fn review(range: &Range, taken: &[(u64, i64)]) -> (u64, Vec<u64>) {
        let review = Review::of(range, &locks(taken), range.next, at(100));
        (review.checked, review.dead)
    }

    #[test]
    fn an_unlocked_number_is_dead_once_a_later_lock_or_the_last_take_is_old() {
        // 2 and 4 have no lock; what came after 4 is too young to tell anything of it.
        let mixed = [(1, 10), (3, 100), (5, 101)];
        assert_eq!(review(&range(6, 500), &mixed), (4, vec![2]));
        assert_eq!(review(&range(6, 100), &mixed), (6, vec![2, 4]));
        assert_eq!(review(&range(6, 500), &[(5, 100)]), (6, vec![1, 2, 3, 4]));
        // The very last numbers have no later lock.
        assert_eq!(review(&range(4, 101), &[(1, 10)]), (2, vec![]));
        assert_eq!(review(&range(4, 100), &[(1, 10)]), (4, vec![2, 3]));
    }

    /// Locks carry the time at which their request began, so a higher number may have an older one.
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

    /// Of 10,000 receipts under faults one look had lost its answer; from then on the write named a number twice, and the range was
    /// never looked after again.
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
