//! Reads of the consistency check beyond single records, and its one repair.

use std::collections::{BTreeMap, BTreeSet};

use ecf::{Encf, ReceiptType};
use jiff::civil::Date;

use super::{
    Query, Sort, Table,
    annulments::{self, NumberHolder},
    change::Change,
    counters::{self, DayCounts},
    item::number,
    keys::{self, Key, LIST, LOCK_PARTITIONS, SK},
    receipts::{self, ListedReceipt},
    write::Applied,
};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
};

/// A part of a day's receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayPage {
    pub receipts: Vec<ListedReceipt>,
    /// The position of the next part; `None` at the end of the day.
    pub next: Option<String>,
}

impl Table {
    /// The holder of each number from `from` to `to`, both included; numbers without a lock are omitted.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn locks(
        &self,
        scope: &Scope,
        ecf_type: ReceiptType,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<u64, NumberHolder>, StoreError> {
        let mut locks = BTreeMap::new();
        for sequence in (from..=to).take(usize::try_from(LOCK_PARTITIONS).unwrap_or(usize::MAX)) {
            // Every sixteenth number is in the same partition.
            let partition = keys::lock_partition(scope, ecf_type, sequence);
            let query = Query {
                sort: Sort::Between(SK, keys::lock_sort(from), keys::lock_sort(to)),
                consistent: true,
                ..Query::of(partition)
            };
            for lock in self.query("read locks", query).await? {
                let number = lock.sk()?.parse().map_err(|error| lock.corrupt(SK, error))?;
                locks.insert(number, annulments::holder(&lock)?);
            }
        }
        Ok(locks)
    }

    /// The receipt that holds a number.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn lock_owner(&self, scope: &Scope, encf: &Encf) -> Result<Option<ReceiptId>, StoreError> {
        let lock = self.read("read e-NCF lock", &keys::encf_lock(scope, encf)).await?;
        match lock.as_ref().map(annulments::holder).transpose()? {
            Some(NumberHolder::Receipt(owner)) => Ok(Some(owner)),
            Some(NumberHolder::Annulled) | None => Ok(None),
        }
    }

    /// The receipts of one day, oldest first, at most `limit`, after the last part.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipts_of_day(
        &self,
        scope: &Scope,
        day: Date,
        after: Option<&str>,
        limit: usize,
    ) -> Result<DayPage, StoreError> {
        // `!` sorts before every character of a sort key, `~` after it.
        let from = after.map_or_else(String::new, |after| format!("{after}!"));
        let query = Query {
            sort: match after {
                Some(_) => Sort::Between(LIST.sk, from, "~".to_owned()),
                None => Sort::All,
            },
            limit: Some(limit),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        };
        let mut entries = self.query("list receipts", query).await?;
        entries.truncate(limit);
        let next = match entries.last() {
            Some(last) if entries.len() == limit => Some(last.str(LIST.sk)?.to_owned()),
            _ => None,
        };
        let receipts = entries.iter().map(receipts::read_listed).collect::<Result<_, _>>()?;
        Ok(DayPage { receipts, next })
    }

    /// Corrects a day's counters. Returns `false` when they changed since they were read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn correct_counts(
        &self,
        scope: &Scope,
        seen: &DayCounts,
        counted: &DayCounts,
    ) -> Result<bool, StoreError> {
        let key = keys::counter(scope, counted.day);
        self.correct("correct counts", key, seen, counted).await
    }

    pub(super) async fn correct(
        &self,
        operation: &'static str,
        key: Key,
        seen: &DayCounts,
        counted: &DayCounts,
    ) -> Result<bool, StoreError> {
        if seen == counted {
            return Ok(true);
        }
        let seen = counters::names(seen);
        let mut change = Change::of(key);
        let counted = counters::names(counted);
        for name in seen.keys().chain(counted.keys()).collect::<BTreeSet<_>>() {
            let (before, after) = (seen.get(name), counted.get(name));
            if before == after {
                continue;
            }
            change = change
                .set_or_remove(name, after.map(number))
                .still(name, before.map(number));
        }
        Ok(matches!(self.apply(operation, change).await?, Applied::Done(_)))
    }
}
