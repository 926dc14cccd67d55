//! How many receipts are not final, without reading all of them.
//!
//! The counters of a day show how many of its receipts are not final. Only days with such receipts are read from the
//! index, at most [`MOST_OPEN_READ`] entries in all. `failed` receipts of closed days are counted already.

use std::collections::BTreeMap;

use ecf::ReceiptState;
use jiff::{Timestamp, civil::Date};

use super::{Closing, DayCounts, ReceiptFilter, keys, read_listed};
use crate::{
    StoreError,
    ids::Scope,
    table::{LARGEST_READ, Table, item::Stored},
};

/// Upper bound of the index entries that one count reads.
pub const MOST_OPEN_READ: usize = 5_000;
/// A request counts as this number of entries at least, which bounds the requests.
const LEAST_COST: usize = 100;

/// The receipts that are not final, whenever they were created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReceipts {
    /// States without receipts are omitted.
    pub states: BTreeMap<ReceiptState, u64>,
    /// `false`: more entries than [`MOST_OPEN_READ`] would have to be read, so there may be more receipts.
    pub is_complete: bool,
}

/// A day with receipts that are not final.
struct OpenDay {
    day: Date,
    /// How many, `failed` ones included unless they are counted.
    left: u64,
    is_failed_counted: bool,
}

impl Table {
    /// Counts the receipts that are not final.
    ///
    /// The result may lag by moments. A receipt whose creation was not counted is found when its day is closed.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn open_receipts(&self, scope: &Scope, now: Timestamp) -> Result<OpenReceipts, StoreError> {
        let today = keys::fiscal_day(now);
        let (all, first) = (ReceiptFilter::default(), Date::ZERO);
        let closing = self.closing(scope).await?;
        let months = self.whole_months(scope, &all, first, today, &closing).await?;
        // Closed months without counts have no receipts.
        let first = match months.first() {
            Some(month) if closing.late.range(..month.day).next().is_none() => month.day,
            _ => first,
        };
        let mut days = self.days_outside(scope, first, today, &months, &closing, today).await?;
        for month in months.iter().filter(|month| left(month, true) > 0) {
            days.extend(self.day_counts(scope, month.day, month.day.last_of_month()).await?);
        }
        days.sort_by_key(|counts| counts.day);
        let mut open = OpenReceipts {
            states: BTreeMap::new(),
            is_complete: true,
        };
        let failed = |counts: &DayCounts| counts.failed.values().sum::<u64>();
        let closed = days.iter().filter(|counts| closing.is_exact(counts.day));
        let closed_months = months.iter().filter(|month| left(month, true) == 0);
        let failed: u64 = closed.chain(closed_months).map(failed).sum();
        if failed > 0 {
            open.states.insert(ReceiptState::Failed, failed);
        }
        let mut budget = MOST_OPEN_READ;
        for day in days.iter().filter_map(|counts| OpenDay::of(counts, &closing)) {
            self.add_open(scope, &day, &mut open, &mut budget).await?;
        }
        Ok(open)
    }

    /// Adds the receipts of a day, newest first, until all that are left are found.
    async fn add_open(
        &self,
        scope: &Scope,
        day: &OpenDay,
        open: &mut OpenReceipts,
        budget: &mut usize,
    ) -> Result<(), StoreError> {
        let is_asked =
            |state: &ReceiptState| !(state.is_final() || day.is_failed_counted && *state == ReceiptState::Failed);
        let filter = ReceiptFilter {
            states: ReceiptState::ALL.into_iter().filter(is_asked).collect(),
            ..ReceiptFilter::default()
        };
        let query = filter.query(scope, day.day);
        let (mut left, mut start) = (day.left, None);
        while left > 0 {
            if *budget == 0 {
                open.is_complete = false;
                return Ok(());
            }
            let part = (*budget).min(LARGEST_READ);
            let page = self
                .query_request(&query)
                .limit(i32::try_from(part).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|error| StoreError::from_sdk("count open receipts", error))?;
            let read = usize::try_from(page.scanned_count).unwrap_or(part);
            *budget = budget.saturating_sub(read.max(LEAST_COST));
            for item in page.items.unwrap_or_default() {
                let listed = read_listed(&Stored::new(item))?;
                *open.states.entry(listed.state).or_default() += 1;
                left = left.saturating_sub(1);
            }
            start = page.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        Ok(())
    }
}

impl OpenDay {
    fn of(counts: &DayCounts, closing: &Closing) -> Option<Self> {
        let is_failed_counted = closing.is_exact(counts.day);
        let left = left(counts, is_failed_counted);
        (left > 0).then_some(Self {
            day: counts.day,
            left,
            is_failed_counted,
        })
    }
}

/// How many receipts are neither final nor, where that is counted, `failed`.
fn left(counts: &DayCounts, is_failed_counted: bool) -> u64 {
    let created: u64 = counts.created.values().sum();
    let ended: u64 = counts.ended.values().sum();
    let failed: u64 = counts.failed.values().sum();
    created
        .saturating_sub(ended)
        .saturating_sub(if is_failed_counted { failed } else { 0 })
}
