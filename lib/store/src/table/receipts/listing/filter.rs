//! The filter of a list of receipts.

use std::collections::BTreeSet;

use ecf::{ReceiptState, ReceiptType};
use jiff::{Timestamp, civil::Date};

use super::super::{
    Receipt, Span,
    record::{ECF_TYPE, STATE},
};
use crate::{
    ids::Scope,
    table::{
        Only, Query, Sort,
        counters::DayCounts,
        item::text,
        keys::{self, LIST},
    },
};

/// The filter of a list of receipts. Both instants are included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptFilter {
    /// Receipts in one of these states; empty: in any state.
    pub states: BTreeSet<ReceiptState>,
    pub ecf_type: Option<ReceiptType>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl ReceiptFilter {
    /// Whether a receipt matches.
    pub fn takes(&self, receipt: &Receipt) -> bool {
        (self.states.is_empty() || self.states.contains(&receipt.state))
            && self.ecf_type.is_none_or(|ecf_type| ecf_type == receipt.fiscal.ecf_type)
            && self.from.is_none_or(|from| from <= receipt.created_at)
            && self.to.is_none_or(|to| receipt.created_at <= to)
    }

    /// Whether only the time of a receipt matters.
    pub(super) fn is_of_time(&self) -> bool {
        self.states.is_empty() && self.ecf_type.is_none()
    }

    pub(super) fn span(&self) -> Span {
        Span {
            from: self.from,
            to: self.to,
        }
    }

    /// The first and the last matching day; `None` when nothing can match.
    pub(super) fn days(&self, newest: Date) -> Option<(Date, Date)> {
        let first = self.from.map_or(Date::ZERO, keys::fiscal_day);
        let last = self.to.map_or(newest, keys::fiscal_day).min(newest);
        let is_backwards = self.from.zip(self.to).is_some_and(|(from, to)| from > to);
        (!is_backwards && first <= last).then_some((first, last))
    }

    /// Whether only a part of the day matches.
    pub(super) fn cuts(&self, day: Date) -> bool {
        self.span().cuts(day)
    }

    pub(super) fn query(&self, scope: &Scope, day: Date) -> Query<'static> {
        let sort = if self.cuts(day) {
            self.span().sort(LIST.sk, None)
        } else {
            Sort::All
        };
        let states: Vec<_> = self.states.iter().map(text).collect();
        let states = (!states.is_empty()).then_some(Only::OneOf(STATE, states));
        let ecf_type = self
            .ecf_type
            .map(|ecf_type| Only::Is(ECF_TYPE, text(ecf_type.as_str())));
        Query {
            sort,
            newest_first: true,
            only: states.into_iter().chain(ecf_type).collect(),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        }
    }

    /// The number of matching receipts from the counters of a closed day, or of today, for which `failed` is not
    /// counted yet. `None` when the counters do not distinguish the states.
    pub(super) fn known(&self, counts: &DayCounts) -> Option<u64> {
        let is_asked = |ecf_type: &ReceiptType| self.ecf_type.is_none_or(|asked| asked == *ecf_type);
        let created = counts.created.iter().filter(|(ecf_type, _)| is_asked(ecf_type));
        let created: u64 = created.map(|(_, count)| count).sum();
        let ended = counts
            .ended
            .iter()
            .map(|((ecf_type, state), count)| (ecf_type, *state, count));
        let failed = counts
            .failed
            .iter()
            .map(|(ecf_type, count)| (ecf_type, ReceiptState::Failed, count));
        if self.states.is_empty() {
            return Some(created);
        }
        let ended: Vec<_> = ended
            .chain(failed)
            .filter(|(ecf_type, _, _)| is_asked(ecf_type))
            .collect();
        let is_known = self.states.iter().all(|state| state.is_final())
            || created <= ended.iter().map(|(_, _, count)| **count).sum();
        let asked = ended.iter().filter(|(_, state, _)| self.states.contains(state));
        is_known.then(|| asked.map(|(_, _, count)| **count).sum())
    }
}
