//! Takes a number with one conditional write.
//!
//! Freed numbers are taken first; otherwise the range's `next` is incremented. Each take records a time and puts the
//! range on the due index, so that the number of a crashed request is found and freed.

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::{Encf, Fecha, ReceiptType};
use jiff::{SignedDuration, Timestamp};

use super::{END, FREE, LAST_TAKEN_AT, NEXT, NUMBERING, Numbering, OFF, ROUNDS, Range, TAKEN, holes, key, read_range};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::{absent, contains, equals, exists, ordered},
        item::{instant, number, text},
        keys::{self, DUE, PK},
        write::{Applied, pause, random},
    },
};

/// The first look by housekeeping after a take; the request is certainly over by then.
const FIRST_LOOK: SignedDuration = SignedDuration::from_mins(5);

/// The result of taking the next number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextNumber {
    Taken {
        encf: Encf,
        valid_until: Option<Fecha>,
    },
    /// No range of this type is open and switched on.
    NoRange,
    /// Every valid range has given all its numbers.
    Exhausted,
    /// Every range that the service numbers has expired.
    Expired,
    /// Only the caller numbers this type.
    CallerNumbered,
}

impl NextNumber {
    /// Why none of these ranges of a type gives a number.
    pub fn nothing(ranges: &[Range], today: Fecha) -> Self {
        let mut active = ranges.iter().filter(|range| range.active).peekable();
        if active.peek().is_none() {
            return Self::NoRange;
        }
        let mut ours = active
            .filter(|range| range.numbering != Some(Numbering::Caller))
            .peekable();
        if ours.peek().is_none() {
            return Self::CallerNumbered;
        }
        if ours.all(|range| range.is_expired(today)) {
            Self::Expired
        } else {
            Self::Exhausted
        }
    }
}

/// The result of claiming a number that the caller chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerTake {
    /// The number may be used. Contains the range as it was read, in which a used number is counted
    /// ([`Table::count_callers_number`]).
    Ok(Box<Range>),
    /// No active range contains it.
    OutsideRanges,
    Expired {
        valid_until: Fecha,
    },
    /// The service numbers this range, and the number was not left by an earlier receipt.
    ServiceNumbered,
}

impl Table {
    /// Takes the next number of the first range that has one.
    ///
    /// A call that fails may have taken a number nevertheless; housekeeping finds and frees it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when other callers empty the free list faster than this
    /// call reads it.
    pub async fn take_next_number(
        &self,
        scope: &Scope,
        ecf_type: ReceiptType,
        today: Fecha,
        now: Timestamp,
    ) -> Result<NextNumber, StoreError> {
        // An outdated list suffices to choose from, because the conditional write decides.
        let (_, mut ranges) = self.ranges_of_type(scope, ecf_type, false).await?;
        for attempt in 1..=ROUNDS {
            let Some(range) = ranges.iter_mut().find(|range| range.gives_numbers(today)) else {
                let consistent = self.ranges_of_type(scope, ecf_type, true).await?.1;
                if attempt < ROUNDS && consistent.iter().any(|range| range.gives_numbers(today)) {
                    ranges = consistent;
                    continue;
                }
                return Ok(NextNumber::nothing(&consistent, today));
            };
            let (change, freed) = take_change(scope, range, now);
            match self.apply("take number", change).await? {
                Applied::Done(stored) => {
                    let taken = read_range(&stored)?;
                    let sequence = freed.unwrap_or(taken.next.saturating_sub(1));
                    let encf = Encf::new(ecf_type, sequence).map_err(|error| stored.corrupt(NEXT, error))?;
                    return Ok(NextNumber::Taken {
                        encf,
                        // From this write, because the expiry goes into the document.
                        valid_until: taken.valid_until,
                    });
                }
                Applied::Refused(Some(stored)) => {
                    *range = read_range(&stored)?;
                    if freed.is_some() {
                        pause(attempt).await;
                    }
                }
                Applied::Refused(None) => ranges = self.ranges_of_type(scope, ecf_type, true).await?.1,
            }
        }
        Err(StoreError::Contended {
            operation: "take number",
            attempts: ROUNDS,
        })
    }

    /// Claims a number that the caller chose, and fixes the range as caller-numbered on its first use.
    ///
    /// In a range that the service numbers, the caller may choose only a number that an earlier receipt left: the
    /// authority rejected the receipt and left the number free, or its attempt of the certification was abandoned.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn claim_caller_number(
        &self,
        scope: &Scope,
        encf: &Encf,
        today: Fecha,
        now: Timestamp,
    ) -> Result<CallerTake, StoreError> {
        let range = self.range_of(scope, encf).await?;
        let Some(range) = range.filter(|range| range.active) else {
            return Ok(CallerTake::OutsideRanges);
        };
        if let Some(valid_until) = range.valid_until.filter(|last_day| *last_day < today) {
            return Ok(CallerTake::Expired { valid_until });
        }
        match range.numbering {
            Some(Numbering::Caller) => return Ok(CallerTake::Ok(Box::new(range))),
            Some(Numbering::Service) if self.number_left_by(scope, encf).await?.is_some() => {
                return Ok(CallerTake::Ok(Box::new(range)));
            }
            Some(Numbering::Service) => return Ok(CallerTake::ServiceNumbered),
            None => {}
        }
        let change = Change::of(key(scope, range.id()))
            .set(NUMBERING, text(Numbering::Caller.as_str()))
            .set(LAST_TAKEN_AT, instant(now))
            .when(exists(PK))
            .when(absent(NUMBERING).or(equals(NUMBERING, text(Numbering::Caller.as_str()))));
        Ok(match self.apply("fix numbering", change).await? {
            Applied::Done(stored) => CallerTake::Ok(Box::new(read_range(&stored)?)),
            Applied::Refused(Some(_)) => CallerTake::ServiceNumbered,
            Applied::Refused(None) => CallerTake::OutsideRanges,
        })
    }
}

impl Table {
    /// Advances a range that the service numbers to `next`, unless a number was taken concurrently.
    pub(in crate::table) async fn move_next(&self, scope: &Scope, range: &Range, next: u64) -> Result<(), StoreError> {
        let change = Change::of(key(scope, range.id()))
            .set(NEXT, number(next))
            .when(equals(NEXT, number(range.next)))
            .when(absent(NUMBERING).or(equals(NUMBERING, text(Numbering::Service.as_str()))));
        self.apply("pass annulled numbers", change).await?;
        Ok(())
    }
}

/// The write that takes a number, and the number if it is a freed one.
fn take_change(scope: &Scope, range: &Range, now: Timestamp) -> (Change, Option<u64>) {
    let change = Change::of(key(scope, range.id()))
        .set_once(NUMBERING, text(Numbering::Service.as_str()))
        .when(exists(PK))
        .when(absent(OFF))
        .when(absent(NUMBERING).or(equals(NUMBERING, text(Numbering::Service.as_str()))))
        .set(DUE.pk, text(keys::due_ranges_partition(holes::shard_of(scope))))
        .set(DUE.sk, text(keys::due_sort(next_look(range, now))));
    if range.free.is_empty() {
        let change = change
            .add(NEXT, number(1))
            .set(LAST_TAKEN_AT, instant(now))
            .when(ordered(NEXT, END))
            .when(absent(FREE));
        return (change, None);
    }
    // A random one, so that concurrent callers do not all try the same number.
    let place = usize::try_from(random() % range.free.len() as u64).unwrap_or(0);
    let sequence = range.free[place];
    let change = change
        .delete(FREE, AttributeValue::Ns(vec![sequence.to_string()]))
        .set(&format!("{TAKEN}{sequence}"), instant(now))
        .when(contains(FREE, number(sequence)));
    (change, Some(sequence))
}

/// The next look by housekeeping: as planned, or some minutes after this take.
///
/// The entry is written with the value that was read. That costs no index write while the entry exists, and restores
/// the entry when housekeeping has removed it in between. Rounded to the minute, so that concurrent takes agree.
pub(super) fn next_look(range: &Range, now: Timestamp) -> Timestamp {
    let after = (now + FIRST_LOOK).as_second();
    let minute = after - after.rem_euclid(60) + 60;
    let soon = if range.may_run_low() {
        // The minute that has begun, so that takes of the same minute write the index once.
        now.as_second() - now.as_second().rem_euclid(60)
    } else {
        minute
    };
    let soon = Timestamp::from_second(soon).unwrap_or(now);
    range.next_look.map_or(soon, |look| look.min(soon))
}

#[cfg(test)]
mod tests {
    use ecf::Environment;

    use super::*;
    use crate::ids::CompanyId;

    fn range() -> Range {
        Range {
            ecf_type: ReceiptType::E31,
            start: 1,
            end: 9,
            next: 4,
            used: 0,
            valid_until: None,
            numbering: Some(Numbering::Service),
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

    /// A reader with an outdated list does not see that numbers were freed; the write must.
    #[test]
    fn a_new_number_is_taken_only_on_the_condition_that_none_is_free() {
        let scope = Scope {
            company: CompanyId::from_random([1; 20]),
            environment: Environment::TesteCF,
        };
        let mut range = range();
        let (change, freed) = take_change(&scope, &range, Timestamp::UNIX_EPOCH);
        assert_eq!(freed, None);
        let condition = change.condition();
        assert!(
            condition.ends_with("AND #next <= #last AND attribute_not_exists(#free)"),
            "{condition}"
        );

        range.free = vec![2];
        let (change, freed) = take_change(&scope, &range, Timestamp::UNIX_EPOCH);
        assert_eq!(freed, Some(2));
        assert!(change.condition().ends_with("AND contains(#free, :free)"));
    }

    #[test]
    fn a_range_is_looked_after_some_minutes_after_a_take_and_not_put_off_by_the_next() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let mut range = range();
        assert_eq!(
            next_look(&range, at("2026-11-28T12:00:30Z")),
            at("2026-11-28T12:06:00Z")
        );
        range.next_look = Some(at("2026-11-28T12:06:00Z"));
        assert_eq!(
            next_look(&range, at("2026-11-28T12:05:00Z")),
            at("2026-11-28T12:06:00Z")
        );
        // It was postponed for long, because its free list was full.
        range.next_look = Some(at("2027-11-28T04:00:00Z"));
        assert_eq!(
            next_look(&range, at("2026-11-28T12:05:00Z")),
            at("2026-11-28T12:11:00Z")
        );
    }
}
