//! Ranges of e-NCF numbers, and how a number is taken from one.
//!
//! A range belongs to one company, environment and type, and is numbered either by the service or by the caller;
//! a range that was opened without saying which is fixed by its first use. Taking a number is one conditional write:
//! the range's `next` goes up, or a freed number leaves the free list, which goes first. Each take leaves a time, so
//! that a number whose request died can be found and freed. The lock written with the receipt is what makes a number
//! used; it is the only judge.

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::{Encf, Fecha, ReceiptType};
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    change::Change,
    item::{NewItem, Stored, instant, number, text},
    keys::{self, SK},
    write::{Applied, Part, Transacted, dice, pause},
};
use crate::{StoreError, ids::Scope};

const END: &str = "last";
const NEXT: &str = "next";
const VALID_UNTIL: &str = "valid_until";
const NUMBERING: &str = "numbering";
const FREE: &str = "free";
const LAST_TAKEN_AT: &str = "last_taken_at";
const TAKEN: &str = "taken";
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

/// A range to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRange {
    pub ecf_type: ReceiptType,
    pub start: u64,
    pub end: u64,
    pub valid_until: Option<Fecha>,
    /// `None`: the first use fixes it.
    pub numbering: Option<Numbering>,
    pub created_at: Timestamp,
}

/// A range as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub ecf_type: ReceiptType,
    pub start: u64,
    pub end: u64,
    /// The lowest number that was never taken; above `end` when all were.
    pub next: u64,
    pub valid_until: Option<Fecha>,
    pub numbering: Option<Numbering>,
    /// Freed numbers, which are taken before `next`.
    pub free: Vec<u64>,
    pub last_taken_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    New,
    /// This range of the same type holds some of the numbers.
    Overlaps(Range),
}

/// What came of asking for the next number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    Taken {
        encf: Encf,
        valid_until: Option<Fecha>,
    },
    /// No range of this type is open.
    NoRange,
    /// Every range that is valid has given all its numbers.
    Exhausted,
    /// Every range that the service numbers is past its expiry.
    Expired,
    /// Only the caller numbers this type.
    CallerNumbered,
}

/// What came of checking a number that the caller chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerTake {
    Ok {
        valid_until: Option<Fecha>,
    },
    OutsideRanges,
    Expired {
        valid_until: Fecha,
    },
    /// The service numbers this range.
    ServiceNumbered,
}

impl Range {
    pub fn contains(&self, sequence: u64) -> bool {
        (self.start..=self.end).contains(&sequence)
    }

    pub fn is_exhausted(&self) -> bool {
        self.next > self.end && self.free.is_empty()
    }

    pub fn is_expired(&self, today: Fecha) -> bool {
        self.valid_until.is_some_and(|last_day| last_day < today)
    }

    fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start <= end && start <= self.end
    }
}

impl Table {
    /// Opens a range, unless it overlaps another of its type.
    ///
    /// # Errors
    /// Besides failures of the store: [`StoreError::Contended`] when ranges of this type keep being opened meanwhile.
    pub async fn open_range(&self, scope: &Scope, new: NewRange) -> Result<Opened, StoreError> {
        for attempt in 1..=ROUNDS {
            let (version, ranges) = self.ranges_of_type(scope, new.ecf_type, true).await?;
            if let Some(range) = ranges.into_iter().find(|range| range.overlaps(new.start, new.end)) {
                return Ok(Opened::Overlaps(range));
            }
            // The version is one higher with every opening: whoever checked an older list loses.
            let counted = Change::of(keys::ranges_version(scope, new.ecf_type)).set(VERSION, number(version + 1));
            let counted = match version {
                0 => counted.when("attribute_not_exists(#version)"),
                _ => counted.when("#version = :seen").bind(":seen", number(version)),
            };
            let item = NewItem::new(&keys::range(scope, new.ecf_type, new.start))
                .with(END, number(new.end))
                .with(NEXT, number(new.start))
                .with_some(VALID_UNTIL, new.valid_until.map(text))
                .with_some(NUMBERING, new.numbering.map(|numbering| text(numbering.as_str())))
                .with(CREATED_AT, instant(new.created_at))
                .build();
            let parts = vec![Part::Update(counted), Part::PutNew(item)];
            match self.transact("open range", parts).await? {
                Transacted::Done => return Ok(Opened::New),
                Transacted::Refused(_) => pause(attempt).await,
            }
        }
        Err(StoreError::Contended {
            operation: "open range",
            attempts: ROUNDS,
        })
    }

    /// Opens the numbers that every taxpayer owns in pre-certification (technical description, environments): of each type
    /// the first half for callers that number by themselves, the rest for this service. Ranges that are there stay.
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

    /// Takes the next number of the first range that has one.
    ///
    /// A call that fails may have taken a number all the same; housekeeping finds and frees it.
    ///
    /// # Errors
    /// Besides failures of the store: [`StoreError::Contended`] when other callers empty the free list faster than
    /// this one reads it.
    pub async fn take_next_number(
        &self,
        scope: &Scope,
        ecf_type: ReceiptType,
        today: Fecha,
        now: Timestamp,
    ) -> Result<Take, StoreError> {
        // An older list is good enough to choose from: the conditional write decides.
        let (_, mut ranges) = self.ranges_of_type(scope, ecf_type, false).await?;
        for attempt in 1..=ROUNDS {
            let Some(range) = ranges.iter_mut().find(|range| gives_numbers(range, today)) else {
                let consistent = self.ranges_of_type(scope, ecf_type, true).await?.1;
                if attempt < ROUNDS && consistent.iter().any(|range| gives_numbers(range, today)) {
                    ranges = consistent;
                    continue;
                }
                return Ok(nothing_to_take(&consistent, today));
            };
            let (change, sequence) = take_change(scope, range, now);
            match self.apply("take number", change).await? {
                Applied::Done(stored) => {
                    let sequence = match sequence {
                        Some(freed) => freed,
                        None => stored.parse::<u64>(NEXT)?.saturating_sub(1),
                    };
                    let encf = Encf::new(ecf_type, sequence).map_err(|error| stored.corrupt(NEXT, error))?;
                    return Ok(Take::Taken {
                        encf,
                        valid_until: range.valid_until,
                    });
                }
                Applied::Refused(Some(stored)) => {
                    let was_race = sequence.is_some();
                    *range = read_range(&stored)?;
                    if was_race {
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

    /// Checks a number that the caller chose, and fixes the range as caller-numbered on its first use.
    pub async fn claim_caller_number(
        &self,
        scope: &Scope,
        encf: &Encf,
        today: Fecha,
        now: Timestamp,
    ) -> Result<CallerTake, StoreError> {
        let sequence = encf.sequence();
        let mut ranges = self.ranges_of_type(scope, encf.receipt_type(), false).await?.1;
        if !ranges.iter().any(|range| range.contains(sequence)) {
            // It may have been opened a moment ago.
            ranges = self.ranges_of_type(scope, encf.receipt_type(), true).await?.1;
        }
        let Some(range) = ranges.into_iter().find(|range| range.contains(sequence)) else {
            return Ok(CallerTake::OutsideRanges);
        };
        if let Some(valid_until) = range.valid_until.filter(|last_day| *last_day < today) {
            return Ok(CallerTake::Expired { valid_until });
        }
        let valid_until = range.valid_until;
        match range.numbering {
            Some(Numbering::Caller) => return Ok(CallerTake::Ok { valid_until }),
            Some(Numbering::Service) => return Ok(CallerTake::ServiceNumbered),
            None => {}
        }
        let change = Change::of(keys::range(scope, range.ecf_type, range.start))
            .set(NUMBERING, text(Numbering::Caller.as_str()))
            .set(LAST_TAKEN_AT, instant(now))
            .when("attribute_exists(#pk) AND (attribute_not_exists(#numbering) OR #numbering = :caller)")
            .bind(":caller", text(Numbering::Caller.as_str()));
        Ok(match self.apply("fix numbering", change).await? {
            Applied::Done(_) => CallerTake::Ok { valid_until },
            Applied::Refused(Some(_)) => CallerTake::ServiceNumbered,
            Applied::Refused(None) => CallerTake::OutsideRanges,
        })
    }

    /// The type's version (how often a range was opened) and its ranges by first number.
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
}

fn gives_numbers(range: &Range, today: Fecha) -> bool {
    range.numbering != Some(Numbering::Caller) && !range.is_expired(today) && !range.is_exhausted()
}

fn nothing_to_take(ranges: &[Range], today: Fecha) -> Take {
    if ranges.is_empty() {
        return Take::NoRange;
    }
    let mut ours = ranges
        .iter()
        .filter(|range| range.numbering != Some(Numbering::Caller))
        .peekable();
    if ours.peek().is_none() {
        return Take::CallerNumbered;
    }
    if ours.all(|range| range.is_expired(today)) {
        Take::Expired
    } else {
        Take::Exhausted
    }
}

/// The write that takes a number, and the number when it is a freed one.
fn take_change(scope: &Scope, range: &Range, now: Timestamp) -> (Change, Option<u64>) {
    let change = Change::of(keys::range(scope, range.ecf_type, range.start))
        .set_once(NUMBERING, text(Numbering::Service.as_str()))
        .bind(":service", text(Numbering::Service.as_str()));
    let ours = "attribute_exists(#pk) AND (attribute_not_exists(#numbering) OR #numbering = :service)";
    if range.free.is_empty() {
        let change = change
            .add(NEXT, number(1))
            .set(LAST_TAKEN_AT, instant(now))
            .when(format!("{ours} AND #next <= #last AND attribute_not_exists(#free)"));
        return (change, None);
    }
    // Any of them: callers that race for freed numbers should not all want the same.
    let place = usize::try_from(dice() % range.free.len() as u64).unwrap_or(0);
    let sequence = range.free[place];
    let change = change
        .delete(FREE, AttributeValue::Ns(vec![sequence.to_string()]))
        .set(&format!("{TAKEN}{sequence}"), instant(now))
        .when(format!("{ours} AND contains(#free, :freed)"))
        .bind(":freed", number(sequence));
    (change, Some(sequence))
}

fn read_range(stored: &Stored) -> Result<Range, StoreError> {
    let Some((ecf_type, start)) = stored.sk()?.split_once('#') else {
        return Err(stored.corrupt(SK, "is not a range's"));
    };
    let numbering = match stored.opt_str(NUMBERING)? {
        None => None,
        Some("service") => Some(Numbering::Service),
        Some("caller") => Some(Numbering::Caller),
        Some(other) => return Err(stored.corrupt(NUMBERING, format!("is {other}"))),
    };
    Ok(Range {
        ecf_type: ecf_type.parse().map_err(|error| stored.corrupt(SK, error))?,
        start: start.parse().map_err(|error| stored.corrupt(SK, error))?,
        end: stored.parse(END)?,
        next: stored.parse(NEXT)?,
        valid_until: stored.opt_parse(VALID_UNTIL)?,
        numbering,
        free: stored.numbers(FREE)?,
        last_taken_at: stored.opt_instant(LAST_TAKEN_AT)?,
        created_at: stored.instant(CREATED_AT)?,
    })
}

#[cfg(test)]
mod tests {
    use ecf::Environment;

    use super::*;
    use crate::ids::CompanyId;

    /// A reader whose list is behind does not see that numbers were freed; the write must.
    #[test]
    fn a_new_number_is_taken_only_on_the_condition_that_none_is_free() {
        let scope = Scope {
            company: CompanyId::from_random([1; 20]),
            environment: Environment::TesteCF,
        };
        let mut range = Range {
            ecf_type: ReceiptType::E31,
            start: 1,
            end: 9,
            next: 4,
            valid_until: None,
            numbering: Some(Numbering::Service),
            free: Vec::new(),
            last_taken_at: None,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let (change, freed) = take_change(&scope, &range, Timestamp::UNIX_EPOCH);
        assert_eq!(freed, None);
        let condition = change.condition().unwrap();
        assert!(
            condition.ends_with("AND #next <= #last AND attribute_not_exists(#free)"),
            "{condition}"
        );

        range.free = vec![2];
        let (change, freed) = take_change(&scope, &range, Timestamp::UNIX_EPOCH);
        assert_eq!(freed, Some(2));
        assert!(change.condition().unwrap().ends_with("AND contains(#free, :freed)"));
    }
}
