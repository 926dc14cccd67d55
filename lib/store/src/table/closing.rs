//! Closed days of a company's environment: their counters were compared with the list of their receipts, and lists rely
//! on them.
//!
//! Counters are written separately from the receipt, so a count can be lost or written twice. Housekeeping compares
//! each day once, half an hour after its end, and sums up each past month. A receipt of an earlier day may lose its
//! count too when it reaches a final state, becomes `failed` or leaves that state: it records a late change here before
//! its state is written, and the day is compared again once that write is certainly over. Until then lists read the day
//! from the index. So no list depends on a counter that was not compared.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp, ToSpan as _, civil::Date};

use super::{
    Query, Sort, Table,
    change::Change,
    condition::equals,
    counters::{self, DayCounts},
    item::{NewItem, Stored, instant, text},
    keys::{self, DUE, SK},
};
use crate::{StoreError, ids::Scope};

/// The number of partitions of the due index that hold days.
pub const DAY_SHARDS: u8 = 4;
/// The longest time limit of a function: after it, the state change that follows a late change was written, or never
/// will be.
pub const WRITTEN_WITHIN: SignedDuration = SignedDuration::from_mins(15);
/// When a day is closed, after its end. A writer that found the day open finished within [`WRITTEN_WITHIN`].
const CLOSED_AFTER: SignedDuration = SignedDuration::from_mins(30);
/// The closings of all companies are spread over this time.
const CLOSING_SPREAD: SignedDuration = SignedDuration::from_hours(2);
/// When the days of a new environment are first due: every sign-up is finished by then.
pub(super) const FIRST_LOOK: SignedDuration = SignedDuration::from_hours(1);
/// Upper bound of the comparisons of a day that changes concurrently.
const ROUNDS: u32 = 3;

/// The last day that is closed.
const UNTIL: &str = "un";
/// The time of the last late change.
const LATE_AT: &str = "la";

/// The state of the days of a company's environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closing {
    /// Days up to this one are closed. `None`: no day was closed yet.
    pub until: Option<Date>,
    /// Days with a late change that were not compared yet.
    pub late: BTreeSet<Date>,
    /// Whether housekeeping knows of the environment.
    pub is_begun: bool,
}

impl Closing {
    /// Whether the counters of a day are exact.
    pub fn is_exact(&self, day: Date) -> bool {
        self.until.is_some_and(|until| day <= until) && !self.late.contains(&day)
    }

    /// Whether the counters of a month, given by its first day, are exact.
    pub fn is_exact_month(&self, first: Date) -> bool {
        let last = first.last_of_month();
        self.until.is_some_and(|until| last <= until) && self.late.range(first..=last).next().is_none()
    }
}

/// Days that are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueDays {
    pub scope: Scope,
    /// The day of a late change; `None` when the next days must be closed.
    pub late: Option<Date>,
    pub at: Timestamp,
}

/// The last day that may be closed at an instant.
pub fn last_to_close(now: Timestamp) -> Date {
    keys::fiscal_day(now - CLOSED_AFTER).saturating_sub(1.day())
}

/// Receipts created before this instant belong to a day that may be closed before their final state is written.
pub(super) fn created_since(now: Timestamp) -> Timestamp {
    keys::end_of_day(keys::fiscal_day(now - WRITTEN_WITHIN).saturating_sub(1.day()))
}

/// When the day after this one is closed.
fn next_closing(scope: &Scope, until: Date) -> Timestamp {
    let share = CLOSING_SPREAD * i32::from(scope.company.spread()) / 256;
    keys::end_of_day(until.saturating_add(1.day())) + CLOSED_AFTER + share
}

fn shard_of(scope: &Scope) -> u8 {
    scope.company.spread() % DAY_SHARDS
}

impl Table {
    /// The state of an environment's days.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn closing(&self, scope: &Scope) -> Result<Closing, StoreError> {
        let query = Query {
            consistent: true,
            ..Query::of(keys::closing_partition(scope))
        };
        let mut closing = Closing::default();
        for stored in self.query("read closing", query).await? {
            if stored.sk()? == keys::CLOSED {
                closing.is_begun = true;
                closing.until = stored.opt_parse(UNTIL)?;
            } else {
                closing.late.insert(read_day(&stored)?);
            }
        }
        Ok(closing)
    }

    /// Schedules the closing of an environment's days from an instant on. A repeated call has no effect.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn begin_closing(&self, scope: &Scope, first_look: Timestamp) -> Result<(), StoreError> {
        let item = NewItem::new(&keys::closing(scope))
            .with(DUE.pk, text(keys::due_days_partition(shard_of(scope))))
            .with(DUE.sk, text(keys::due_sort(first_look)))
            .build();
        self.put_new("begin closing", item).await.map(|_| ())
    }

    /// Records that a receipt of this day is about to reach a final state, to become `failed`, or to leave that state.
    pub(super) async fn record_late_change(&self, scope: &Scope, day: Date, now: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(keys::late_change(scope, day))
            .set(LATE_AT, instant(now))
            .set_once(DUE.pk, text(keys::due_days_partition(shard_of(scope))))
            .set_once(DUE.sk, text(keys::due_sort(now + WRITTEN_WITHIN)));
        self.apply("note late change", change).await.map(|_| ())
    }

    /// The due entries of one shard, the most overdue first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn due_days(&self, shard: u8, now: Timestamp, limit: usize) -> Result<Vec<DueDays>, StoreError> {
        let query = Query {
            sort: Sort::Between(DUE.sk, keys::due_sort(Timestamp::UNIX_EPOCH), keys::due_sort(now)),
            limit: Some(limit),
            ..Query::index(&DUE, keys::due_days_partition(shard))
        };
        let entries = self.query("read due days", query).await?;
        let read = |entry: &Stored| {
            Ok(DueDays {
                scope: keys::ending_scope(entry.pk()?)?,
                late: match entry.sk()? {
                    keys::CLOSED => None,
                    _ => Some(read_day(entry)?),
                },
                at: entry.parse(DUE.sk)?,
            })
        };
        entries.iter().map(read).collect()
    }

    /// Counts a day's receipts by their list.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn counted_by_list(&self, scope: &Scope, day: Date) -> Result<DayCounts, StoreError> {
        let mut counted = DayCounts::none(day);
        let mut after = None;
        loop {
            let page = self
                .receipts_of_day(scope, day, after.as_deref(), super::LARGEST_READ)
                .await?;
            for listed in &page.receipts {
                counted.add(listed.ecf_type, listed.state, &listed.monto_total);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(counted),
            }
        }
    }

    /// Compares a day's counters with its list and corrects them, and the sum of its month. Returns the previous counts
    /// if they were wrong.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when other writers keep changing the record.
    pub async fn recount_day(
        &self,
        scope: &Scope,
        day: Date,
        closing: &Closing,
    ) -> Result<Option<DayCounts>, StoreError> {
        for _ in 0..ROUNDS {
            let kept = self.latest_day_counts(scope, day, day).await?;
            let kept = kept.into_iter().next().unwrap_or_else(|| DayCounts::none(day));
            let counted = self.counted_by_list(scope, day).await?;
            if !self.correct_counts(scope, &kept, &counted).await? {
                continue;
            }
            let is_corrected = kept.clone().without_failed() != counted.without_failed();
            if closing.until.is_some_and(|until| day.last_of_month() <= until) {
                self.sum_up_month(scope, day.first_of_month()).await?;
            }
            return Ok(is_corrected.then_some(kept));
        }
        Err(StoreError::Contended {
            operation: "recount day",
            attempts: ROUNDS,
        })
    }

    /// Sums up a month whose days are all closed.
    ///
    /// # Errors
    /// Fails when DynamoDB fails, or when the record keeps changing.
    pub async fn sum_up_month(&self, scope: &Scope, first: Date) -> Result<(), StoreError> {
        let days = self.latest_day_counts(scope, first, first.last_of_month()).await?;
        let mut month = DayCounts::none(first);
        days.iter().for_each(|day| month.add_all(day));
        let key = keys::month(scope, first);
        let known = match self.read("read month counters", &key).await? {
            Some(stored) => counters::read_counts_of(&stored, first)?,
            None => DayCounts::none(first),
        };
        if self.correct("sum up month", key, &known, &month).await? {
            return Ok(());
        }
        Err(StoreError::retry("sum up month", "another look summed it up meanwhile"))
    }

    /// The counts of the summed-up months between two months, both included and given by their first days.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn month_counts(&self, scope: &Scope, from: Date, to: Date) -> Result<Vec<DayCounts>, StoreError> {
        let query = Query {
            sort: Sort::Between(SK, keys::month_sort(from), keys::month_sort(to)),
            ..Query::of(keys::months_partition(scope))
        };
        let months = self.query("read month counters", query).await?;
        months
            .iter()
            .map(|stored| {
                let first = format!("{}01", stored.sk()?);
                let first = first.parse().map_err(|error| stored.corrupt(SK, error))?;
                counters::read_counts_of(stored, first)
            })
            .collect()
    }

    /// Ends a run over an environment's days, which are now closed up to `until`. Returns `false` when another run
    /// ended before.
    pub async fn days_closed(&self, entry: &DueDays, until: Date, now: Timestamp) -> Result<bool, StoreError> {
        let next = if until < last_to_close(now) {
            now
        } else {
            next_closing(&entry.scope, until)
        };
        self.move_due(entry, next, Some(until)).await
    }

    /// Postpones these days. Returns `false` when another run has moved them.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn put_off_days(&self, entry: &DueDays, next: Timestamp) -> Result<bool, StoreError> {
        self.move_due(entry, next, None).await
    }

    /// The time of the last late change of a day. Its state write is certainly over after [`WRITTEN_WITHIN`].
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn late_change(&self, scope: &Scope, day: Date) -> Result<Option<Timestamp>, StoreError> {
        let stored = self.read("read late change", &keys::late_change(scope, day)).await?;
        stored.map(|stored| stored.instant(LATE_AT)).transpose()
    }

    /// Removes a late change whose day was compared, unless a newer one was recorded.
    pub async fn late_change_is_counted(&self, scope: &Scope, day: Date, seen: Timestamp) -> Result<bool, StoreError> {
        let key = keys::late_change(scope, day);
        self.delete_when("forget late change", &key, equals(LATE_AT, instant(seen)))
            .await
    }

    /// Takes an environment without a company off the index.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn forget_closing(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.delete("forget closing", &keys::closing(scope)).await
    }

    #[cfg(feature = "testing")]
    pub(super) async fn seed_closed_until(&self, scope: &Scope, until: Date) -> Result<(), StoreError> {
        let change = Change::of(keys::closing(scope)).set(UNTIL, text(until));
        self.apply("seed closing", change).await.map(|_| ())
    }

    async fn move_due(&self, entry: &DueDays, next: Timestamp, until: Option<Date>) -> Result<bool, StoreError> {
        let key = match entry.late {
            None => keys::closing(&entry.scope),
            Some(day) => keys::late_change(&entry.scope, day),
        };
        let change = Change::of(key)
            .set(DUE.sk, text(keys::due_sort(next)))
            .set_some(UNTIL, until.map(text))
            .when(equals(DUE.sk, text(keys::due_sort(entry.at))));
        self.applied("move due days", change).await
    }
}

fn read_day(stored: &Stored) -> Result<Date, StoreError> {
    stored.sk()?.parse().map_err(|error| stored.corrupt(SK, error))
}
