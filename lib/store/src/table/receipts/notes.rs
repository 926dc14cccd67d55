//! Notes (33, 34) and the receipts that they modify.
//!
//! The balance of a receipt is stored on the lock of its number, and every write of it is a part of the transaction
//! that causes it: the creation of a note reserves, its end settles. A credit note counts from its creation until the
//! authority or a failure ends it; a debit note counts once it is accepted. So the sum of the notes that may still
//! become valid never exceeds the receipt.
//!
//! | attribute of the lock | meaning |
//! |---|---|
//! | `bd` | the change by notes: accepted debit notes, minus credit notes that are or may become valid |
//! | `an` | the note with code 1 that is or may become valid |
//! | `pc` | credit notes that are or may become valid |
//! | `pd` | debit notes without a verdict |

use ecf::{Encf, ReceiptState, ReceiptType};
use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{
    Receipt,
    creation::OWNER,
    in_states,
    record::{self, AWAITS_INVOICE, ECF_TYPE, RESERVED, UPDATED_AT, WAITING_NOTES},
    waiting,
};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        annulments::{self, NumberHolder},
        change::Change,
        condition::{Predicate, absent, at_least, contains, equals, exists},
        item::{Stored, flag, instant, number, text, texts},
        keys::{self, PK},
        write::{Applied, Part, Refusal, Transacted},
    },
};

const ADJUSTMENT: &str = "bd";
pub(super) const ANNULLED_BY: &str = "an";
const CREDITS: &str = "pc";
const OPEN_DEBITS: &str = "pd";
/// The attributes of notes on the lock of a number.
pub(super) const OF_NOTES: [&str; 4] = [ADJUSTMENT, ANNULLED_BY, CREDITS, OPEN_DEBITS];

/// The link of a note to the receipt that it modifies, if that was issued here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    pub modifies: Encf,
    /// Whether it has code 1.
    pub annuls: bool,
    /// Whether it counts on the modified receipt.
    pub reserved: bool,
    /// Whether the modified receipt must be checked before it is sent.
    pub awaits_invoice: bool,
}

/// A note to create, with the data of the modified receipt from its validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewNote {
    pub modifies: Encf,
    pub annuls: bool,
    pub awaits_invoice: bool,
    /// Its own MontoTotal.
    pub amount: Decimal,
    /// The holder of the modified number.
    pub owner: ReceiptId,
    /// MontoTotal of the modified receipt.
    pub monto_total: Decimal,
}

/// A receipt that a note modifies, and the effect of its notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModifiedReceipt {
    /// The current holder of the number.
    pub receipt: Receipt,
    pub monto_total: Decimal,
    /// The amount that can still be credited.
    pub balance: Decimal,
    pub annulled_by: Option<ReceiptId>,
    /// Credit notes that are or may become valid.
    pub credits: Vec<ReceiptId>,
    /// Debit notes without a verdict.
    pub open_debits: Vec<ReceiptId>,
}

/// The result of releasing a held note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteCleared {
    Now(Receipt),
    /// The balance of the modified receipt is too small, or another receipt has its number.
    NotCovered,
    /// It is not held, or was sent already.
    Already(Receipt),
    Missing,
}

impl NewNote {
    /// Whether it reserves an amount on the modified receipt. A correction of text does not.
    pub(super) fn reserves(&self) -> bool {
        self.annuls || !self.amount.is_zero()
    }
}

impl ModifiedReceipt {
    /// Whether the balance covers a note. The note may count already, when another receipt got the number or an earlier
    /// note was rejected.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub fn covers(&self, note: &Receipt) -> Result<bool, StoreError> {
        let Some(reference) = note.note else { return Ok(true) };
        let amount = amount_of(note)?;
        // An annulment may have followed a note that counts.
        let is_open = reference.reserved || self.annulled_by.is_none();
        let is_debit = note.fiscal.ecf_type == ReceiptType::E33;
        // The note's own amount is already subtracted from the balance.
        let left = if reference.reserved && !is_debit {
            self.balance.checked_add(amount)
        } else {
            Some(self.balance)
        };
        Ok(is_open
            && left.is_some_and(|left| {
                if reference.annuls {
                    amount == left && self.open_debits.is_empty()
                } else {
                    is_debit || amount <= left
                }
            }))
    }
}

impl Table {
    /// The receipt with a number, and its balance. A receipt of an earlier attempt of the certification does not count,
    /// because its number is to be sent again.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn modified_receipt(&self, scope: &Scope, encf: &Encf) -> Result<Option<ModifiedReceipt>, StoreError> {
        let Some(lock) = self.read("read e-NCF lock", &keys::encf_lock(scope, encf)).await? else {
            return Ok(None);
        };
        let NumberHolder::Receipt(owner) = annulments::holder(&lock)? else {
            return Ok(None);
        };
        let Some(receipt) = self.receipt(scope, &owner).await? else {
            return Ok(None);
        };
        if self.is_of_earlier_attempt(scope, receipt.created_at).await? {
            return Ok(None);
        }
        let monto_total = amount_of(&receipt)?;
        let adjustment: Decimal = lock.opt_parse(ADJUSTMENT)?.unwrap_or_default();
        let balance = monto_total
            .checked_add(adjustment)
            .ok_or_else(|| lock.corrupt(ADJUSTMENT, "is out of range"))?;
        Ok(Some(ModifiedReceipt {
            monto_total,
            balance,
            annulled_by: lock.opt_parse(ANNULLED_BY)?,
            credits: ids(&lock, CREDITS)?,
            open_debits: ids(&lock, OPEN_DEBITS)?,
            receipt,
        }))
    }

    /// A credit note other than `annulment` without a verdict: the authority knows the balance only after its verdict.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn open_credit(
        &self,
        scope: &Scope,
        modified: &ModifiedReceipt,
        annulment: &ReceiptId,
    ) -> Result<Option<ReceiptId>, StoreError> {
        for credit in modified.credits.iter().filter(|credit| *credit != annulment) {
            let receipt = self.receipt(scope, credit).await?;
            if receipt.is_some_and(|receipt| !receipt.state.is_final()) {
                return Ok(Some(*credit));
            }
        }
        Ok(None)
    }

    /// Releases a held note for its send, and reserves again what an earlier failure released.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn clear_note(
        &self,
        scope: &Scope,
        note: &Receipt,
        modified: &ModifiedReceipt,
        now: Timestamp,
    ) -> Result<NoteCleared, StoreError> {
        let operation = "clear note";
        let Some(reference) = note.note.filter(|reference| reference.awaits_invoice) else {
            return Ok(NoteCleared::Already(note.clone()));
        };
        let change = Change::of(keys::receipt(scope, &note.public_id))
            .remove(&[AWAITS_INVOICE])
            .set(UPDATED_AT, instant(now))
            .when(in_states(waiting()))
            .when(exists(AWAITS_INVOICE));
        let new = NewNote {
            modifies: reference.modifies,
            annuls: reference.annuls,
            awaits_invoice: true,
            amount: amount_of(note)?,
            owner: modified.receipt.public_id,
            monto_total: modified.monto_total,
        };
        if reference.reserved || !new.reserves() {
            return Ok(match self.apply(operation, change).await? {
                Applied::Done(stored) => NoteCleared::Now(record::read(&stored)?),
                Applied::Refused(Some(stored)) => NoteCleared::Already(record::read(&stored)?),
                Applied::Refused(None) => NoteCleared::Missing,
            });
        }
        let change = change.set(RESERVED, flag(true)).when(absent(RESERVED));
        let reservation = reservation(scope, &note.public_id, note.fiscal.ecf_type, &new);
        let parts = vec![Part::Update(change), Part::Update(reservation)];
        let transacted = self.transact(operation, parts).await?;
        let refused = match &transacted {
            Transacted::Done => false,
            Transacted::Refused(refusals) if refusals.first().is_some_and(Option::is_none) => {
                return Ok(NoteCleared::NotCovered);
            }
            Transacted::Refused(_) => true,
        };
        Ok(match self.receipt(scope, &note.public_id).await? {
            Some(receipt) if refused => NoteCleared::Already(receipt),
            Some(receipt) => NoteCleared::Now(receipt),
            None => NoteCleared::Missing,
        })
    }

    /// Records on a receipt without a verdict that a note waits for it. Returns `false` when the receipt has its
    /// verdict, or does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn await_verdict(
        &self,
        scope: &Scope,
        awaited: &ReceiptId,
        note: &ReceiptId,
    ) -> Result<bool, StoreError> {
        let open = ReceiptState::ALL.into_iter().filter(|state| !state.is_final());
        let change = Change::of(keys::receipt(scope, awaited))
            .add(WAITING_NOTES, texts([note]))
            .when(in_states(open))
            .when(exists(PK));
        self.applied("await verdict", change).await
    }

    /// Writes the step to a final state or to `failed`, and settles the reservation of a note.
    pub(super) async fn settle(
        &self,
        operation: &'static str,
        scope: &Scope,
        id: &ReceiptId,
        next: ReceiptState,
        change: Change,
    ) -> Result<Applied, StoreError> {
        // An accepted credit note continues to count.
        let settled = if stands(next) {
            absent(RESERVED).or(equals(ECF_TYPE, text(ReceiptType::E34.as_str())))
        } else {
            absent(RESERVED)
        };
        let stored = match self.apply(operation, change.clone().when(settled)).await? {
            Applied::Refused(Some(stored)) if stored.has(RESERVED) => stored,
            other => return Ok(other),
        };
        let receipt = record::read(&stored)?;
        if stands(next) && receipt.fiscal.ecf_type == ReceiptType::E34 {
            return Ok(Applied::Refused(Some(stored)));
        }
        let Some(note) = receipt.note else {
            return Err(stored.corrupt(RESERVED, "stands on a receipt that modifies none"));
        };
        let change = change.when(exists(RESERVED)).remove(&[RESERVED]);
        let change = match next {
            // A retry must reserve again.
            ReceiptState::Failed => change.set(AWAITS_INVOICE, flag(true)),
            _ => change,
        };
        let settlement = settlement(scope, &receipt, &note, next)?;
        let parts = vec![Part::Update(change.clone()), Part::Update(settlement)];
        match self.transact(operation, parts).await? {
            Transacted::Done => match self.read(operation, &keys::receipt(scope, id)).await? {
                Some(stored) => Ok(Applied::Done(stored)),
                None => Err(StoreError::retry(operation, "the receipt is gone")),
            },
            Transacted::Refused(mut refusals) => match refusals.first_mut().and_then(Option::take) {
                Some(refusal) => Ok(Applied::Refused(refusal.existing)),
                // The number went to a receipt of a new attempt, which the note does not modify.
                None if refusals.get(1).is_some_and(is_of_another) => self.apply(operation, change).await,
                None => {
                    let lock = keys::encf_lock(scope, &note.modifies);
                    Err(StoreError::corrupt(lock, OWNER, "is missing, but a note counts there"))
                }
            },
        }
    }
}

/// The part of a note's creation that takes its amount from the modified receipt.
pub(super) fn reservation(scope: &Scope, id: &ReceiptId, ecf_type: ReceiptType, note: &NewNote) -> Change {
    let change = Change::of(keys::encf_lock(scope, &note.modifies))
        .when(equals(OWNER, text(note.owner)))
        .when(absent(ANNULLED_BY));
    if ecf_type == ReceiptType::E33 {
        return change.add(OPEN_DEBITS, texts([id]));
    }
    let change = change.add(ADJUSTMENT, number(-note.amount)).add(CREDITS, texts([id]));
    let least = number((note.amount - note.monto_total).normalize());
    // Without an adjustment nothing was credited yet: the whole MontoTotal is left.
    let or_untouched = |rest: Predicate, untouched_covers: bool| {
        if untouched_covers {
            absent(ADJUSTMENT).or(rest)
        } else {
            rest
        }
    };
    if note.annuls {
        let rest = equals(ADJUSTMENT, least);
        return change
            .set(ANNULLED_BY, text(id))
            .when(absent(OPEN_DEBITS))
            .when(or_untouched(rest, note.amount == note.monto_total));
    }
    change.when(or_untouched(
        at_least(ADJUSTMENT, least),
        note.amount <= note.monto_total,
    ))
}

/// The effect of a note's end on the receipt that it modifies.
fn settlement(scope: &Scope, receipt: &Receipt, note: &Note, next: ReceiptState) -> Result<Change, StoreError> {
    let change = Change::of(keys::encf_lock(scope, &note.modifies));
    let id = texts([receipt.public_id]);
    if receipt.fiscal.ecf_type == ReceiptType::E33 {
        let change = change
            .when(contains(OPEN_DEBITS, text(receipt.public_id)))
            .delete(OPEN_DEBITS, id);
        if !stands(next) {
            return Ok(change);
        }
        return Ok(change.add(ADJUSTMENT, number(amount_of(receipt)?)));
    }
    let change = change
        .when(contains(CREDITS, text(receipt.public_id)))
        .delete(CREDITS, id)
        .add(ADJUSTMENT, number(amount_of(receipt)?));
    Ok(if note.annuls {
        change.remove(&[ANNULLED_BY])
    } else {
        change
    })
}

/// Whether the lock exists and does not list the note.
fn is_of_another(refusal: &Option<Refusal>) -> bool {
    refusal.as_ref().is_some_and(|refusal| refusal.existing.is_some())
}

fn stands(state: ReceiptState) -> bool {
    matches!(state, ReceiptState::Accepted | ReceiptState::ConditionallyAccepted)
}

fn amount_of(receipt: &Receipt) -> Result<Decimal, StoreError> {
    receipt.fiscal.monto_total.parse().map_err(|error| {
        let key = keys::receipt(&receipt.scope, &receipt.public_id);
        StoreError::corrupt(key, record::MONTO_TOTAL, format!("does not parse: {error}"))
    })
}

fn ids(lock: &Stored, name: &'static str) -> Result<Vec<ReceiptId>, StoreError> {
    lock.texts(name)?
        .iter()
        .map(|id| id.parse().map_err(|error| lock.corrupt(name, error)))
        .collect()
}
