//! Counters: one item per company, environment and day, with how many receipts were created and how they ended.
//!
//! They are counted beside the receipt's own write, not with it: a lost count is mended by the consistency check.
//! A verdict counts on the day of the receipt's creation, so that lists of that day can use it.

use std::{collections::BTreeMap, fmt};

use ecf::{ReceiptState, ReceiptType};
use jiff::civil::Date;

use super::{
    Query, Sort, Table,
    change::Change,
    item::{Stored, number},
    keys::{self, SK},
};
use crate::{StoreError, ids::Scope};

/// The counts of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayCounts {
    pub day: Date,
    pub created: BTreeMap<ReceiptType, u64>,
    pub ended: BTreeMap<(ReceiptType, ReceiptState), u64>,
}

impl DayCounts {
    /// A day without receipts.
    pub fn none(day: Date) -> Self {
        Self {
            day,
            created: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }
}

/// `31: 4, 31:accepted: 3`
impl fmt::Display for DayCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = names(self);
        if counts.is_empty() {
            return f.write_str("none");
        }
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name}: {count}")).collect();
        f.write_str(&counts.join(", "))
    }
}

/// Each count under the name of its attribute.
pub(super) fn names(counts: &DayCounts) -> BTreeMap<String, u64> {
    let created = counts
        .created
        .iter()
        .map(|(ecf_type, count)| (created_name(*ecf_type), *count));
    let ended = counts
        .ended
        .iter()
        .map(|((ecf_type, state), count)| (ended_name(*ecf_type, *state), *count));
    created.chain(ended).collect()
}

fn created_name(ecf_type: ReceiptType) -> String {
    ecf_type.as_str().to_owned()
}

fn ended_name(ecf_type: ReceiptType, state: ReceiptState) -> String {
    format!("{}:{state}", ecf_type.as_str())
}

impl Table {
    /// Counts a receipt that was created on this day.
    pub async fn count_created(&self, scope: &Scope, day: Date, ecf_type: ReceiptType) -> Result<(), StoreError> {
        self.count(scope, day, created_name(ecf_type)).await
    }

    /// Counts how a receipt that was created on this day ended.
    pub async fn count_verdict(
        &self,
        scope: &Scope,
        day: Date,
        ecf_type: ReceiptType,
        state: ReceiptState,
    ) -> Result<(), StoreError> {
        self.count(scope, day, ended_name(ecf_type, state)).await
    }

    /// The counts of the days from `from` to `to`, both included; days without receipts are left out.
    pub async fn day_counts(&self, scope: &Scope, from: Date, to: Date) -> Result<Vec<DayCounts>, StoreError> {
        let query = Query {
            sort: Sort::Between(SK, keys::day(from), keys::day(to)),
            ..Query::of(keys::counters_partition(scope))
        };
        self.query("read counters", query)
            .await?
            .iter()
            .map(read_counts)
            .collect()
    }

    async fn count(&self, scope: &Scope, day: Date, name: String) -> Result<(), StoreError> {
        self.apply("count", Change::of(keys::counter(scope, day)).add(&name, number(1)))
            .await?;
        Ok(())
    }
}

fn read_counts(stored: &Stored) -> Result<DayCounts, StoreError> {
    let day = stored.sk()?.parse().map_err(|error| stored.corrupt(SK, error))?;
    let mut counts = DayCounts::none(day);
    for name in stored.names().filter(|name| ![keys::PK, SK].contains(name)) {
        let count = stored.count(name)?;
        let (ecf_type, state) = name
            .split_once(':')
            .map_or((name, None), |(ecf_type, state)| (ecf_type, Some(state)));
        let bad = |error: &dyn std::fmt::Display| stored.corrupt("count", format!("{name}: {error}"));
        let ecf_type: ReceiptType = ecf_type.parse().map_err(|error| bad(&error))?;
        match state {
            None => counts.created.insert(ecf_type, count),
            Some(state) => {
                let state: ReceiptState = state.parse().map_err(|error| bad(&error))?;
                counts.ended.insert((ecf_type, state), count)
            }
        };
    }
    Ok(counts)
}
