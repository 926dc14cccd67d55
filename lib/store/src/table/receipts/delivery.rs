//! A receipt's way to its buyer, who receives electronically: attempts until the buyer acknowledged it (ARECF), or days are over.
//!
//! The outbox entry `exchange` of the verdict keeps the receipt on the due index meanwhile. An attempt is claimed by its number;
//! the outcome is written before the entry goes.

use ecf::{Environment, ReceiptState, ReceiptType};
use jiff::Timestamp;

use super::{OutboxEntry, Receipt, record::OUTBOX};
use crate::{
    ForeignText, StoreError,
    artifacts::ContentHash,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        change::Change,
        condition::{Predicate, contains, equals},
        item::{Stored, bytes, instant, number, text},
        keys::{self, DUE},
    },
};

const ATTEMPTS: &str = "va";
const STATE: &str = "vs";
const WORDS: &str = "vr";
const ARECF: &str = "vx";
const AT: &str = "vt";

/// How a receipt's way to its buyer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Not delivered yet; it is tried again.
    Pending,
    /// The buyer acknowledged it.
    Received,
    /// The buyer says why it is not received.
    NotReceived,
    /// The buyer took it, and its acknowledgement is not acceptable.
    Unverified,
    /// The buyer is not in the directory.
    NotListed,
    /// Not for the buyer: the authority alone gets it.
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

/// What is known of a receipt's way to its buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuyerDelivery {
    pub state: DeliveryState,
    /// The reason, or what went wrong last.
    pub words: Option<ForeignText>,
    /// The buyer's signed acknowledgement.
    pub arecf: Option<ContentHash>,
    pub at: Timestamp,
    /// How many attempts were begun.
    pub attempts: u32,
}

impl Table {
    /// Begins the next attempt, for whoever comes first; the due index brings the receipt back at `until`. `false`: another has
    /// begun it, or nothing is to be delivered.
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

    /// Sets when the next attempt comes, and says what went wrong with this one. `false`: a later one has begun.
    pub async fn postpone_delivery(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        attempts: u32,
        words: &ForeignText,
        next: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set(WORDS, text(words))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(is_open())
            .when(equals(ATTEMPTS, number(attempts)));
        self.applied("postpone delivery", change).await
    }

    /// Ends the way to the buyer: writes down how, then takes the entry out of the outbox.
    pub async fn end_delivery(&self, scope: &Scope, id: &ReceiptId, end: &BuyerDelivery) -> Result<(), StoreError> {
        let change = Change::of(keys::receipt(scope, id))
            .set(ATTEMPTS, number(end.attempts))
            .set(STATE, text(end.state.as_str()))
            .set_or_remove(WORDS, end.words.as_ref().map(text))
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
    /// Whether it goes to its buyer once it is in this state: types 31, 33, 34 and 44 that are valid, and 45 where the company wants
    /// it. There is no directory in certification.
    pub fn goes_to_buyer(&self, state: ReceiptState, deliver_45: bool) -> bool {
        let is_valid = matches!(state, ReceiptState::Accepted | ReceiptState::ConditionallyAccepted);
        let is_sent = self.fiscal.ecf_type.is_exchanged() || (deliver_45 && self.fiscal.ecf_type == ReceiptType::E45);
        is_valid && is_sent && self.fiscal.rnc_comprador.is_some() && self.scope.environment != Environment::CerteCF
    }

    /// How many attempts to deliver it to its buyer were begun.
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
        words: stored.opt_str(WORDS)?.map(ForeignText::from),
        arecf: stored.opt_hash(ARECF)?.map(ContentHash::from_bytes),
        at: stored.instant(AT)?,
        attempts: stored.opt_parse(ATTEMPTS)?.unwrap_or(0),
    }))
}
