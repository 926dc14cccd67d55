//! All receipts of a span of time, oldest first, in parts of a day: for readers that must not miss one.
//!
//! Unlike a list it reads the index of every day and uses no counter.

use jiff::{Timestamp, civil::Date};

use super::Receipt;
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Query, Sort, Table,
        keys::{self, LIST},
        receipts::read_listed,
    },
};

/// Upper bound of the receipts in one part.
const PART: usize = 100;

/// A span of time; both instants are included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl Span {
    /// Whether only a part of the day is within the span.
    pub fn cuts(&self, day: Date) -> bool {
        let is_day_of = |instant: Option<Timestamp>| instant.is_some_and(|instant| keys::fiscal_day(instant) == day);
        is_day_of(self.from) || is_day_of(self.to)
    }

    /// The part of an index whose sort keys begin with milliseconds, starting after `after`.
    pub(in crate::table) fn sort(&self, name: &'static str, after: Option<&str>) -> Sort<'static> {
        // `!` sorts before every character of a sort key, `~` after it.
        let low = match after {
            Some(after) => format!("{after}!"),
            None => self.from.map_or_else(|| "!".to_owned(), keys::millis_sort),
        };
        let high = self.to.map(keys::millis_sort).unwrap_or_default() + "~";
        Sort::Between(name, low, high)
    }
}

/// A part of a day's receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkedPart {
    pub receipts: Vec<Receipt>,
    /// The position of the next part; `None` at the end of the day.
    pub next: Option<String>,
}

impl Table {
    /// The receipts of a day that were created within the span, oldest first, after the last part.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn walk_receipts(
        &self,
        scope: &Scope,
        span: &Span,
        day: Date,
        after: Option<&str>,
    ) -> Result<WalkedPart, StoreError> {
        let query = Query {
            sort: span.sort(LIST.sk, after),
            limit: Some(PART),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        };
        let mut entries = self.query("walk receipts", query).await?;
        entries.truncate(PART);
        let next = match entries.last() {
            Some(last) if entries.len() == PART => Some(last.str(LIST.sk)?.to_owned()),
            _ => None,
        };
        let ids: Result<Vec<_>, _> = entries
            .iter()
            .map(|entry| read_listed(entry).map(|listed| listed.public_id))
            .collect();
        let receipts = self.receipts_by_ids(scope, &ids?).await?;
        Ok(WalkedPart { receipts, next })
    }

    /// The number of receipts of a day that were created within the span.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn count_within(&self, scope: &Scope, span: &Span, day: Date) -> Result<usize, StoreError> {
        let query = Query {
            sort: span.sort(LIST.sk, None),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        };
        self.count_items("count receipts", &query).await
    }
}
