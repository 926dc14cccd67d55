//! Making a receipt: one transaction of the record, which must not exist, and the lock of its number, which must not
//! exist either.
//!
//! A rejection may leave its number free (`secuenciaUtilizada` is false). The lock then passes to the next receipt that asks
//! for the number, in that receipt's transaction; the rejected one stays as it is. In CerteCF a lock passes in the same way
//! from a receipt of an attempt that was abandoned, whatever became of it, and what notes made of that receipt goes.
//!
//! After an error that is not a definite refusal nobody knows whether the transaction took effect, so the record is
//! read: ours is there, another is there, or the caller must try again.

use ecf::{Circumstances, Encf, Fecha, ReceiptState, ReceiptType, Rnc};
use jiff::{SignedDuration, Timestamp};

use super::{
    Left, Mode, NewNote, Predecessor, Receipt, Signed, in_states, notes,
    record::{self, ENCF},
};
use crate::{
    StoreError,
    artifacts::ContentHash,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        change::Change,
        condition::{absent, equals},
        item::{NewItem, Stored, instant, text},
        keys,
        write::{Part, Transacted, dice},
    },
};

/// How long after its creation housekeeping looks after a receipt that should be done by then.
pub(super) const FIRST_LOOK: SignedDuration = SignedDuration::from_mins(10);

pub(in crate::table) const OWNER: &str = "ow";
/// When the request that took the number began.
pub(in crate::table) const TAKEN_AT: &str = "ta";

/// A receipt to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReceipt {
    pub public_id: ReceiptId,
    pub company_rnc: Rnc,
    pub idempotency_key: String,
    pub payload_hash: [u8; 32],
    pub ecf_type: ReceiptType,
    pub external_id: Option<String>,
    pub mode: Mode,
    pub state: ReceiptState,
    pub created_at: Timestamp,
    pub scheduled_for: Option<Timestamp>,
    pub monto_total: String,
    pub rnc_comprador: Option<String>,
    pub fecha_emision: Fecha,
    pub signed: Option<Signed>,
    pub payload: Option<ContentHash>,
    /// What it modifies, when it is a note on a receipt that was issued here.
    pub note: Option<NewNote>,
}

impl NewReceipt {
    /// Its schedule while that is to come, else ten minutes on: by then the happy path is long done.
    pub(super) fn next_action_at(&self) -> Timestamp {
        match self.scheduled_for {
            Some(when) if when > self.created_at => when,
            _ => self.created_at + FIRST_LOOK,
        }
    }
}

/// What came of creating a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    New(Receipt),
    /// The idempotency key has a receipt already: this one.
    Replay(Receipt),
    /// Another receipt has the number.
    NumberTaken,
    /// What is left of the modified receipt, or who has its number, is no longer what the note was judged by.
    ModifiedChanged,
}

/// What came of numbering and signing a receipt that waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedLater {
    Now(Receipt),
    /// Its state does not allow it: somebody else signed it, or it was cancelled.
    NotSignable(Receipt),
    NumberTaken,
    Missing,
}

impl Table {
    /// Creates a receipt together with the lock of its number, and what a note takes from the receipt that it modifies.
    ///
    /// # Errors
    /// Besides failures of the store: a retryable error when the outcome is not known and no record is there. The
    /// number may be locked later on; the caller must not give it to anybody else.
    pub async fn create_receipt(&self, scope: &Scope, new: NewReceipt) -> Result<Created, StoreError> {
        let created = self.create_after(None, scope, &new).await?;
        let (Created::NumberTaken, Some(signed)) = (&created, &new.signed) else {
            return Ok(created);
        };
        match self.predecessor(scope, &signed.encf).await? {
            Some(earlier) => self.create_after(Some(&earlier), scope, &new).await,
            None => Ok(created),
        }
    }

    /// Numbers and signs a receipt that was kept without (scheduled, or because signing was not possible then).
    /// `monto_total` is what the signed document says.
    ///
    /// # Errors
    /// As [`Table::create_receipt`].
    pub async fn sign_receipt(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        signed: &Signed,
        monto_total: &str,
        now: Timestamp,
    ) -> Result<SignedLater, StoreError> {
        let outcome = self.sign_after(None, scope, id, signed, monto_total, now).await?;
        let SignedLater::NumberTaken = outcome else {
            return Ok(outcome);
        };
        match self.predecessor(scope, &signed.encf).await? {
            Some(earlier) => {
                self.sign_after(Some(&earlier), scope, id, signed, monto_total, now)
                    .await
            }
            None => Ok(outcome),
        }
    }

    /// Creates a receipt whose number is new, or was left by an earlier one.
    async fn create_after(
        &self,
        earlier: Option<&Predecessor>,
        scope: &Scope,
        new: &NewReceipt,
    ) -> Result<Created, StoreError> {
        let operation = "create receipt";
        let request = request();
        let receipt = record::new_item(scope, new, earlier, request);
        let mut parts = vec![Part::PutNew(receipt.clone())];
        if let Some(signed) = &new.signed {
            parts.push(lock_part(scope, &signed.encf, &new.public_id, new.created_at, earlier));
        }
        if let Some(note) = new.note.filter(NewNote::reserves) {
            let reservation = notes::reservation(scope, &new.public_id, new.ecf_type, &note);
            parts.push(Part::Update(reservation));
        }
        let key = keys::receipt(scope, &new.public_id);
        match self.transact(operation, parts).await {
            Ok(Transacted::Done) => Ok(Created::New(record::read(&Stored::new(receipt))?)),
            Ok(Transacted::Refused(mut refusals)) => match refusals.first_mut().and_then(Option::take) {
                Some(refusal) => {
                    let existing = match refusal.existing {
                        Some(stored) => Some(stored),
                        None => self.read("read receipt", &key).await?,
                    };
                    let existing = existing
                        .ok_or_else(|| StoreError::retry(operation, "the record that was in the way is gone"))?;
                    whose(&existing, request)
                }
                None if new.signed.is_some() && refusals.get(1).is_some_and(Option::is_some) => {
                    Ok(Created::NumberTaken)
                }
                None => Ok(Created::ModifiedChanged),
            },
            Err(error) if error.is_retryable() => match self.read("read receipt", &key).await? {
                Some(existing) => whose(&existing, request),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn sign_after(
        &self,
        earlier: Option<&Predecessor>,
        scope: &Scope,
        id: &ReceiptId,
        signed: &Signed,
        monto_total: &str,
        now: Timestamp,
    ) -> Result<SignedLater, StoreError> {
        // `validated` is passed through within the step: the document was checked to be signed.
        let [before, long_before] =
            [ReceiptState::Signed, ReceiptState::Validated].map(|state| state.predecessors(Circumstances::default()));
        let request = request();
        let change = record::sign_change(scope, id, signed, monto_total, now, earlier, request);
        let change = change.when(in_states(before.chain(long_before))).when(absent(ENCF));
        let lock = lock_part(scope, &signed.encf, id, now, earlier);
        let result = self.transact("sign receipt", vec![Part::Update(change), lock]).await;
        match result {
            Ok(Transacted::Refused(refusals)) if refusals.first().is_some_and(Option::is_none) => {
                Ok(SignedLater::NumberTaken)
            }
            Err(error) if !error.is_retryable() => Err(error),
            Ok(_) | Err(_) => match (self.read("read receipt", &keys::receipt(scope, id)).await?, result) {
                (Some(stored), _) if record::is_by(&stored, request)? => Ok(SignedLater::Now(record::read(&stored)?)),
                (_, Err(error)) => Err(error),
                (Some(stored), Ok(_)) => Ok(SignedLater::NotSignable(record::read(&stored)?)),
                (None, Ok(_)) => Ok(SignedLater::Missing),
            },
        }
    }
}

/// Tells our own record, whose answer was lost, from another attempt's of the same key.
fn whose(existing: &Stored, request: u32) -> Result<Created, StoreError> {
    let receipt = record::read(existing)?;
    Ok(if record::is_by(existing, request)? {
        Created::New(receipt)
    } else {
        Created::Replay(receipt)
    })
}

/// A number that no other request for the same receipt has.
fn request() -> u32 {
    u32::try_from(dice() >> 32).unwrap_or(0)
}

/// The write that makes the number this receipt's: it must be nobody's, or still the earlier receipt's that left it. That
/// one's state needs no second look: neither a rejection nor the end of an attempt is taken back.
fn lock_part(scope: &Scope, encf: &Encf, owner: &ReceiptId, now: Timestamp, earlier: Option<&Predecessor>) -> Part {
    let key = keys::encf_lock(scope, encf);
    let Some(Predecessor { receipt, left }) = earlier else {
        return Part::PutNew(
            NewItem::new(&key)
                .with(OWNER, text(owner))
                .with(TAKEN_AT, instant(now))
                .build(),
        );
    };
    let change = Change::of(key)
        .set(OWNER, text(owner))
        .set(TAKEN_AT, instant(now))
        .when(equals(OWNER, text(receipt.public_id)));
    Part::Update(match left {
        Left::Rejected => change.when(absent(notes::ANNULLED_BY)),
        Left::Abandoned => change.remove(&notes::OF_NOTES),
    })
}
