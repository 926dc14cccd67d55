//! The delivery of a receipt to a buyer who receives electronically: attempts until the buyer acknowledges it (ARECF),
//! or for days.
//!
//! Meanwhile the outbox entry `exchange` of the verdict keeps the receipt on the due index. An attempt is claimed by
//! its number; the result is written before the entry is removed.

use ecf::{Environment, ReceiptState, ReceiptType};
use jiff::Timestamp;

use super::{OutboxEntry, Receipt, record::OUTBOX};
use crate::{
    StoreError, Words,
    artifacts::ContentHash,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        change::Change,
        condition::{Predicate, contains, equals},
        item::{Bilingually, Stored, bytes, instant, number, text},
        keys::{self, DUE},
    },
};

const ATTEMPTS: &str = "va";
const STATE: &str = "vs";
const WORDS: Bilingually = ["vr", "vw"];
const ARECF: &str = "vx";
const AT: &str = "vt";

/// The state of a receipt's delivery to its buyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Not delivered yet; it is retried.
    Pending,
    /// The buyer acknowledged it.
    Received,
    /// The buyer rejected it with a reason.
    NotReceived,
    /// The buyer received it, but its acknowledgement is not acceptable.
    Unverified,
    /// The buyer is not in the directory.
    NotListed,
    /// Only the authority gets it.
    NotSent,
    /// The buyer could not be reached for days.
    GivenUp,
}

impl DeliveryState {
    const ALL: [Self; 7] = [
        Self::Pending,
        Self::Received,
        Self::NotReceived,
        Self::Unverified,
        Self::NotListed,
        Self::NotSent,
        Self::GivenUp,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Received => "received",
            Self::NotReceived => "not_received",
            Self::Unverified => "unverified",
            Self::NotListed => "not_listed",
            Self::NotSent => "not_sent",
            Self::GivenUp => "given_up",
        }
    }
}

/// A receipt's delivery to its buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuyerDelivery {
    pub state: DeliveryState,
    /// The reason, or the last failure.
    pub words: Option<Words>,
    /// The buyer's signed acknowledgement.
    pub arecf: Option<ContentHash>,
    pub at: Timestamp,
    /// The number of attempts that were started.
    pub attempts: u32,
}

impl Table {
    /// Claims the next attempt; the due index recovers the receipt at `until`. Returns `false` when another worker has
    /// it, or nothing is to be delivered.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_delivery(&self, seen: &Receipt, now: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        let attempts = seen.delivery_attempts();
        let before = seen.buyer.delivery.as_ref().map(|_| number(attempts));
        let change = Change::of(keys::receipt(&seen.scope, &seen.public_id))
            .set(ATTEMPTS, number(attempts.saturating_add(1)))
            .set(STATE, text(DeliveryState::Pending.as_str()))
            .set(AT, instant(now))
            .set(DUE.sk, text(keys::due_sort(until)))
            .when(is_open())
            .still(ATTEMPTS, before);
        self.applied("claim delivery", change).await
    }

    /// Records the failure of an attempt and the time of the next one. Returns `false` when a later attempt has
    /// started.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn postpone_delivery(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        attempts: u32,
        words: &Words,
        next: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set_words(WORDS, Some(words))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(is_open())
            .when(equals(ATTEMPTS, number(attempts)));
        self.applied("postpone delivery", change).await
    }

    /// Ends the delivery: records its result, then removes the outbox entry.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn end_delivery(&self, scope: &Scope, id: &ReceiptId, end: &BuyerDelivery) -> Result<(), StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set(ATTEMPTS, number(end.attempts))
            .set(STATE, text(end.state.as_str()))
            .set_words(WORDS, end.words.as_ref())
            .set_or_remove(ARECF, end.arecf.map(bytes))
            .set(AT, instant(end.at))
            .when(is_open());
        self.apply("end delivery", change).await?;
        self.outbox_done(scope, id, OutboxEntry::Exchange).await?;
        Ok(())
    }
}

/// The delivery has not ended.
fn is_open() -> Predicate {
    contains(OUTBOX, text(OutboxEntry::Exchange.as_str()))
}

impl Receipt {
    /// Whether the receipt is delivered to its buyer in this state: valid receipts of types 31, 33, 34 and 44, and of
    /// type 45 if the company wants it. There is no directory in certification.
    pub fn goes_to_buyer(&self, state: ReceiptState, deliver_45: bool) -> bool {
        let is_valid = matches!(state, ReceiptState::Accepted | ReceiptState::ConditionallyAccepted);
        let is_sent = self.fiscal.ecf_type.is_exchanged() || (deliver_45 && self.fiscal.ecf_type == ReceiptType::E45);
        is_valid && is_sent && self.fiscal.rnc_comprador.is_some() && self.scope.environment != Environment::CerteCF
    }

    /// The number of delivery attempts that were started.
    pub fn delivery_attempts(&self) -> u32 {
        self.buyer.delivery.as_ref().map_or(0, |delivery| delivery.attempts)
    }
}

pub(super) fn read(stored: &Stored) -> Result<Option<BuyerDelivery>, StoreError> {
    let Some(state) = stored.opt_one_of(STATE, &DeliveryState::ALL, DeliveryState::as_str)? else {
        return Ok(None);
    };
    Ok(Some(BuyerDelivery {
        state,
        words: stored.opt_words(WORDS)?,
        arecf: stored.opt_hash(ARECF)?.map(ContentHash::from_bytes),
        at: stored.instant(AT)?,
        attempts: stored.opt_parse(ATTEMPTS)?.unwrap_or(0),
    }))
}
