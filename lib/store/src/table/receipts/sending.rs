//! Claims before each send, so that no two workers send one receipt and no crash hides a send.
//!
//! A claim is a lease on the item. It ends in three ways: the send certainly did not arrive ([`Table::release_send`]),
//! it was answered ([`Table::record_submitted`], a verdict), or the lease expires. An expired lease means that a send
//! may have arrived and its answer was lost: then only [`Table::claim_lookup`] claims the receipt, and
//! [`Table::claim_resend`] refuses until two look-ups, a minute apart, found nothing.

use ecf::ReceiptState;
pub use ecf::waits::{LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND};
use jiff::{SignedDuration, Timestamp};

use super::{
    Receipt, Recorded, in_states,
    record::{
        self, AWAITS_INVOICE, ERROR_CODE, ERROR_MESSAGE, LEASE, LEASE_KEY, LEASE_UNTIL, LOOKED_UP_AT, LOST_SEND,
        NEGATIVES, RESENT_AT, SEND_ATTEMPT, SEND_STARTED_AT, STATE, SUBMITTED_AT, UPDATED_AT,
    },
    verdict::{ALARM_LOOK, recorded},
    waiting,
};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        change::Change,
        condition::{Predicate, absent, at_least, at_most, equals, exists},
        item::{Stored, flag, instant, number, text, to_millis},
        keys::{self, DUE, TRACK},
        write::{Applied, random},
    },
};

/// The error code of a receipt whose send was lost, in an environment without a look-up.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// The result of claiming a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The caller has the lease.
    Claimed(Receipt),
    /// Another worker has the lease.
    Leased(Receipt),
    /// An earlier send may have arrived: it must be looked up first ([`Table::claim_lookup`]).
    LeaseExpired(Receipt),
    /// A note that is still held ([`Table::clear_note`]).
    AwaitsInvoice(Receipt),
    /// Its state or history does not allow this step.
    NotSendable(Receipt),
    Missing,
}

impl Table {
    /// Claims a receipt for its first send, or for one after a send that certainly did not arrive.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn claim_send(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        now: Timestamp,
        lease: SignedDuration,
    ) -> Result<Claim, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .add(SEND_ATTEMPT, number(1))
            .set(SEND_STARTED_AT, instant(now))
            .when(absent(LEASE_UNTIL))
            .when(absent(AWAITS_INVOICE));
        self.claim("claim send", change, now, lease).await
    }

    /// Claims a receipt with an expired lease, to look it up.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn claim_lookup(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        now: Timestamp,
        lease: SignedDuration,
    ) -> Result<Claim, StoreError> {
        let change = Change::of(keys::receipt(scope, id)).when(at_most(LEASE_UNTIL, instant(now)));
        self.claim("claim look-up", change, now, lease).await
    }

    /// Claims a receipt for another send after its look-ups found nothing.
    ///
    /// Before [`LOOKUPS_BEFORE_RESEND`] look-ups the result is [`Claim::LeaseExpired`].
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn claim_resend(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        now: Timestamp,
        lease: SignedDuration,
    ) -> Result<Claim, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .add(SEND_ATTEMPT, number(1))
            .set(SEND_STARTED_AT, instant(now))
            .set(LOST_SEND, flag(true))
            .set_once(RESENT_AT, instant(now))
            .remove(&[NEGATIVES, LOOKED_UP_AT])
            .when(at_most(LEASE_UNTIL, instant(now)))
            .when(at_least(NEGATIVES, number(LOOKUPS_BEFORE_RESEND)));
        self.claim("claim resend", change, now, lease).await
    }

    /// Records that a look-up found nothing, and returns the lease in its expired state.
    ///
    /// A look-up within a minute of the last one that counted does not count.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_lookup_negative(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        attempt: u32,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let returned = Change::of(keys::receipt(scope, id))
            .set(UPDATED_AT, instant(now))
            .set(LEASE_UNTIL, instant(now))
            .remove(&[LEASE_KEY])
            .when(is_claimed(attempt));
        let counted = returned
            .clone()
            .add(NEGATIVES, number(1))
            .set(LOOKED_UP_AT, instant(now))
            .when(absent(LOOKED_UP_AT).or(at_most(LOOKED_UP_AT, instant(now - LOOKUP_SPACING))));
        if let recorded @ (Recorded::Now(_) | Recorded::Missing) =
            recorded(self.apply("record look-up", counted).await?)?
        {
            return Ok(recorded);
        }
        // Too soon after the last one.
        recorded(self.apply("return look-up", returned).await?)
    }

    /// Releases a claim after a send that certainly did not arrive; the next claim is a first send again.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn release_send(&self, scope: &Scope, id: &ReceiptId, attempt: u32) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .remove(&LEASE)
            .remove(&[SEND_STARTED_AT])
            .when(in_states(waiting()))
            .when(equals(SEND_ATTEMPT, number(attempt)));
        recorded(self.apply("release send", change).await?)
    }

    /// Records the authority's track id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_submitted(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        track_id: &str,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let partition = keys::track_partition(scope, track_id);
        // A receipt of unknown outcome is `submitted` already and may still get its track id.
        let before = waiting().chain([ReceiptState::Submitted]);
        let change = Change::of(keys::receipt(scope, id))
            .set(STATE, text(ReceiptState::Submitted))
            .set(TRACK.pk, text(&partition))
            .set(TRACK.sk, text(keys::millis_sort(now)))
            .set(SUBMITTED_AT, instant(now))
            .set(UPDATED_AT, instant(now))
            .remove(&LEASE)
            .remove(&[ERROR_CODE, ERROR_MESSAGE])
            .when(in_states(before))
            .when(absent(TRACK.pk));
        Ok(match recorded(self.apply("record submitted", change).await?)? {
            // Our own write, whose answer was lost and which the SDK repeated.
            Recorded::Already(receipt)
                if receipt.sending.track_id.as_deref() == Some(track_id)
                    && receipt.sending.submitted_at == Some(to_millis(now)) =>
            {
                Recorded::Now(receipt)
            }
            other => other,
        })
    }

    /// Ends a claim whose send may have arrived, without waiting for the lease to expire: the next step is a look-up.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_answer_lost(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        attempt: u32,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set(LEASE_UNTIL, instant(now))
            .set(UPDATED_AT, instant(now))
            .remove(&[LEASE_KEY])
            .when(is_claimed(attempt));
        recorded(self.apply("record lost answer", change).await?)
    }

    /// Leaves a receipt with a lost send to the operator, in an environment without a look-up.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_outcome_unknown(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        attempt: u32,
        message: &str,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set(STATE, text(ReceiptState::Submitted))
            .set(ERROR_CODE, text(OUTCOME_UNKNOWN))
            .set(ERROR_MESSAGE, text(message))
            .set(SUBMITTED_AT, instant(now))
            .set(UPDATED_AT, instant(now))
            .set(DUE.sk, text(keys::due_sort(now + ALARM_LOOK)))
            .remove(&LEASE)
            .when(is_claimed(attempt));
        recorded(self.apply("record outcome unknown", change).await?)
    }

    async fn claim(
        &self,
        operation: &'static str,
        change: Change,
        now: Timestamp,
        lease: SignedDuration,
    ) -> Result<Claim, StoreError> {
        // Distinguishes our own claim, whose answer was lost and which the SDK repeated, from another worker's.
        let key = random().to_string();
        let change = change
            .set(LEASE_UNTIL, instant(now + lease))
            .set(LEASE_KEY, text(&key))
            .set(UPDATED_AT, instant(now))
            .when(in_states(waiting()));
        match self.apply(operation, change).await? {
            Applied::Done(stored) => Ok(Claim::Claimed(record::read(&stored)?)),
            Applied::Refused(None) => Ok(Claim::Missing),
            Applied::Refused(Some(stored)) => refused(&stored, &key, now),
        }
    }
}

/// The attempt holds the receipt.
fn is_claimed(attempt: u32) -> Predicate {
    in_states(waiting())
        .and(equals(SEND_ATTEMPT, number(attempt)))
        .and(exists(LEASE_UNTIL))
}

fn refused(stored: &Stored, key: &str, now: Timestamp) -> Result<Claim, StoreError> {
    let receipt = record::read(stored)?;
    if !waiting().any(|state| state == receipt.state) {
        return Ok(Claim::NotSendable(receipt));
    }
    if stored.opt_str(LEASE_KEY)? == Some(key) {
        return Ok(Claim::Claimed(receipt));
    }
    Ok(match receipt.sending.lease_until {
        Some(until) if until > now => Claim::Leased(receipt),
        Some(_) => Claim::LeaseExpired(receipt),
        None if receipt.note.is_some_and(|note| note.awaits_invoice) => Claim::AwaitsInvoice(receipt),
        // Without a lease there is nothing to look up or to send again.
        None => Claim::NotSendable(receipt),
    })
}
