//! An operator's decisions about receipts that cannot continue on their own.

use ecf::ReceiptState;
use jiff::Timestamp;

use super::{
    Receipt, Recorded, as_the_table_says_to_operators, in_states,
    record::{ERROR_CODE, ERROR_MESSAGE, LEASE, RESPONSE, STATE, UPDATED_AT},
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
        due,
        item::{instant, text},
        keys::{self, DUE, TRACK},
    },
};

impl Table {
    /// Retries a failed receipt: sends it again when it is signed, otherwise issues it again.
    pub async fn retry_failed(&self, scope: &Scope, seen: &Receipt, now: Timestamp) -> Result<Recorded, StoreError> {
        let (next, as_seen) = match seen.signed {
            Some(_) => (ReceiptState::Signed, "attribute_exists(#en)"),
            None => (ReceiptState::Received, "attribute_not_exists(#en)"),
        };
        let id = &seen.public_id;
        let change = Change::of(keys::receipt(scope, id))
            .set(STATE, text(next))
            .set(UPDATED_AT, instant(now))
            .set(DUE.pk, text(keys::due_partition(due::shard_of(id))))
            .set(DUE.sk, text(keys::due_sort(now)))
            .remove(&LEASE)
            .remove(&[ERROR_CODE, ERROR_MESSAGE, RESPONSE]);
        let change = as_the_table_says_to_operators(change, next, as_seen);
        if seen.created_at < created_since(now) {
            self.note_late_change(scope, seen.day(), now).await?;
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
            .remove(&[ERROR_CODE, ERROR_MESSAGE]);
        let unknown = "#ec = :unknown AND attribute_not_exists(#tp)";
        let change = in_states(change, [ReceiptState::Submitted], unknown).bind(":unknown", text(OUTCOME_UNKNOWN));
        recorded(self.apply("resolve outcome", change).await?)
    }
}
