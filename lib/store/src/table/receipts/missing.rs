//! Documents for which the authority issued a track id, and which it does not find any more: they are looked up by
//! number, and sent again if they are missing.
//!
//! Each look-up that found nothing is counted, at most one a minute. After [`super::LOOKUPS_BEFORE_RESEND`] of them,
//! [`Table::return_to_send`] puts the receipt into the state after a lost send with its look-ups done, and
//! [`Table::claim_resend`] sends the same bytes.

pub use ecf::waits::NOT_FOUND_WINDOW;
use ecf::{Condition, ReceiptState};
use jiff::Timestamp;

use super::{
    LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, Receipt, Recorded, any_of, in_states,
    record::{
        ENCF, ERROR_CODE, ERROR_MESSAGE, LEASE_UNTIL, LOOKED_UP_AT, LOST_TRACK_IDS, NEGATIVES, OPERATOR_DECISION,
        STATE, SUBMITTED_AT, UPDATED_AT,
    },
    verdict::recorded,
    ways_to,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::{Predicate, absent, at_least, at_most, equals, exists},
        due,
        item::{instant, number, text, texts},
        keys::{self, DUE, TRACK},
    },
};

/// The source of the finding that the authority does not have a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFoundBy {
    /// The look-ups by number.
    LookUps,
    /// An operator, where the number cannot be looked up or the look-ups give no answer.
    Operator,
}

impl Table {
    /// Counts a look-up by number of a submitted receipt that found nothing. A look-up within a minute of the last one
    /// does not count.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_not_found(
        &self,
        scope: &Scope,
        seen: &Receipt,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .add(NEGATIVES, number(1))
            .set(LOOKED_UP_AT, instant(now))
            .set(UPDATED_AT, instant(now))
            .when(is_submitted_as(seen))
            .when(absent(LOOKED_UP_AT).or(at_most(LOOKED_UP_AT, instant(now - LOOKUP_SPACING))));
        recorded(self.apply("record not found", change).await?)
    }

    /// Resets the count of look-ups: the authority finds the document again.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_found_again(
        &self,
        scope: &Scope,
        seen: &Receipt,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(UPDATED_AT, instant(now))
            .remove(&[NEGATIVES, LOOKED_UP_AT])
            .when(is_submitted_as(seen))
            .when(exists(ENCF));
        recorded(self.apply("record found again", change).await?)
    }

    /// Replaces the track id that the authority does not find by the one under which it has the document.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn replace_track(
        &self,
        scope: &Scope,
        seen: &Receipt,
        track_id: &str,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(TRACK.pk, text(keys::track_partition(scope, track_id)))
            .set(TRACK.sk, text(keys::millis_sort(now)))
            .set(UPDATED_AT, instant(now))
            .remove(&[NEGATIVES, LOOKED_UP_AT])
            .when(is_submitted_as(seen))
            .when(exists(ENCF));
        recorded(self.apply("replace track", lose_track(change, seen)).await?)
    }

    /// Returns a submitted receipt that the authority does not have to its send. Its lease has expired and its look-ups
    /// found nothing, so the next worker sends the same bytes.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn return_to_send(
        &self,
        scope: &Scope,
        seen: &Receipt,
        by: NotFoundBy,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let id = &seen.public_id;
        let change = Change::of(keys::receipt(scope, id))
            .set(STATE, text(ReceiptState::Signed))
            .set(LEASE_UNTIL, instant(now))
            .set(NEGATIVES, number(LOOKUPS_BEFORE_RESEND))
            .set(UPDATED_AT, instant(now))
            .set(DUE.pk, text(keys::due_partition(due::shard_of(id))))
            .set(DUE.sk, text(keys::due_sort(now + LOOKUP_SPACING)))
            .remove(&[
                TRACK.pk,
                TRACK.sk,
                SUBMITTED_AT,
                LOOKED_UP_AT,
                ERROR_CODE,
                ERROR_MESSAGE,
            ]);
        let looked_up = match by {
            NotFoundBy::LookUps => at_least(NEGATIVES, number(LOOKUPS_BEFORE_RESEND)),
            NotFoundBy::Operator => exists(ENCF),
        };
        let ways = ways_to(ReceiptState::Signed).filter(|(_, condition)| *condition == Condition::NotFound);
        let change = lose_track(change, seen)
            .when(any_of(ways))
            .when(has_track_of(seen))
            .when(looked_up);
        recorded(self.apply("return to send", change).await?)
    }

    /// Records an operator's decision about a receipt before its execution, on the condition of the state that the
    /// operator saw.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_decision(
        &self,
        scope: &Scope,
        seen: &Receipt,
        decision: &str,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(OPERATOR_DECISION, text(format!("{now} {decision}")))
            .when(in_states([seen.state]))
            .when(equals(UPDATED_AT, instant(seen.updated_at)));
        recorded(self.apply("record decision", change).await?)
    }
}

/// The receipt is submitted with the track id that was seen.
fn is_submitted_as(seen: &Receipt) -> Predicate {
    in_states([ReceiptState::Submitted]).and(has_track_of(seen))
}

fn has_track_of(seen: &Receipt) -> Predicate {
    let track_id = seen.sending.track_id.as_deref().unwrap_or_default();
    equals(TRACK.pk, text(keys::track_partition(&seen.scope, track_id)))
}

/// The document of this track id may still appear, so the id is retained.
fn lose_track(change: Change, seen: &Receipt) -> Change {
    match &seen.sending.track_id {
        Some(track_id) => change.add(LOST_TRACK_IDS, texts([track_id])),
        None => change,
    }
}
