//! Pages of receipts: newest first, filtered, with their total.
//!
//! Receipts before a page are skipped, and those after it are counted, with counters: whole months, then days. Only
//! counters that were compared with the list are used ([`Closing`]). Today is read from the index and counted with its
//! counters, which may lag by moments. Every other day that is not closed, and every day that a filter cuts, is counted
//! with the index. So the cost of a page does not grow with the number of receipts after it.

mod days;
mod filter;
mod open;
mod position;
mod searching;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{Timestamp, ToSpan as _, civil::Date};

pub use filter::ReceiptFilter;
pub use open::{MOST_OPEN_READ, OpenReceipts};
pub use position::{Position, UnknownPosition};
pub use searching::{ContentFilter, MOST_SEARCHED, Searched};

use super::{Receipt, finding::read_listed, record};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{
        Query, Sort, Table,
        closing::Closing,
        counters::DayCounts,
        keys::{self, LIST},
    },
};

/// Days that are read concurrently.
const AT_ONCE: usize = 8;

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptPage {
    pub receipts: Vec<Receipt>,
    /// The total of the list.
    pub total: u64,
    /// The position of the next page; `None` on the last one.
    pub next: Option<Position>,
}

impl ReceiptPage {
    /// A page of a list that is completely in memory.
    pub fn of_all(receipts: Vec<Receipt>, page: &PageRequest) -> Self {
        let total = receipts.len() as u64;
        let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
        let is_behind = |receipt: &Receipt| page.after.as_ref().is_none_or(|after| Position::of(receipt) < *after);
        let mut left = receipts.into_iter().filter(is_behind).skip(offset);
        let receipts: Vec<_> = left.by_ref().take(page.limit).collect();
        let next = left.next().and(receipts.last()).map(Position::of);
        Self { receipts, total, next }
    }
}

/// The requested part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: usize,
    /// Receipts to skip.
    pub offset: u64,
    /// The page begins after this position, which an earlier page returned; the offset counts from there.
    pub after: Option<Position>,
}

/// A planned read of one day.
struct Reading {
    day: Date,
    skip: usize,
    take: usize,
}

type Found = (Position, ReceiptId);

/// A walk from the newest to the oldest day.
struct Walk<'a> {
    table: &'a Table,
    scope: &'a Scope,
    filter: &'a ReceiptFilter,
    after: Option<&'a Position>,
    skip: u64,
    /// Receipts of the page that are not found yet.
    missing: usize,
    total: u64,
    found: Vec<Found>,
    readings: Vec<Reading>,
}

impl Table {
    /// A page of the receipts, newest first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn list_receipts(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        page: &PageRequest,
        now: Timestamp,
    ) -> Result<ReceiptPage, StoreError> {
        let today = keys::fiscal_day(now);
        // Another server's clock may be ahead of ours.
        let Some((first, last)) = filter.days(today.saturating_add(1.day())) else {
            return Ok(ReceiptPage::default());
        };
        let closing = self.closing(scope).await?;
        if !closing.is_begun {
            self.begin_closing(scope, now).await?;
        }
        let mut walk = Walk {
            table: self,
            scope,
            filter,
            after: page.after.as_ref(),
            skip: page.offset,
            // One more than the page, to learn whether there is a next page.
            missing: page.limit.saturating_add(1),
            total: 0,
            found: Vec::new(),
            readings: Vec::new(),
        };
        let months = self.whole_months(scope, filter, first, last, &closing).await?;
        // Closed months without counts have no receipts.
        let first = match months.first() {
            Some(month) if filter.from.is_none() && closing.late.range(..month.day).next().is_none() => month.day,
            _ => first,
        };
        let days = self.days_outside(scope, first, last, &months, &closing, today).await?;
        let (fresh, settled) = days.into_iter().partition::<Vec<_>, _>(|counts| counts.day >= today);
        for counts in fresh.iter().rev() {
            walk.visit_fresh(counts).await?;
        }
        walk.visit_all(&settled, &months, &closing).await?;
        walk.finish(page.limit).await
    }
}

impl Walk<'_> {
    /// An unfinished day: read as far as the page reaches, otherwise counted with its counters, which may lag by
    /// moments.
    async fn visit_fresh(&mut self, counts: &DayCounts) -> Result<(), StoreError> {
        let day = counts.day;
        let mut there = match self.filter.known(counts) {
            Some(known) if !self.is_cut(day) => known,
            _ => self.table.count_of_day(self.scope, self.filter, day).await?,
        };
        if self.begins_before(day) {
            self.total += there;
            return Ok(());
        }
        if self.missing > 0 {
            let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
            let reading = Reading {
                day,
                skip,
                take: self.missing,
            };
            let (passed, found) = self
                .table
                .read_day(self.scope, self.filter, self.after, &reading)
                .await?;
            self.missing -= found.len();
            let seen = (passed + found.len()) as u64;
            // A read up to the end of the day gives the exact number.
            there = if self.missing > 0 && self.after.is_none() {
                seen
            } else {
                there.max(seen)
            };
            self.skip = self.skip.saturating_sub(passed as u64);
            self.found.extend(found);
        }
        self.total += there;
        Ok(())
    }

    /// All other days, whose counts are exact.
    async fn visit_all(
        &mut self,
        days: &[DayCounts],
        months: &[DayCounts],
        closing: &Closing,
    ) -> Result<(), StoreError> {
        let mut months = months.iter().rev().peekable();
        let mut rest = days.iter().rev().peekable();
        loop {
            let month_is_newer = match (months.peek(), rest.peek()) {
                (Some(month), Some(day)) => month.day > day.day,
                (month, None) => month.is_some(),
                (None, Some(_)) => false,
            };
            if month_is_newer {
                let Some(month) = months.next() else { return Ok(()) };
                self.visit_month(month, closing).await?;
                continue;
            }
            // Days without a month between them are counted together.
            let until = months.peek().map(|month| month.day);
            let mut run = Vec::new();
            while let Some(day) = rest.next_if(|day| until.is_none_or(|month| day.day > month)) {
                run.push(day);
            }
            if run.is_empty() {
                return Ok(());
            }
            self.visit_days(&run, closing).await?;
        }
    }

    async fn visit_month(&mut self, month: &DayCounts, closing: &Closing) -> Result<(), StoreError> {
        let first = month.day;
        let is_passed = |there: u64| self.missing == 0 || there <= self.skip;
        match self.filter.known(month) {
            Some(there) if self.begins_before(first) => self.total += there,
            Some(there) if self.after.is_none_or(|after| after.day() > first.last_of_month()) && is_passed(there) => {
                self.total += there;
                if self.missing > 0 {
                    self.skip -= there;
                }
            }
            _ => {
                let days = self.table.day_counts(self.scope, first, first.last_of_month()).await?;
                let days: Vec<_> = days.iter().rev().collect();
                self.visit_days(&days, closing).await?;
            }
        }
        Ok(())
    }

    /// Days, newest first.
    async fn visit_days(&mut self, days: &[&DayCounts], closing: &Closing) -> Result<(), StoreError> {
        let counts: Vec<_> = days.iter().map(|counts| self.exact(counts, closing)).collect();
        let counts: Vec<u64> = stream::iter(counts).buffered(AT_ONCE).try_collect().await?;
        for (counts, there) in days.iter().zip(counts) {
            let day = counts.day;
            self.total += there;
            if there == 0 || self.missing == 0 || self.begins_before(day) {
                continue;
            }
            let before = match self.after {
                Some(after) if after.day() == day => self.table.count_from(self.scope, self.filter, after).await?,
                _ => 0,
            };
            let left = there.saturating_sub(before);
            if left <= self.skip {
                self.skip -= left;
                continue;
            }
            let take = usize::try_from(left - self.skip)
                .unwrap_or(usize::MAX)
                .min(self.missing);
            let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
            self.readings.push(Reading { day, skip, take });
            self.missing -= take;
            self.skip = 0;
        }
        Ok(())
    }

    /// The number of matching receipts of a day.
    async fn exact(&self, counts: &DayCounts, closing: &Closing) -> Result<u64, StoreError> {
        let day = counts.day;
        match self.filter.known(counts) {
            Some(known) if closing.is_exact(day) && !self.is_cut(day) => Ok(known),
            _ => self.table.count_of_day(self.scope, self.filter, day).await,
        }
    }

    fn is_cut(&self, day: Date) -> bool {
        self.filter.cuts(day)
    }

    /// Whether the whole day comes before the page.
    fn begins_before(&self, day: Date) -> bool {
        self.after.is_some_and(|after| day > after.day())
    }

    /// Executes the planned reads.
    async fn finish(self, limit: usize) -> Result<ReceiptPage, StoreError> {
        let Self {
            table,
            scope,
            filter,
            after,
            ..
        } = self;
        let readings = self.readings.iter();
        let readings: Vec<_> = readings
            .map(|reading| table.read_day(scope, filter, after, reading))
            .collect();
        let read: Vec<_> = stream::iter(readings).buffered(AT_ONCE).try_collect().await?;
        let mut found = self.found;
        found.extend(read.into_iter().flat_map(|(_, found)| found));
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().map(|(position, _)| position.clone()).filter(|_| has_more);
        let ids: Vec<_> = found.into_iter().map(|(_, id)| id).collect();
        let mut receipts = table.receipts_by_ids(scope, &ids).await?;
        // The index may lag by moments: a receipt that has left the state meanwhile does not belong in the list.
        receipts.retain(|receipt| filter.takes(receipt));
        Ok(ReceiptPage {
            receipts,
            total: self.total,
            next,
        })
    }
}
