//! Withdraws receipts that were never sent.
//!
//! A send begins with a claim on the same item, and both writes are conditional, so a claim and a withdrawal never both
//! succeed.

use ecf::{Circumstances, ReceiptState};
use jiff::Timestamp;

use super::{
    Receipt, Recorded,
    record::{COMPLETED_AT, ENCF, ERROR_CODE, ERROR_MESSAGE, LEASE_UNTIL, NOT_DUE, STATE, UPDATED_AT},
    transition_to,
    verdict::recorded,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::{absent, exists},
        item::{instant, text, to_millis},
        keys,
    },
};

/// The kinds of withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// The caller cancels it.
    Cancel,
    /// It cannot be issued electronically: a paper receipt takes its place.
    Incapacity,
}

impl Withdrawal {
    /// The resulting state.
    pub fn state(self) -> ReceiptState {
        match self {
            Self::Cancel => ReceiptState::Cancelled,
            Self::Incapacity => ReceiptState::Incapacity,
        }
    }
}

/// The error code of a withdrawn receipt whose number was signed: the number is not used again, so it must be annulled.
const NUMBER_TO_ANNUL: &str = "number_to_annul";

impl Receipt {
    /// Whether a send that may have arrived was started.
    pub fn may_have_been_sent(&self) -> bool {
        self.sending.started_at.is_some() || self.sending.has_lost_send
    }

    /// The receipt's data for the table of states.
    pub fn circumstances(&self) -> Circumstances {
        Circumstances {
            summary: self.is_sent_as_summary(),
            sent: self.may_have_been_sent(),
            operator: false,
            not_found: false,
        }
    }
}

impl Table {
    /// Withdraws a receipt that was never sent. A repeated call has no effect.
    ///
    /// [`Recorded::Already`] with another state than the requested one means that its state or its sends do not allow
    /// it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn withdraw(
        &self,
        scope: &Scope,
        seen: &Receipt,
        withdrawal: Withdrawal,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        let to_annul = seen.encf().map(|encf| {
            format!("{encf} was signed and never sent: no other receipt gets it, and it is to be annulled")
        });
        let change = Change::of(keys::receipt(scope, &seen.public_id))
            .set(STATE, text(withdrawal.state()))
            .set(COMPLETED_AT, instant(now))
            .set(UPDATED_AT, instant(now))
            .set_or_remove(ERROR_CODE, to_annul.as_ref().map(|_| text(NUMBER_TO_ANNUL)))
            .set_or_remove(ERROR_MESSAGE, to_annul.map(text))
            .remove(&NOT_DUE);
        // On the condition that it is still numbered or not, because a worker may sign it concurrently.
        let as_seen = match seen.encf() {
            Some(_) => exists(ENCF),
            None => absent(ENCF),
        };
        let change = change
            .when(transition_to(withdrawal.state()))
            .when(as_seen)
            .when(absent(LEASE_UNTIL));
        let applied = self
            .end(
                "withdraw receipt",
                scope,
                &seen.public_id,
                withdrawal.state(),
                change,
                now,
            )
            .await?;
        Ok(match recorded(applied)? {
            // Our own write, whose answer was lost and which the SDK repeated.
            Recorded::Already(receipt)
                if receipt.state == withdrawal.state() && receipt.completed_at == Some(to_millis(now)) =>
            {
                Recorded::Now(receipt)
            }
            other => other,
        })
    }
}
