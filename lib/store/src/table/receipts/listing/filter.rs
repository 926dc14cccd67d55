//! The filter of a list of receipts.

use ecf::{ReceiptState, ReceiptType};
use jiff::{Timestamp, civil::Date};

use super::super::{
    Receipt, Span,
    record::{ECF_TYPE, STATE},
};
use crate::{
    ids::Scope,
    table::{
        Query, Sort,
        counters::DayCounts,
        item::text,
        keys::{self, LIST},
    },
};

/// The filter of a list of receipts. Both instants are included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptFilter {
    pub state: Option<ReceiptState>,
    pub ecf_type: Option<ReceiptType>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl ReceiptFilter {
    /// Whether a receipt matches.
    pub fn takes(&self, receipt: &Receipt) -> bool {
        self.state.is_none_or(|state| state == receipt.state)
            && self.ecf_type.is_none_or(|ecf_type| ecf_type == receipt.fiscal.ecf_type)
            && self.from.is_none_or(|from| from <= receipt.created_at)
            && self.to.is_none_or(|to| receipt.created_at <= to)
    }

    /// Whether only the time of a receipt matters.
    pub(super) fn is_of_time(&self) -> bool {
        self.state.is_none() && self.ecf_type.is_none()
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
        let state = self.state.map(|state| (STATE, text(state)));
        let ecf_type = self.ecf_type.map(|ecf_type| (ECF_TYPE, text(ecf_type.as_str())));
        Query {
            sort,
            newest_first: true,
            only: state.into_iter().chain(ecf_type).collect(),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        }
    }

    /// The number of matching receipts from the counters of a closed day, or of today, for which `failed` is not
    /// counted yet. `None` when the counters do not distinguish the state.
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
        let counted = |state: Option<ReceiptState>| -> u64 {
            let all = ended.clone().chain(failed.clone());
            let asked = all.filter(|(ecf_type, of, _)| is_asked(ecf_type) && state.is_none_or(|state| state == *of));
            asked.map(|(_, _, count)| count).sum()
        };
        match self.state {
            None => Some(created),
            Some(state) if state.is_final() || created <= counted(None) => Some(counted(Some(state))),
            Some(_) => None,
        }
    }
}
