//! The end of a receipt: the verdict and the outbox that publishes it, or a failure with its reason.
//!
//! One write sets the state, the authority's answer and the outbox, so no event is lost. While the outbox has entries,
//! the receipt stays on the due index, so each entry is delivered at least once.

use ecf::ReceiptState;
use jiff::{SignedDuration, Timestamp};

use super::{
    OutboxEntry, Receipt,
    creation::FIRST_LOOK,
    in_states,
    record::{
        self, COMPLETED_AT, ENCF, ERROR_CODE, ERROR_MESSAGE, LEASE, LEASE_UNTIL, NOT_DUE, NOTIFIED_AT, OUTBOX,
        RESPONSE, SECUENCIA_UTILIZADA, STATE, UPDATED_AT,
    },
    transition_to,
};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        change::Change,
        condition::{absent, contains, exists, size_above, size_equals},
        due,
        item::{flag, instant, number, text, texts, to_millis},
        keys::{self, DUE, PK, TRACK},
        write::Applied,
    },
};

/// The first look by housekeeping at a receipt that awaits a person.
pub(super) const ALARM_LOOK: SignedDuration = SignedDuration::from_hours(1);
/// Upper bound of the tries when another outbox entry is removed concurrently.
const ROUNDS: u32 = 4;

/// The authority's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub state: ReceiptState,
    /// From an answer with verdict and track id, or a verdict on an earlier copy; `None` leaves the stored one.
    pub track_id: Option<String>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub secuencia_utilizada: Option<bool>,
    /// The authority's answer as JSON text.
    pub taxauth_response: Option<String>,
    /// The recipients of the verdict.
    pub outbox: Vec<OutboxEntry>,
}

/// Why a receipt stopped without a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure<'a> {
    pub code: &'a str,
    pub message: &'a str,
    /// The authority's answer as JSON text, if the authority caused the failure.
    pub taxauth_response: Option<&'a str>,
}

/// The result of recording a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// Written by this call.
    Now(Receipt),
    /// Not written: the receipt is past this step, or never was in the required state.
    Already(Receipt),
    Missing,
}

impl Table {
    /// Records the authority's verdict, once.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_verdict(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = verdict_change(scope, id, &verdict, now);
        let change = change.when(transition_to(verdict.state)).when(exists(ENCF));
        let applied = self
            .end("record verdict", scope, id, verdict.state, change, now)
            .await?;
        Ok(match recorded(applied)? {
            // Our own write, whose answer was lost and which the SDK repeated.
            Recorded::Already(receipt)
                if receipt.state == verdict.state && receipt.completed_at == Some(to_millis(now)) =>
            {
                Recorded::Now(receipt)
            }
            other => other,
        })
    }

    /// Records `failed` with a reason that a person must see.
    ///
    /// Conditional on the state that the caller saw: if another worker has claimed or sent the receipt since, nothing
    /// changes.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_failed(
        &self,
        scope: &Scope,
        seen: &Receipt,
        failure: Failure<'_>,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(STATE, text(ReceiptState::Failed))
            .set(ERROR_CODE, text(failure.code))
            .set(ERROR_MESSAGE, text(failure.message))
            .set_some(RESPONSE, failure.taxauth_response.map(text))
            .set(UPDATED_AT, instant(now))
            .set(DUE.pk, text(keys::due_partition(due::shard_of(&seen.public_id))))
            .set(DUE.sk, text(keys::due_sort(now + ALARM_LOOK)))
            .remove(&LEASE)
            .when(transition_to(ReceiptState::Failed))
            .when(absent(TRACK.pk))
            .still(LEASE_UNTIL, seen.sending.lease_until.map(instant));
        let applied = self.end(
            "record failed",
            scope,
            &seen.public_id,
            ReceiptState::Failed,
            change,
            now,
        );
        recorded(applied.await?)
    }

    /// Removes an entry from the outbox; removing the last one also takes the receipt off the due index, in the same
    /// write.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn outbox_done(&self, scope: &Scope, id: &ReceiptId, entry: OutboxEntry) -> Result<Recorded, StoreError> {
        self.take_entry(scope, id, entry, None).await
    }

    /// Removes the webhook entry from the outbox, and records when a webhook accepted the event, if one did.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn webhooks_notified(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        notified_at: Option<Timestamp>,
    ) -> Result<Recorded, StoreError> {
        self.take_entry(scope, id, OutboxEntry::Webhook, notified_at).await
    }

    /// Records when a webhook accepted the event of a verdict on a later attempt. The first time stays.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_notified(&self, scope: &Scope, id: &ReceiptId, at: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set(NOTIFIED_AT, instant(at))
            .when(exists(PK))
            .when(absent(NOTIFIED_AT));
        self.apply("record notified", change).await?;
        Ok(())
    }

    async fn take_entry(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        entry: OutboxEntry,
        notified_at: Option<Timestamp>,
    ) -> Result<Recorded, StoreError> {
        let without = || {
            let change = Change::of(keys::receipt(scope, id));
            let change = match notified_at {
                Some(at) => change.set_once(NOTIFIED_AT, instant(at)),
                None => change,
            };
            change
                .delete(OUTBOX, texts([entry.as_str()]))
                .when(contains(OUTBOX, text(entry.as_str())))
        };
        let finals = || ReceiptState::ALL.into_iter().filter(|state| state.is_final());
        for _ in 0..ROUNDS {
            let is_last = size_equals(OUTBOX, number(1));
            let last = without()
                .remove(&NOT_DUE)
                .when(in_states(finals()))
                .when(is_last.clone());
            let receipt = match recorded(self.apply("take outbox entry", last).await?)? {
                Recorded::Already(receipt) if receipt.outbox.contains(&entry) => receipt,
                other => return Ok(other),
            };
            let size = if receipt.outbox.len() == 1 {
                // Its state is not final, so another step is still due.
                is_last
            } else {
                size_above(OUTBOX, number(1))
            };
            let change = without().when(in_states([receipt.state])).when(size);
            match recorded(self.apply("take outbox entry", change).await?)? {
                Recorded::Already(receipt) if receipt.outbox.contains(&entry) => {}
                other => return Ok(other),
            }
        }
        Err(StoreError::Contended {
            operation: "take outbox entry",
            attempts: ROUNDS,
        })
    }
}

fn verdict_change(scope: &Scope, id: &ReceiptId, verdict: &Verdict, now: Timestamp) -> Change {
    let change = Change::of(keys::receipt(scope, id))
        .set(STATE, text(verdict.state))
        .set(COMPLETED_AT, instant(now))
        .set(UPDATED_AT, instant(now))
        .set_or_remove(ERROR_CODE, verdict.error_code.as_ref().map(text))
        .set_or_remove(ERROR_MESSAGE, verdict.error_message.as_ref().map(text))
        .set_some(SECUENCIA_UTILIZADA, verdict.secuencia_utilizada.map(flag))
        .set_some(RESPONSE, verdict.taxauth_response.as_ref().map(text))
        .remove(&LEASE);
    let change = match &verdict.track_id {
        Some(track_id) => change
            .set(TRACK.pk, text(keys::track_partition(scope, track_id)))
            .set(TRACK.sk, text(keys::millis_sort(now))),
        None => change,
    };
    if verdict.outbox.is_empty() {
        return if verdict.state.is_final() {
            change.remove(&NOT_DUE)
        } else {
            change
        };
    }
    // Normally both are there since the creation, and setting them to what they are rewrites no index entry.
    change
        .set(OUTBOX, texts(verdict.outbox.iter().map(|entry| entry.as_str())))
        .set_once(DUE.pk, text(keys::due_partition(due::shard_of(id))))
        .set_once(DUE.sk, text(keys::due_sort(now + FIRST_LOOK)))
}

pub(super) fn recorded(applied: Applied) -> Result<Recorded, StoreError> {
    Ok(match applied {
        Applied::Done(stored) => Recorded::Now(record::read(&stored)?),
        Applied::Refused(Some(stored)) => Recorded::Already(record::read(&stored)?),
        Applied::Refused(None) => Recorded::Missing,
    })
}
