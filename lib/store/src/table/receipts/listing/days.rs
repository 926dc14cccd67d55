//! Months and days of a list: which exist, the number of their receipts, and the reads of single days.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan as _, civil::Date};

use super::{
    Closing, DayCounts, Found, LIST, PageRequest, Position, Query, Reading, ReceiptFilter, ReceiptPage, Scope, Sort,
    StoreError, Table, keys, read_listed, record,
};
use crate::table::{
    item::{Item, Stored},
    receipts::Span,
};

/// Upper bound of the receipts with one `external_id` in the same millisecond as the one before a page.
const SAME_INSTANT: usize = 20;
/// From this offset on, counting the skipped receipts is cheaper than reading them.
const COUNTED: usize = 200;

impl Table {
    /// The months that are completely within the list and whose counts are exact, oldest first.
    pub(super) async fn whole_months(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        first: Date,
        last: Date,
        closing: &Closing,
    ) -> Result<Vec<DayCounts>, StoreError> {
        let Some(until) = closing.until else {
            return Ok(Vec::new());
        };
        let last = last.min(until);
        if first > last {
            return Ok(Vec::new());
        }
        let months = self.month_counts(scope, first, last).await?;
        let is_whole = |month: &DayCounts| {
            let (begin, end) = (month.day, month.day.last_of_month());
            let is_cut = filter.cuts(begin) || filter.cuts(end);
            first <= begin && end <= last && !is_cut && closing.is_exact_month(begin)
        };
        Ok(months.into_iter().filter(is_whole).collect())
    }

    /// The days outside of these months that may have receipts, oldest first.
    pub(super) async fn days_outside(
        &self,
        scope: &Scope,
        first: Date,
        last: Date,
        months: &[DayCounts],
        closing: &Closing,
        today: Date,
    ) -> Result<Vec<DayCounts>, StoreError> {
        let mut days = BTreeMap::new();
        let mut from = first;
        let gaps = months.iter().map(|month| (month.day, Some(month.day.last_of_month())));
        for (next, end) in gaps.chain([(last.saturating_add(1.day()), None)]) {
            if from < next {
                let counts = self.day_counts(scope, from, next.saturating_sub(1.day())).await?;
                days.extend(counts.into_iter().map(|counts| (counts.day, counts)));
            }
            from = end.map_or(next, |end| end.saturating_add(1.day()));
        }
        // A day that was not compared yet may have receipts without a count.
        let open = match closing.until {
            Some(until) => until.saturating_add(1.day()),
            None => today.saturating_sub(1.day()),
        };
        let mut day = open.max(first);
        while day <= last.min(today) {
            days.entry(day).or_insert_with(|| DayCounts::none(day));
            day = day.saturating_add(1.day());
        }
        for late in closing.late.range(first..=last) {
            days.entry(*late).or_insert_with(|| DayCounts::none(*late));
        }
        Ok(days.into_values().collect())
    }

    /// The number of matching receipts of a day, from the index.
    pub(super) async fn count_of_day(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        day: Date,
    ) -> Result<u64, StoreError> {
        let count = self.count_items("count receipts", &filter.query(scope, day)).await?;
        Ok(count as u64)
    }

    /// The number of receipts of its day up to and including this one, in the order of the list.
    pub(super) async fn count_from(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        position: &Position,
    ) -> Result<u64, StoreError> {
        let query = filter.query(scope, position.day());
        let query = Query {
            sort: narrowed(&query.sort, position.sort_key().to_owned(), "~".to_owned()),
            ..query
        };
        Ok(self.count_items("count receipts", &query).await? as u64)
    }

    /// Reads a day, newest first, after a position and `skip` receipts. Returns the number of skipped receipts, and the
    /// receipts found.
    pub(super) async fn read_day(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        after: Option<&Position>,
        reading: &Reading,
    ) -> Result<(usize, Vec<Found>), StoreError> {
        let mut query = filter.query(scope, reading.day);
        if let Some(after) = after.filter(|after| after.day() == reading.day) {
            // Everything that sorts before it.
            query.sort = narrowed(&query.sort, "!".to_owned(), before(after.sort_key()));
        }
        let (mut skip, mut passed, mut start) = (reading.skip, 0, None);
        if skip >= COUNTED && query.only.is_empty() {
            let (counted, place) = self.pass_over("count receipts", &query, skip).await?;
            (passed, start) = (counted, place);
            skip -= counted;
            if start.is_none() {
                return Ok((passed, Vec::new()));
            }
        }
        query.limit = Some(skip.saturating_add(reading.take));
        let mut entries = self.query_from("list receipts", query, start).await?;
        entries.truncate(skip.saturating_add(reading.take));
        passed += entries.len().min(skip);
        let found = entries.iter().skip(skip).map(|entry| {
            let position = Position::of_sort_key(entry.str(LIST.sk)?);
            Ok((position, read_listed(entry)?.public_id))
        });
        Ok((passed, found.collect::<Result<_, StoreError>>()?))
    }

    /// Skips items of a query. Returns the number of skipped items, and the position after them; `None` when there are
    /// no more.
    async fn pass_over(
        &self,
        operation: &'static str,
        query: &Query<'_>,
        skip: usize,
    ) -> Result<(usize, Option<Item>), StoreError> {
        let (mut passed, mut start) = (0, None);
        while passed < skip {
            let left = i32::try_from(skip - passed).unwrap_or(i32::MAX);
            let page = self.count_page(operation, query, start, Some(left)).await?;
            passed += page.0;
            start = page.1;
            if start.is_none() {
                break;
            }
        }
        Ok((passed, start))
    }

    /// A page of the receipts with this `external_id`, newest first. The caller may use an `external_id` more than
    /// once.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipts_by_external_id(
        &self,
        scope: &Scope,
        external_id: &str,
        filter: &ReceiptFilter,
        page: &PageRequest,
    ) -> Result<ReceiptPage, StoreError> {
        let query = |span: Span, limit| Query {
            newest_first: true,
            limit,
            sort: span.sort(keys::EXTERNAL.sk, None),
            ..Query::index(&keys::EXTERNAL, keys::external_partition(scope, external_id))
        };
        if !filter.is_of_time() {
            let entries = self.query("find receipts", query(filter.span(), None)).await?;
            let ids: Vec<_> = positions(&entries)?.into_iter().map(|(_, id)| id).collect();
            let mut receipts = self.receipts_by_ids(scope, &ids).await?;
            receipts.retain(|receipt| filter.takes(receipt));
            return Ok(ReceiptPage::of_all(receipts, page));
        }
        let total = self.count_items("count receipts", &query(filter.span(), None)).await?;
        let mut span = filter.span();
        if let Some(after) = page.after.as_ref().and_then(Position::instant) {
            span.to = Some(span.to.map_or(after, |to| to.min(after)));
        }
        let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
        let enough = offset.saturating_add(page.limit).saturating_add(SAME_INSTANT);
        let entries = self.query("find receipts", query(span, Some(enough))).await?;
        let mut found = positions(&entries)?;
        found.retain(|(position, _)| page.after.as_ref().is_none_or(|after| position < after));
        found.drain(..offset.min(found.len()));
        let next = found
            .get(page.limit.saturating_sub(1))
            .map(|(position, _)| position.clone());
        let next = next.filter(|_| found.len() > page.limit);
        let ids: Vec<_> = found.into_iter().take(page.limit).map(|(_, id)| id).collect();
        let receipts = self.receipts_by_ids(scope, &ids).await?;
        Ok(ReceiptPage {
            receipts,
            total: total as u64,
            next,
        })
    }
}

/// Entries of the `external` index, in the order of lists.
fn positions(entries: &[Stored]) -> Result<Vec<Found>, StoreError> {
    let read = |entry: &Stored| {
        let id = record::read_key(entry)?.1;
        let millis: i64 = entry.parse(keys::EXTERNAL.sk)?;
        let at = Timestamp::from_millisecond(millis).map_err(|error| entry.corrupt(keys::EXTERNAL.sk, error))?;
        Ok((Position::of_sort_key(&keys::list_sort(at, &id)), id))
    };
    let mut found = entries.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
    found.sort_by(|one, other| other.0.cmp(&one.0));
    Ok(found)
}

/// A part of a day's list, within the requested part.
fn narrowed(sort: &Sort<'static>, low: String, high: String) -> Sort<'static> {
    match sort {
        Sort::Between(name, from, to) => Sort::Between(name, low.max(from.clone()), high.min(to.clone())),
        _ => Sort::Between(LIST.sk, low, high),
    }
}

/// A text that sorts just before this sort key, such that no sort key lies between them.
fn before(sort_key: &str) -> String {
    // Ids contain no character before `0`, so no key lies between the one with a decremented last character and this
    // one.
    let mut text = sort_key.to_owned();
    match text.pop() {
        Some(last) => {
            let lower = char::from_u32(u32::from(last).saturating_sub(1)).unwrap_or('!');
            text.push(lower);
            text.push('~');
            text
        }
        None => text,
    }
}
