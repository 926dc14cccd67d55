//! Creates receipts: one transaction writes the record, which must not exist, and the lock of its number, which must
//! not exist either.
//!
//! A rejection may leave its number free (`secuenciaUtilizada` is false). The lock then passes to the next receipt with
//! this number, in that receipt's transaction; the rejected receipt is unchanged. In CerteCF a lock passes in the same
//! way from a receipt of an abandoned attempt, in any state, and the amounts of its notes are removed.
//!
//! After an error that is not a definite rejection, it is unknown whether the transaction took effect. Then the record
//! is read: it is ours, another one, or the caller must retry.

use ecf::{Circumstances, Encf, Fecha, ReceiptState, ReceiptType, Rnc};
use jiff::{SignedDuration, Timestamp};

use super::{
    Left, Mode, NewNote, Particulars, Predecessor, Receipt, Signed, in_states, notes,
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
        write::{Part, Transacted, random},
    },
};

/// The first look by housekeeping at a receipt that should be complete by then.
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
    pub particulars: Particulars,
    pub signed: Option<Signed>,
    pub payload: Option<ContentHash>,
    /// The receipt that this note modifies, if it was issued here.
    pub note: Option<NewNote>,
}

impl NewReceipt {
    /// Its scheduled time, if that is in the future; otherwise ten minutes from now, when a receipt without failures is
    /// complete.
    pub(super) fn next_action_at(&self) -> Timestamp {
        match self.scheduled_for {
            Some(when) if when > self.created_at => when,
            _ => self.created_at + FIRST_LOOK,
        }
    }
}

/// What a document says when it is signed. It may differ from what was stored before, because the document is completed
/// again.
#[derive(Debug, Clone, Copy)]
pub struct AsSigned<'a> {
    pub monto_total: &'a str,
    pub particulars: &'a Particulars,
}

/// The result of creating a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    New(Receipt),
    /// The idempotency key already has this receipt.
    Replay(Receipt),
    /// Another receipt has the number.
    NumberTaken,
    /// The balance of the modified receipt, or the holder of its number, changed since the note was validated.
    ModifiedChanged,
}

/// The result of numbering and signing a stored receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedLater {
    Now(Receipt),
    /// Its state does not allow it: another worker signed it, or it was cancelled.
    NotSignable(Receipt),
    NumberTaken,
    Missing,
}

impl Table {
    /// Creates a receipt together with the lock of its number, and the amount that a note takes from the receipt that
    /// it modifies.
    ///
    /// # Errors
    /// Fails when DynamoDB fails. A retryable error means that the outcome is unknown and the record does not exist.
    /// The number may be locked later, so the caller must not use it for another receipt.
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

    /// Numbers and signs a receipt that was stored without a number (scheduled, or because signing was not possible).
    /// `monto_total` is the total of the signed document.
    ///
    /// # Errors
    /// As [`Table::create_receipt`].
    pub async fn sign_receipt(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        signed: &Signed,
        amounts: AsSigned<'_>,
        now: Timestamp,
    ) -> Result<SignedLater, StoreError> {
        let outcome = self.sign_after(None, scope, id, signed, amounts, now).await?;
        let SignedLater::NumberTaken = outcome else {
            return Ok(outcome);
        };
        match self.predecessor(scope, &signed.encf).await? {
            Some(earlier) => self.sign_after(Some(&earlier), scope, id, signed, amounts, now).await,
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
        amounts: AsSigned<'_>,
        now: Timestamp,
    ) -> Result<SignedLater, StoreError> {
        // The step passes through `validated`: a document is signed only after it was validated.
        let [before, long_before] =
            [ReceiptState::Signed, ReceiptState::Validated].map(|state| state.predecessors(Circumstances::default()));
        let request = request();
        let change = record::sign_change(scope, id, signed, amounts, now, earlier, request);
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

/// Distinguishes our own record, whose answer was lost, from another attempt's with the same key.
fn whose(existing: &Stored, request: u32) -> Result<Created, StoreError> {
    let receipt = record::read(existing)?;
    Ok(if record::is_by(existing, request)? {
        Created::New(receipt)
    } else {
        Created::Replay(receipt)
    })
}

/// A number that distinguishes this request from others for the same receipt.
fn request() -> u32 {
    u32::try_from(random() >> 32).unwrap_or(0)
}

/// The write that locks the number for this receipt: it must be free, or still belong to the earlier receipt that left
/// it. The state of that receipt need not be checked again, because neither a rejection nor the end of an attempt is
/// undone.
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
