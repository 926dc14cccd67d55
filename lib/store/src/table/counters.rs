//! Counters: one item per company, environment and day, with the number of created receipts, their final states and
//! their amounts.
//!
//! They are written separately from the receipt: housekeeping compares each day with the list of its receipts
//! ([`closing`](super::closing)). A verdict counts on the day of the receipt's creation, so that lists of that day can
//! use it.

use std::{collections::BTreeMap, fmt};

use ecf::{Amounts, Monto, ReceiptState, ReceiptType};
use jiff::{Timestamp, civil::Date};

use super::{
    Query, Sort, Table,
    change::Change,
    item::{Stored, number},
    key_uses,
    keys::{self, SK},
};
use crate::{
    StoreError,
    ids::{ApiKeyId, Scope},
};

/// Ends the name of an amount in centavos.
const AMOUNT: &str = "$";

/// The counts of one day, or of a month under its first day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayCounts {
    pub day: Date,
    pub created: BTreeMap<ReceiptType, u64>,
    pub ended: BTreeMap<(ReceiptType, ReceiptState), u64>,
    /// The number of `failed` receipts when the day was last counted by its list; no write counts them.
    pub failed: BTreeMap<ReceiptType, u64>,
    /// The amounts of the created receipts (without a state) and of the ended ones, in centavos.
    pub centavos: BTreeMap<(ReceiptType, Option<ReceiptState>), u128>,
}

impl DayCounts {
    /// A day without receipts.
    pub fn none(day: Date) -> Self {
        Self {
            day,
            created: BTreeMap::new(),
            ended: BTreeMap::new(),
            failed: BTreeMap::new(),
            centavos: BTreeMap::new(),
        }
    }

    /// Counts a receipt of this day in its current state.
    pub fn add(&mut self, ecf_type: ReceiptType, state: ReceiptState, monto_total: &str) {
        let centavos = centavos(monto_total);
        *self.created.entry(ecf_type).or_default() += 1;
        *self.centavos.entry((ecf_type, None)).or_default() += centavos;
        if state.is_final() {
            *self.ended.entry((ecf_type, state)).or_default() += 1;
            *self.centavos.entry((ecf_type, Some(state))).or_default() += centavos;
        }
        if state == ReceiptState::Failed {
            *self.failed.entry(ecf_type).or_default() += 1;
        }
    }

    /// Adds the counts of another day.
    pub fn add_all(&mut self, other: &Self) {
        for (ecf_type, count) in &other.created {
            *self.created.entry(*ecf_type).or_default() += count;
        }
        for (of, count) in &other.ended {
            *self.ended.entry(*of).or_default() += count;
        }
        for (ecf_type, count) in &other.failed {
            *self.failed.entry(*ecf_type).or_default() += count;
        }
        for (of, centavos) in &other.centavos {
            *self.centavos.entry(*of).or_default() += centavos;
        }
    }

    /// These counts without the failed receipts, which are exact only on a closed day.
    #[must_use]
    pub fn without_failed(mut self) -> Self {
        self.failed.clear();
        self
    }
}

/// A stored amount in centavos. An amount that does not parse counts as zero; the receipt's own check reports it.
fn centavos(monto_total: &str) -> u128 {
    let monto = Monto::parse(monto_total, Amounts::Verbatim);
    monto.map_or(0, |monto| monto.centavos())
}

/// `31: 4, 31$: 472.00, 31:accepted: 3`
impl fmt::Display for DayCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = names(self);
        if counts.is_empty() {
            return f.write_str("none");
        }
        let shown = |(name, count): (&String, &u128)| match name.strip_suffix(AMOUNT) {
            Some(_) => format!("{name}: {}.{:02}", count / 100, count % 100),
            None => format!("{name}: {count}"),
        };
        let counts: Vec<String> = counts.iter().map(shown).collect();
        f.write_str(&counts.join(", "))
    }
}

/// Each count with the name of its attribute.
pub(super) fn names(counts: &DayCounts) -> BTreeMap<String, u128> {
    let created = counts
        .created
        .iter()
        .map(|(ecf_type, count)| (count_name(*ecf_type, None), u128::from(*count)));
    let ended = counts
        .ended
        .iter()
        .map(|((ecf_type, state), count)| (count_name(*ecf_type, Some(*state)), u128::from(*count)));
    let failed = counts
        .failed
        .iter()
        .map(|(ecf_type, count)| (count_name(*ecf_type, Some(ReceiptState::Failed)), u128::from(*count)));
    let amounts = counts
        .centavos
        .iter()
        .map(|((ecf_type, state), centavos)| (amount_name(*ecf_type, *state), *centavos));
    created.chain(ended).chain(failed).chain(amounts).collect()
}

fn count_name(ecf_type: ReceiptType, state: Option<ReceiptState>) -> String {
    match state {
        None => ecf_type.as_str().to_owned(),
        Some(state) => format!("{}:{state}", ecf_type.as_str()),
    }
}

fn amount_name(ecf_type: ReceiptType, state: Option<ReceiptState>) -> String {
    count_name(ecf_type, state) + AMOUNT
}

impl Table {
    /// Counts a receipt that was created on this day, and records which API key issued it, and when.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn count_created(
        &self,
        scope: &Scope,
        day: Date,
        ecf_type: ReceiptType,
        monto_total: &str,
        asked_by: Option<(&ApiKeyId, Timestamp)>,
    ) -> Result<(), StoreError> {
        let change = counted(scope, day, ecf_type, None, monto_total);
        let change = match asked_by {
            Some((key, at)) => key_uses::issued(change, key, at),
            None => change,
        };
        self.apply("count", change).await.map(|_| ())
    }

    /// Counts the final state of a receipt that was created on this day.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn count_verdict(
        &self,
        scope: &Scope,
        day: Date,
        ecf_type: ReceiptType,
        state: ReceiptState,
        monto_total: &str,
    ) -> Result<(), StoreError> {
        let change = counted(scope, day, ecf_type, Some(state), monto_total);
        self.apply("count", change).await.map(|_| ())
    }

    /// The counts of the days from `from` to `to`, both included; days without receipts are omitted.
    pub async fn day_counts(&self, scope: &Scope, from: Date, to: Date) -> Result<Vec<DayCounts>, StoreError> {
        self.read_days(scope, from, to, false).await
    }

    /// The counts of the days, with a strongly consistent read.
    pub(super) async fn latest_day_counts(
        &self,
        scope: &Scope,
        from: Date,
        to: Date,
    ) -> Result<Vec<DayCounts>, StoreError> {
        self.read_days(scope, from, to, true).await
    }

    async fn read_days(
        &self,
        scope: &Scope,
        from: Date,
        to: Date,
        consistent: bool,
    ) -> Result<Vec<DayCounts>, StoreError> {
        let query = Query {
            sort: Sort::Between(SK, keys::day(from), keys::day(to)),
            consistent,
            ..Query::of(keys::counters_partition(scope))
        };
        let days = self.query("read counters", query).await?;
        days.iter().map(read_counts).collect()
    }
}

fn counted(scope: &Scope, day: Date, ecf_type: ReceiptType, state: Option<ReceiptState>, monto_total: &str) -> Change {
    Change::of(keys::counter(scope, day))
        .add(&count_name(ecf_type, state), number(1))
        .add(&amount_name(ecf_type, state), number(centavos(monto_total)))
}

fn read_counts(stored: &Stored) -> Result<DayCounts, StoreError> {
    let day = stored.sk()?.parse().map_err(|error| stored.corrupt(SK, error))?;
    read_counts_of(stored, day)
}

pub(super) fn read_counts_of(stored: &Stored, day: Date) -> Result<DayCounts, StoreError> {
    let mut counts = DayCounts::none(day);
    let is_count = |name: &&str| ![keys::PK, SK].contains(name) && !key_uses::is_key_use(name);
    for name in stored.names().filter(is_count) {
        let bad = |error: &dyn std::fmt::Display| stored.corrupt("count", format!("{name}: {error}"));
        let (of, is_amount) = name.strip_suffix(AMOUNT).map_or((name, false), |of| (of, true));
        let (ecf_type, state) = of
            .split_once(':')
            .map_or((of, None), |(ecf_type, state)| (ecf_type, Some(state)));
        let ecf_type: ReceiptType = ecf_type.parse().map_err(|error| bad(&error))?;
        let state: Option<ReceiptState> = state.map(str::parse).transpose().map_err(|error| bad(&error))?;
        if is_amount {
            counts.centavos.insert((ecf_type, state), stored.count(name)?);
            continue;
        }
        let count = stored.count(name)?;
        match state {
            None => counts.created.insert(ecf_type, count),
            Some(ReceiptState::Failed) => counts.failed.insert(ecf_type, count),
            Some(state) => counts.ended.insert((ecf_type, state), count),
        };
    }
    Ok(counts)
}
