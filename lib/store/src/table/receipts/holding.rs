//! Holding a receipt while the authority is out of reach, and the alarm about one that waits too long.

use ecf::ReceiptState;
use jiff::{SignedDuration, Timestamp};

use super::{
    Receipt, in_states,
    record::{DELIVERY_ALARM, STATE, UPDATED_AT},
    waiting,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        item::{instant, number, text},
        keys::{self, DUE},
        write::Applied,
    },
};

/// Receipts that are held until one instant come back within this time after it, so that none of them all come at once.
pub const HOLD_SPREAD: SignedDuration = SignedDuration::from_mins(2);

impl Table {
    /// Holds a receipt: one that waits for its send becomes `contingency`, and housekeeping looks after it at `until`, or
    /// within [`HOLD_SPREAD`] after. `false`: it is past that, or somebody is sending it.
    pub async fn hold(
        &self,
        scope: &Scope,
        seen: &Receipt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let next = until + seen.public_id.share_of(HOLD_SPREAD);
        if seen.state != ReceiptState::Signed {
            return self.postpone(scope, &seen.public_id, next).await;
        }
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(STATE, text(ReceiptState::Contingency))
            .set(DUE.sk, text(keys::due_sort(next)))
            .set(UPDATED_AT, instant(now));
        let idle = "attribute_exists(#ds) AND (attribute_not_exists(#lu) OR #lu <= :now)";
        let change = in_states(change, [ReceiptState::Signed], idle).bind(":now", instant(now));
        Ok(matches!(self.apply("hold", change).await?, Applied::Done(_)))
    }

    /// Notes that somebody was alarmed about a receipt that the authority does not have after so many hours. `false`:
    /// somebody was before, or the authority has it by now.
    pub async fn record_delivery_alarm(&self, scope: &Scope, seen: &Receipt, hours: u32) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id)).set(DELIVERY_ALARM, number(hours));
        let change =
            in_states(change, waiting(), "(attribute_not_exists(#da) OR #da < :hours)").bind(":hours", number(hours));
        Ok(matches!(
            self.apply("record delivery alarm", change).await?,
            Applied::Done(_)
        ))
    }
}
