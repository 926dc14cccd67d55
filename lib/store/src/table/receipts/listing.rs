//! Receipts in order: newest first, filtered, a page at a time, with how many there are in all.
//!
//! A day that is wholly asked for is counted by its counters, one that is cut by an instant by the index. What comes before a
//! page is skipped by the same counts, whole days at once, so that the cost of a page does not grow with what is behind it.
//! The newest days are read or counted whatever their counters say: a receipt is counted just after it is created.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use ecf::{ReceiptState, ReceiptType};
use jiff::{Timestamp, ToSpan as _, civil::Date};

use super::{
    Receipt, Span,
    finding::read_listed,
    record::{self, ECF_TYPE, STATE},
};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{
        DayCounts, Query, Sort, Table,
        item::{Stored, text},
        keys::{self, LIST},
    },
};

/// DynamoDB reads so many items at once.
const BATCH: usize = 100;

/// Which receipts are asked for. Both instants are included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptFilter {
    pub state: Option<ReceiptState>,
    pub ecf_type: Option<ReceiptType>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl ReceiptFilter {
    /// Whether a receipt is asked for.
    pub fn takes(&self, receipt: &Receipt) -> bool {
        self.state.is_none_or(|state| state == receipt.state)
            && self.ecf_type.is_none_or(|ecf_type| ecf_type == receipt.ecf_type)
            && self.from.is_none_or(|from| from <= receipt.created_at)
            && self.to.is_none_or(|to| receipt.created_at <= to)
    }

    fn span(&self) -> Span {
        Span {
            from: self.from,
            to: self.to,
        }
    }

    /// Whether only a part of the day is asked for.
    fn cuts(&self, day: Date) -> bool {
        self.span().cuts(day)
    }

    fn query(&self, scope: &Scope, day: Date) -> Query<'static> {
        let sort = if self.cuts(day) {
            self.span().sort(LIST.sk, None)
        } else {
            Sort::All
        };
        let state = self.state.map(|state| (STATE, text(state)));
        let ecf_type = self.ecf_type.map(|ecf_type| (ECF_TYPE, text(ecf_type.as_str())));
        Query {
            sort,
            newest_first: true,
            only: state.into_iter().chain(ecf_type).collect(),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        }
    }

    /// What the counters know; `None`: they do not tell the states apart that are no end.
    fn counted(&self, counts: &DayCounts) -> Option<u64> {
        let is_asked = |ecf_type: &ReceiptType| self.ecf_type.is_none_or(|asked| asked == *ecf_type);
        let created = counts.created.iter().filter(|(ecf_type, _)| is_asked(ecf_type));
        let created: u64 = created.map(|(_, count)| count).sum();
        let ended = |state: Option<ReceiptState>| -> u64 {
            let ended = counts
                .ended
                .iter()
                .filter(|((ecf_type, end), _)| is_asked(ecf_type) && state.is_none_or(|state| state == *end));
            ended.map(|(_, count)| count).sum()
        };
        match self.state {
            None => Some(created),
            Some(state) if state.is_final() => Some(ended(Some(state))),
            Some(_) => (created <= ended(None)).then_some(0),
        }
    }
}

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptPage {
    pub receipts: Vec<Receipt>,
    /// How many there are in all.
    pub total: u64,
}

impl Table {
    /// At most `limit` receipts, newest first, after `offset` others.
    pub async fn list_receipts(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        (limit, offset): (usize, u64),
        now: Timestamp,
    ) -> Result<ReceiptPage, StoreError> {
        let today = keys::fiscal_day(now);
        let first = filter.from.map_or(Date::ZERO, keys::fiscal_day);
        // A clock of ours may be ahead of the one that asks.
        let last = filter.to.map_or(today + 1.day(), keys::fiscal_day);
        let is_backwards = filter.from.zip(filter.to).is_some_and(|(from, to)| from > to);
        if is_backwards || first > last {
            return Ok(ReceiptPage::default());
        }
        let mut days = self.day_counts(scope, first, last).await?;
        let is_fresh = |day: Date| day >= today - 1.day();
        for day in [today - 1.day(), today] {
            if (first..=last).contains(&day) && days.iter().all(|counts| counts.day != day) {
                days.push(DayCounts::none(day));
            }
        }
        days.sort_by_key(|counts| counts.day);

        let (mut total, mut skip, mut listed) = (0, offset, Vec::new());
        for counts in days.iter().rev() {
            let day = counts.day;
            let known = if filter.cuts(day) { None } else { filter.counted(counts) };
            let mut there = match known {
                Some(known) => known,
                None => self.count_of_day(scope, filter, day).await?,
            };
            let missing = limit - listed.len();
            if known.is_some() && is_fresh(day) && skip > 0 && there <= skip {
                there = there.max(self.count_of_day(scope, filter, day).await?);
            }
            if missing > 0 && (there > skip || (is_fresh(day) && skip == 0)) {
                let before = usize::try_from(skip).unwrap_or(usize::MAX);
                let seen = self
                    .ids_of_day(scope, filter, day, before.saturating_add(missing))
                    .await?;
                there = there.max(seen.len() as u64);
                listed.extend(seen.into_iter().skip(before));
            }
            total += there;
            skip = skip.saturating_sub(there);
        }
        let mut receipts = self.receipts_by_ids(scope, &listed).await?;
        // The index is behind by moments: who left the state meanwhile is not in the list of the state.
        receipts.retain(|receipt| filter.takes(receipt));
        Ok(ReceiptPage { receipts, total })
    }

    /// The receipts with this `external_id`, newest first; the identifier is the caller's, who may have used it again.
    pub async fn receipts_by_external_id(&self, scope: &Scope, external_id: &str) -> Result<Vec<Receipt>, StoreError> {
        let query = Query {
            newest_first: true,
            ..Query::index(&keys::EXTERNAL, keys::external_partition(scope, external_id))
        };
        let entries = self.query("find receipts", query).await?;
        let ids: Result<Vec<_>, _> = entries.iter().map(|entry| Ok(record::read_key(entry)?.1)).collect();
        self.receipts_by_ids(scope, &ids?).await
    }

    async fn count_of_day(&self, scope: &Scope, filter: &ReceiptFilter, day: Date) -> Result<u64, StoreError> {
        let count = self.count_items("count receipts", &filter.query(scope, day)).await?;
        Ok(count as u64)
    }

    async fn ids_of_day(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        day: Date,
        limit: usize,
    ) -> Result<Vec<ReceiptId>, StoreError> {
        let query = Query {
            limit: Some(limit),
            ..filter.query(scope, day)
        };
        let mut entries = self.query("list receipts", query).await?;
        entries.truncate(limit);
        entries
            .iter()
            .map(|entry| read_listed(entry).map(|listed| listed.public_id))
            .collect()
    }

    /// The receipts themselves, in the order of their ids.
    pub(super) async fn receipts_by_ids(&self, scope: &Scope, ids: &[ReceiptId]) -> Result<Vec<Receipt>, StoreError> {
        let mut read = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(BATCH) {
            let wanted = ids.iter().map(|id| keys::receipt(scope, id).attributes()).collect();
            for stored in self.read_batch("read receipts", wanted).await? {
                let receipt = record::read(&stored)?;
                read.insert(receipt.public_id, receipt);
            }
        }
        let mut receipts = Vec::with_capacity(ids.len());
        for id in ids {
            let receipt = match read.remove(id) {
                Some(receipt) => Some(receipt),
                // The batch left it out because the table was busy.
                None => self.receipt_eventual(scope, id).await?,
            };
            receipts.extend(receipt);
        }
        Ok(receipts)
    }

    /// What one request brings of these items; it may leave some out.
    async fn read_batch(
        &self,
        operation: &'static str,
        wanted: Vec<HashMap<String, AttributeValue>>,
    ) -> Result<Vec<Stored>, StoreError> {
        let request = KeysAndAttributes::builder().set_keys(Some(wanted)).build();
        let request = request.map_err(|error| StoreError::unexpected(operation, error))?;
        let answer = self
            .client
            .batch_get_item()
            .request_items(&self.name, request)
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        let items = answer.responses.unwrap_or_default().into_values().flatten();
        Ok(items.map(Stored::new).collect())
    }
}
