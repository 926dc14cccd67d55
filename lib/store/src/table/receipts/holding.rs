//! Holds receipts while the authority is out of reach.

use ecf::ReceiptState;
use jiff::Timestamp;

use super::{
    Receipt, in_states,
    record::{HELD_AT, LEASE_UNTIL, STATE, UPDATED_AT},
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::{absent, at_most, exists},
        item::{instant, text},
        keys::{self, DUE},
    },
};

impl Table {
    /// Holds a receipt: one that waits for its send becomes `contingency`, and housekeeping looks at it at `until`.
    /// Returns `false` when it is past its send, or a worker is sending it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn hold(
        &self,
        scope: &Scope,
        seen: &Receipt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if seen.state != ReceiptState::Signed {
            return self.postpone(scope, &seen.public_id, until).await;
        }
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(STATE, text(ReceiptState::Contingency))
            .set(DUE.sk, text(keys::due_sort(until)))
            .set(HELD_AT, instant(now))
            .set(UPDATED_AT, instant(now))
            .when(in_states([ReceiptState::Signed]))
            .when(exists(DUE.sk))
            .when(absent(LEASE_UNTIL).or(at_most(LEASE_UNTIL, instant(now))));
        self.applied("hold", change).await
    }
}
