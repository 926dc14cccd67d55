//! An operator's decisions about receipts that cannot continue on their own.

use ecf::ReceiptState;
use jiff::Timestamp;

use super::{
    Receipt, Recorded, in_states, operator_transition_to,
    record::{ENCF, ERROR_CODE, ERROR_MESSAGE, LEASE, RESPONSE, STATE, UPDATED_AT},
    sending::OUTCOME_UNKNOWN,
    verdict::recorded,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        closing::created_since,
        condition::{absent, equals, exists},
        due,
        item::{instant, text},
        keys::{self, DUE, TRACK},
    },
};

impl Table {
    /// Retries a failed receipt: sends it again when it is signed, otherwise issues it again.
    pub async fn retry_failed(&self, scope: &Scope, seen: &Receipt, now: Timestamp) -> Result<Recorded, StoreError> {
        let (next, as_seen) = match seen.fiscal.signed {
            Some(_) => (ReceiptState::Signed, exists(ENCF)),
            None => (ReceiptState::Received, absent(ENCF)),
        };
        let id = &seen.public_id;
        let change = Change::of(keys::receipt(scope, id))
            .set(STATE, text(next))
            .set(UPDATED_AT, instant(now))
            .set(DUE.pk, text(keys::due_partition(due::shard_of(id))))
            .set(DUE.sk, text(keys::due_sort(now)))
            .remove(&LEASE)
            .remove(&[ERROR_CODE, ERROR_MESSAGE, RESPONSE])
            .when(operator_transition_to(next))
            .when(as_seen);
        if seen.created_at < created_since(now) {
            self.record_late_change(scope, seen.day(), now).await?;
        }
        recorded(self.apply("retry failed receipt", change).await?)
    }

    /// Records the track id of a receipt whose outcome was unknown; its verdict is polled next.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn resolve_outcome(
        &self,
        scope: &Scope,
        seen: &Receipt,
        track_id: &str,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let id = &seen.public_id;
        let change = Change::of(keys::receipt(scope, id))
            .set(TRACK.pk, text(keys::track_partition(scope, track_id)))
            .set(TRACK.sk, text(keys::millis_sort(now)))
            .set(UPDATED_AT, instant(now))
            .set(DUE.pk, text(keys::due_partition(due::shard_of(id))))
            .set(DUE.sk, text(keys::due_sort(now)))
            .remove(&[ERROR_CODE, ERROR_MESSAGE])
            .when(in_states([ReceiptState::Submitted]))
            .when(equals(ERROR_CODE, text(OUTCOME_UNKNOWN)))
            .when(absent(TRACK.pk));
        recorded(self.apply("resolve outcome", change).await?)
    }
}
