//! The receipts of the summary: of a period, of a day, and under way.

use std::collections::BTreeMap;

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{counters::DayCounts, receipts::OpenReceipts};
use jiff::{ToSpan as _, civil::Date};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// The receipts created in a period; an end counts in the period of the receipt's creation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PeriodView {
    #[schema(value_type = String, format = Date)]
    from: Date,
    #[schema(value_type = String, format = Date)]
    to: Date,
    created: u64,
    /// How many ended in each state so far; a state that none ended in is left out.
    states: BTreeMap<&'static str, u64>,
    types: BTreeMap<&'static str, TypeCountsView>,
}

/// The same of one receipt type.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct TypeCountsView {
    created: u64,
    /// The sum of `MontoTotal` of the created ones, in pesos. Sums of several types are left to the caller, who knows that a
    /// credit note (34) takes away.
    amount: Centavos,
    states: BTreeMap<&'static str, u64>,
    /// The sum of `MontoTotal` of those that ended in each state.
    #[schema(value_type = BTreeMap<String, String>)]
    amounts: BTreeMap<&'static str, Centavos>,
}

/// A sum, written in pesos with two decimals.
#[derive(Debug, Default, Clone, Copy, ToSchema)]
#[schema(value_type = String, example = "118.00")]
pub(super) struct Centavos(i128);

impl Serialize for Centavos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (sign, size) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        serializer.collect_str(&format_args!("{sign}{}.{:02}", size / 100, size % 100))
    }
}

/// The receipts created on one day.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DayCountsView {
    #[schema(value_type = String, format = Date)]
    date: Date,
    created: u64,
    /// How many ended in each state so far; a state that none ended in is left out.
    states: BTreeMap<&'static str, u64>,
    /// The sum of `MontoTotal` of the created ones, in pesos. Credit notes (34) are subtracted, so it may be negative.
    amount: Centavos,
}

/// The receipts that are not final, whenever they were created. Counted by day counters and, for days with such receipts, by their
/// list: the numbers may lag by moments. Until a day is closed, half an hour after its end, a receipt whose count was lost may be
/// missing.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct OpenReceiptsView {
    /// Stored; it is numbered and signed within minutes.
    received: u64,
    /// Stored until `scheduled_for`.
    deferred: u64,
    /// On the way to the tax authority.
    signed: u64,
    /// Held while the tax authority is unreachable.
    contingency: u64,
    /// Sent; the verdict is polled.
    submitted: u64,
    /// Stopped; a person has to correct something.
    failed: u64,
    /// `false` when the days concerned have more than 5,000 receipts to search: the list may then be incomplete.
    complete: bool,
}

impl From<OpenReceipts> for OpenReceiptsView {
    fn from(open: OpenReceipts) -> Self {
        let mut view = Self {
            complete: open.is_complete,
            ..Self::default()
        };
        for (state, count) in open.states {
            let counted = match state {
                ReceiptState::Received | ReceiptState::Validated => &mut view.received,
                ReceiptState::Deferred => &mut view.deferred,
                ReceiptState::Signed => &mut view.signed,
                ReceiptState::Contingency => &mut view.contingency,
                ReceiptState::Submitted => &mut view.submitted,
                ReceiptState::Failed => &mut view.failed,
                ReceiptState::Accepted
                | ReceiptState::ConditionallyAccepted
                | ReceiptState::Rejected
                | ReceiptState::Cancelled
                | ReceiptState::Incapacity => continue,
            };
            *counted += count;
        }
        view
    }
}

impl DayCountsView {
    /// The last `count` days, oldest first.
    pub(super) fn days(count: u32, today: Date) -> Vec<Date> {
        (0..count)
            .rev()
            .map(|ago| today.saturating_sub(i64::from(ago).days()))
            .collect()
    }

    pub(super) fn of(date: Date, counted: &[DayCounts]) -> Self {
        let mut view = Self {
            date,
            created: 0,
            states: BTreeMap::new(),
            amount: Centavos::default(),
        };
        for day in counted.iter().filter(|day| day.day == date) {
            view.created += day.created.values().sum::<u64>();
            for ((_, state), count) in &day.ended {
                *view.states.entry(state.as_str()).or_default() += count;
            }
            for ((ecf_type, state), centavos) in &day.centavos {
                match (state, ecf_type) {
                    (Some(_), _) => {}
                    (None, ReceiptType::E34) => view.amount.0 -= signed(*centavos),
                    (None, _) => view.amount.0 += signed(*centavos),
                }
            }
        }
        view
    }
}

impl PeriodView {
    pub(super) fn of(from: Date, to: Date, days: &[DayCounts]) -> Self {
        let mut period = Self {
            from,
            to,
            created: 0,
            states: BTreeMap::new(),
            types: BTreeMap::new(),
        };
        for day in days.iter().filter(|day| (from..=to).contains(&day.day)) {
            for (ecf_type, count) in &day.created {
                period.created += count;
                period.types.entry(ecf_type.as_str()).or_default().created += count;
            }
            for ((ecf_type, state), count) in &day.ended {
                *period.states.entry(state.as_str()).or_default() += count;
                let of_type = period.types.entry(ecf_type.as_str()).or_default();
                *of_type.states.entry(state.as_str()).or_default() += count;
            }
            for ((ecf_type, state), centavos) in &day.centavos {
                let of_type = period.types.entry(ecf_type.as_str()).or_default();
                let sum = match state {
                    None => &mut of_type.amount,
                    Some(state) => of_type.amounts.entry(state.as_str()).or_default(),
                };
                sum.0 += signed(*centavos);
            }
        }
        period
    }
}

fn signed(centavos: u128) -> i128 {
    i128::try_from(centavos).unwrap_or(i128::MAX)
}
