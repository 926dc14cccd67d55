//! Receipts. The record of a receipt is also its idempotency record, its place in the state table, its outbox and its
//! entry on the due index.
//!
//! A typical item stays under 1 KB, so that each write costs one unit; hence the short attribute names, which
//! `record.rs` lists.
//!
//! | file | content |
//! |---|---|
//! | `creation.rs` | the transaction that makes an answer true |
//! | `sending.rs` | the claims before each send |
//! | `holding.rs` | receipts that wait for the authority |
//! | `missing.rs` | documents that the authority does not find any more |
//! | `stuck.rs` | alarms for receipts that wait too long |
//! | `verdict.rs`, `ending.rs` | final states and the outbox |
//! | `notes.rs` | the amounts that notes take from the receipts that they modify |
//! | `particulars.rs` | what lists show of a document, and how older records get it |
//! | `delivery.rs`, `buyer.rs` | the delivery to the buyer, and the buyer's answer |
//! | `finding.rs`, `listing.rs`, `walking.rs` | look-ups, pages in order, all receipts of a span |

mod buyer;
mod creation;
mod delivery;
mod ending;
mod finding;
mod holding;
mod listing;
mod missing;
mod notes;
mod operating;
mod particulars;
mod record;
mod sending;
mod stuck;
mod verdict;
mod walking;
mod withdrawal;

use ecf::{Circumstances, Condition, Encf, Fecha, ReceiptState, ReceiptType, Rnc, Stamp, StampHosts};
use jiff::{Timestamp, civil::Date};

pub use buyer::{AnswerRecorded, BuyerAnswer};
pub use creation::{AsSigned, Created, NewReceipt, SignedLater};
pub(super) use creation::{OWNER as LOCK_OWNER, TAKEN_AT as LOCK_TAKEN_AT};
pub use delivery::{BuyerDelivery, DeliveryState};
pub use finding::ListedReceipt;
pub(super) use finding::read_listed;
use finding::{Left, Predecessor};
pub use listing::{
    ContentFilter, MOST_OPEN_READ, MOST_SEARCHED, OpenReceipts, PageRequest, Position, ReceiptFilter, ReceiptPage,
    Searched, UnknownPosition,
};
pub use missing::{NOT_FOUND_WINDOW, NotFoundBy};
pub use notes::{ModifiedReceipt, NewNote, Note, NoteCleared};
pub use particulars::Particulars;
#[cfg(feature = "testing")]
pub(super) use record::seeded_item;
use record::{LOST_SEND, RFCE, SEND_STARTED_AT, STATE};
pub use sending::{Claim, LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, OUTCOME_UNKNOWN};
pub use stuck::{Alarm, AlarmHours, AlarmTimes, Awaited, NoHours};
pub use verdict::{Failure, Recorded, Verdict};
pub use walking::{Span, WalkedPart};
pub use withdrawal::Withdrawal;

use super::{
    Table,
    condition::{Predicate, absent, among, equals, exists},
    item::text,
    keys,
};
use crate::{
    StoreError,
    artifacts::ContentHash,
    ids::{ReceiptId, Scope},
};

/// An issued receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub public_id: ReceiptId,
    pub scope: Scope,
    pub idempotency_key: String,
    pub payload_hash: [u8; 32],
    pub external_id: Option<String>,
    pub mode: Mode,
    pub state: ReceiptState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub scheduled_for: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub fiscal: Fiscal,
    /// The stored payload of a receipt that is numbered and signed later.
    pub payload: Option<ContentHash>,
    pub sending: Sending,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    /// `secuenciaUtilizada` of the authority's answer.
    pub secuencia_utilizada: Option<bool>,
    /// The authority's answer as JSON text.
    pub taxauth_response: Option<String>,
    /// The earlier receipt with this number, which was rejected or abandoned.
    pub predecessor: Option<ReceiptId>,
    /// The deliveries that are still due.
    pub outbox: Vec<OutboxEntry>,
    /// The receipt that this note modifies, if it was issued here.
    pub note: Option<Note>,
    /// Notes that are to be sent once this receipt has its verdict.
    pub waiting_notes: Vec<ReceiptId>,
    pub alarms: Alarms,
    /// The last decision of an operator, and its time.
    pub operator_decision: Option<String>,
    pub buyer: Buyer,
    /// When a webhook of the company first accepted the event of the verdict.
    pub notified_at: Option<Timestamp>,
    /// The next look by housekeeping; absent when no step is left.
    pub next_action_at: Option<Timestamp>,
}

/// What the document says, and its number and signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fiscal {
    pub company_rnc: Rnc,
    pub ecf_type: ReceiptType,
    /// `MontoTotal` as written in the document.
    pub monto_total: String,
    pub rnc_comprador: Option<String>,
    pub fecha_emision: Fecha,
    /// Absent in records from before it was stored, until an operator's command fills it in.
    pub particulars: Option<Particulars>,
    /// Number and signature; absent until the receipt is signed.
    pub signed: Option<Signed>,
}

/// The sends to the authority and the look-ups there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sending {
    /// How many sends were begun.
    pub attempts: u32,
    /// The start of a send that may have arrived; absent when every send so far certainly did not.
    pub started_at: Option<Timestamp>,
    /// Whether it was sent again after a send whose answer was lost.
    pub has_lost_send: bool,
    /// When it was first sent again.
    pub resent_at: Option<Timestamp>,
    /// The end of the lease of a send or a look-up. When it is past and still here, the outcome of the send is unknown.
    pub lease_until: Option<Timestamp>,
    /// The number of look-ups since the lost send that found nothing, at least a minute apart.
    pub lookup_negatives: u32,
    pub looked_up_at: Option<Timestamp>,
    pub track_id: Option<String>,
    pub submitted_at: Option<Timestamp>,
    /// When it was held last, because the authority was unreachable; absent also in records from before it was stored.
    pub held_at: Option<Timestamp>,
    /// The authority's track ids of earlier documents with this number.
    pub earlier_track_ids: Vec<String>,
    /// Track ids of this receipt that the authority did not find any more.
    pub lost_track_ids: Vec<String>,
}

/// The last alarms about a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alarms {
    /// How many hours it had waited for the authority at the last alarm about that.
    pub delivery_hours: Option<u32>,
    /// The last alarm about the time in a state other than `signed` and `contingency`.
    pub state: Option<String>,
}

/// The buyer's side of a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buyer {
    /// The delivery to a buyer who receives electronically.
    pub delivery: Option<BuyerDelivery>,
    /// The buyer's approval or rejection.
    pub answer: Option<BuyerAnswer>,
}

/// Number and signature of a receipt; they are written together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub encf: Encf,
    /// `FechaHoraFirma` as written in the document.
    pub sign_date: String,
    pub security_code: String,
    pub signed_xml: ContentHash,
    /// The signed summary of a type 32 below the threshold.
    pub rfce: Option<ContentHash>,
}

/// When the caller wants the receipt to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Immediate,
    Deferred,
}

/// A recipient of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutboxEntry {
    Webhook,
    Exchange,
    /// The range of a number that a rejection left free.
    Number,
}

impl OutboxEntry {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Exchange => "exchange",
            Self::Number => "number",
        }
    }

    fn from_str(text: &str) -> Option<Self> {
        [Self::Webhook, Self::Exchange, Self::Number]
            .into_iter()
            .find(|entry| entry.as_str() == text)
    }
}

impl Receipt {
    pub fn encf(&self) -> Option<&Encf> {
        self.fiscal.signed.as_ref().map(|signed| &signed.encf)
    }

    /// Whether a summary is sent to the authority instead of the receipt.
    pub fn is_sent_as_summary(&self) -> bool {
        self.fiscal.signed.as_ref().is_some_and(|signed| signed.rfce.is_some())
    }

    /// The address in the QR code, from the values of the signed document.
    pub fn electronic_stamp(&self, hosts: &StampHosts) -> Option<String> {
        let signed = self.fiscal.signed.as_ref()?;
        let stamp = Stamp {
            environment: self.scope.environment,
            summary: signed.rfce.is_some(),
            rnc_emisor: &self.fiscal.company_rnc,
            rnc_comprador: self
                .fiscal
                .rnc_comprador
                .as_ref()
                .map(|rnc| rnc as &dyn std::fmt::Display),
            encf: &signed.encf,
            fecha_emision: &self.fiscal.fecha_emision,
            monto_total: &self.fiscal.monto_total,
            fecha_firma: &signed.sign_date,
            codigo_seguridad: &signed.security_code,
        };
        Some(stamp.url(hosts))
    }

    /// Whether its number may go to another receipt: it was rejected, and the authority did not count the number as
    /// used.
    pub fn left_its_number(&self) -> bool {
        self.state == ReceiptState::Rejected && self.secuencia_utilizada == Some(false) && self.fiscal.signed.is_some()
    }

    /// The day whose list and counters contain this receipt.
    pub fn day(&self) -> Date {
        keys::fiscal_day(self.created_at)
    }
}

impl Table {
    /// A receipt, with a strongly consistent read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipt(&self, scope: &Scope, id: &ReceiptId) -> Result<Option<Receipt>, StoreError> {
        let stored = self.read("read receipt", &keys::receipt(scope, id)).await?;
        stored.map(|stored| record::read(&stored)).transpose()
    }

    /// A receipt, with an eventually consistent read at half the price.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipt_eventual(&self, scope: &Scope, id: &ReceiptId) -> Result<Option<Receipt>, StoreError> {
        let stored = self.read_eventual("read receipt", &keys::receipt(scope, id)).await?;
        stored.map(|stored| record::read(&stored)).transpose()
    }

    /// The receipts with these ids, in their order, with eventually consistent reads; missing receipts are omitted.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipts_by_ids(&self, scope: &Scope, ids: &[ReceiptId]) -> Result<Vec<Receipt>, StoreError> {
        let keys: Vec<_> = ids.iter().map(|id| keys::receipt(scope, id)).collect();
        let found = self.read_many("read receipts", keys.iter().cloned(), false).await?;
        keys.iter().filter_map(|key| found.get(key)).map(record::read).collect()
    }

    /// The receipts of several companies, with eventually consistent reads; missing receipts are omitted. Only for the
    /// operator, who may read all companies.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipts_of_all(&self, ids: &[(Scope, ReceiptId)]) -> Result<Vec<Receipt>, StoreError> {
        let keys: Vec<_> = ids.iter().map(|(scope, id)| keys::receipt(scope, id)).collect();
        let found = self.read_many("read receipts", keys.iter().cloned(), false).await?;
        keys.iter().filter_map(|key| found.get(key)).map(record::read).collect()
    }
}

/// The receipt is in one of these states.
fn in_states(states: impl IntoIterator<Item = ReceiptState>) -> Predicate {
    any_of(states.into_iter().map(|state| (state, Condition::Always)))
}

/// The state table allows the step to `next`. None of these steps is the operator's, or that of `return_to_send`.
fn transition_to(next: ReceiptState) -> Predicate {
    any_of(ways_to(next).filter(|(_, condition)| !is_retry(*condition) && *condition != Condition::NotFound))
}

/// The state table leaves the step to `next` to an operator.
fn operator_transition_to(next: ReceiptState) -> Predicate {
    any_of(ways_to(next).filter(|(_, condition)| is_retry(*condition)))
}

/// Whether only an operator requests the step.
const fn is_retry(condition: Condition) -> bool {
    matches!(condition, Condition::OperatorRetry | Condition::UnsentRetry)
}

fn ways_to(next: ReceiptState) -> impl Iterator<Item = (ReceiptState, Condition)> {
    ReceiptState::ALL.into_iter().flat_map(move |state| {
        let ways = state.transitions().iter().filter(move |way| way.to == next);
        ways.map(move |way| (state, way.condition))
    })
}

fn any_of(ways: impl Iterator<Item = (ReceiptState, Condition)>) -> Predicate {
    let mut terms = Vec::new();
    let mut unconditional = Vec::new();
    for (state, condition) in ways {
        let holds = match condition {
            // The callers of these add their conditions.
            Condition::Always | Condition::OperatorRetry | Condition::NotFound => {
                unconditional.push(text(state));
                continue;
            }
            Condition::Summary => exists(RFCE),
            // A claim may have led to a send, unless it was released.
            Condition::NeverSent | Condition::UnsentRetry => absent(SEND_STARTED_AT).and(absent(LOST_SEND)),
        };
        terms.push(equals(STATE, text(state)).and(holds));
    }
    if !unconditional.is_empty() {
        terms.push(among(STATE, unconditional));
    }
    // No way at all must not read as every way.
    terms.into_iter().reduce(Predicate::or).unwrap_or_else(|| absent(STATE))
}

/// The states in which a receipt waits for its send.
fn waiting() -> impl Iterator<Item = ReceiptState> {
    ReceiptState::Submitted.predecessors(Circumstances::default())
}
