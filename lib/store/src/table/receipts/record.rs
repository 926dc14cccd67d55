//! Conversion between a receipt and its item.
//!
//! | attribute | field | | attribute | field |
//! |---|---|---|---|---|
//! | `pk` | scope, public_id | | `lp`, `ls` | index `list` |
//! | `st`, `ty` | state, ecf_type | | `dp`, `ds` | index `due`; `ds` is next_action_at |
//! | `ca`, `ua`, `sf` | created, updated, scheduled | | `xp`, `xs` | index `external`; `xp` holds external_id |
//! | `ik`, `ph` | idempotency key, payload hash | | `tp`, `ts` | index `track`; `tp` holds track_id |
//! | `cr`, `rc` | RNC of the company, of the buyer | | `sa`, `ss` | send attempts, started at |
//! | `mt`, `fe` | MontoTotal, FechaEmision | | `lu`, `lk` | lease until, lease key |
//! | `md`, `pl` | mode, kept payload | | `ng`, `la` | negative look-ups, last look-up |
//! | `en`, `sd`, `sc` | e-NCF, sign date, security code | | `sb`, `cd` | submitted, completed |
//! | `sx`, `rf` | hash of signed XML, of RFCE | | `ec`, `em` | error code, message |
//! | `lo` | sent again after a lost send | | `ra` | first sent again at |
//! | `ob` | outbox | | `su`, `rs` | secuenciaUtilizada, the authority's answer |
//! | `nm`, `na` | e-NCF that it is a note on, code 1 | | `rv`, `ho` | counts there, is held back |
//! | `wn` | notes that wait for its verdict | | `et` | track ids of earlier receipts of this number |
//! | `pv` | the receipt that left the number | | `rq` | the request that gave the number |
//! | `rz`, `ti` | RazonSocialComprador, TotalITBIS | | | |
//! | `aw` | last alarm about a state: `submitted 6` | | `lt` | track ids that the authority does not find |
//! | `od` | the last decision of an operator | | `he` | held at, last |
//! | `da` | hours after which somebody was alarmed | | `ba`, `br`, `bx`, `bt`, `bs` | the buyer's answer, reason, hash, received, signer |
//! | `va`, `vs`, `vr`, `vw`, `vx`, `vt` | way to the buyer: attempts, state, words (English, Spanish), ARECF, when | | `nt` | a webhook took the verdict |

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::ReceiptState;
use jiff::Timestamp;

use super::{
    Alarms, AsSigned, Buyer, Fiscal, Left, Mode, NewReceipt, Note, OutboxEntry, Particulars, Predecessor, Receipt,
    Sending, Signed, buyer, delivery,
};
use crate::{
    StoreError,
    artifacts::ContentHash,
    ids::{ReceiptId, Scope},
    table::{
        change::Change,
        due,
        item::{Item, NewItem, Stored, bytes, flag, instant, number, text, texts},
        keys::{self, DUE, EXTERNAL, LIST, PK, TRACK},
    },
};

pub(super) const STATE: &str = "st";
pub(super) const ECF_TYPE: &str = "ty";
pub(super) const CREATED_AT: &str = "ca";
pub(super) const UPDATED_AT: &str = "ua";
const SCHEDULED_FOR: &str = "sf";
const IDEMPOTENCY_KEY: &str = "ik";
const PAYLOAD_HASH: &str = "ph";
const COMPANY_RNC: &str = "cr";
const RNC_COMPRADOR: &str = "rc";
pub(super) const MONTO_TOTAL: &str = "mt";
const FECHA_EMISION: &str = "fe";
pub(super) const RAZON_SOCIAL_COMPRADOR: &str = "rz";
pub(super) const TOTAL_ITBIS: &str = "ti";
const MODE: &str = "md";
const PAYLOAD: &str = "pl";
pub(super) const ENCF: &str = "en";
const SIGN_DATE: &str = "sd";
const SECURITY_CODE: &str = "sc";
const SIGNED_XML: &str = "sx";
pub(super) const RFCE: &str = "rf";
pub(super) const OUTBOX: &str = "ob";
pub(super) const SEND_ATTEMPT: &str = "sa";
pub(super) const SEND_STARTED_AT: &str = "ss";
pub(super) const LOST_SEND: &str = "lo";
pub(super) const RESENT_AT: &str = "ra";
pub(super) const LEASE_UNTIL: &str = "lu";
pub(super) const LEASE_KEY: &str = "lk";
pub(super) const NEGATIVES: &str = "ng";
pub(super) const LOOKED_UP_AT: &str = "la";
pub(super) const SUBMITTED_AT: &str = "sb";
pub(super) const COMPLETED_AT: &str = "cd";
pub(super) const ERROR_CODE: &str = "ec";
pub(super) const ERROR_MESSAGE: &str = "em";
pub(super) const SECUENCIA_UTILIZADA: &str = "su";
pub(super) const RESPONSE: &str = "rs";
const PREDECESSOR: &str = "pv";
/// Two requests with the same key and number may sign the same bytes within a second; this distinguishes them.
const REQUEST: &str = "rq";
const EARLIER_TRACK_IDS: &str = "et";
const MODIFIES: &str = "nm";
const ANNULS: &str = "na";
pub(super) const RESERVED: &str = "rv";
pub(super) const AWAITS_INVOICE: &str = "ho";
pub(super) const WAITING_NOTES: &str = "wn";
pub(super) const DELIVERY_ALARM: &str = "da";
pub(super) const STATE_ALARM: &str = "aw";
pub(super) const LOST_TRACK_IDS: &str = "lt";
pub(super) const OPERATOR_DECISION: &str = "od";
pub(super) const NOTIFIED_AT: &str = "nt";
pub(super) const HELD_AT: &str = "he";

/// The attributes that a finished send or look-up removes.
pub(super) const LEASE: [&str; 4] = [LEASE_UNTIL, LEASE_KEY, NEGATIVES, LOOKED_UP_AT];
/// The attributes to remove to take a receipt off the due index.
pub(super) const NOT_DUE: [&str; 2] = [DUE.pk, DUE.sk];

/// `earlier` is the previous receipt of the number; `request` identifies the request that writes it.
pub(super) fn new_item(scope: &Scope, new: &NewReceipt, earlier: Option<&Predecessor>, request: u32) -> Item {
    let created_at = instant(new.created_at);
    let item = NewItem::new(&keys::receipt(scope, &new.public_id))
        .with(
            LIST.pk,
            text(keys::list_partition(scope, keys::fiscal_day(new.created_at))),
        )
        .with(LIST.sk, text(keys::list_sort(new.created_at, &new.public_id)))
        .with(DUE.pk, text(keys::due_partition(due::shard_of(&new.public_id))))
        .with(DUE.sk, text(keys::due_sort(new.next_action_at())))
        .with(STATE, text(new.state))
        .with(ECF_TYPE, text(new.ecf_type.as_str()))
        .with(CREATED_AT, created_at.clone())
        .with(UPDATED_AT, created_at)
        .with_some(SCHEDULED_FOR, new.scheduled_for.map(instant))
        .with(IDEMPOTENCY_KEY, text(&new.idempotency_key))
        .with(PAYLOAD_HASH, bytes(new.payload_hash))
        .with(REQUEST, number(request))
        .with(COMPANY_RNC, text(&new.company_rnc))
        .with_some(RNC_COMPRADOR, new.rnc_comprador.as_ref().map(text))
        .with(MONTO_TOTAL, text(&new.monto_total))
        .with(FECHA_EMISION, text(new.fecha_emision))
        .with_some(MODE, (new.mode == Mode::Deferred).then(|| text("deferred")))
        .with_some(PAYLOAD, new.payload.map(bytes));
    let item = new
        .particulars
        .attributes()
        .into_iter()
        .fold(item, |item, (name, value)| item.with_some(name, value));
    let item = match &new.note {
        Some(note) => item
            .with(MODIFIES, text(note.modifies))
            .with_some(ANNULS, note.annuls.then(|| flag(true)))
            .with_some(RESERVED, note.reserves().then(|| flag(true)))
            .with_some(AWAITS_INVOICE, note.awaits_invoice.then(|| flag(true))),
        None => item,
    };
    let item = match &new.external_id {
        Some(external_id) => item
            .with(EXTERNAL.pk, text(keys::external_partition(scope, external_id)))
            .with(EXTERNAL.sk, text(keys::millis_sort(new.created_at))),
        None => item,
    };
    let Some(signed) = &new.signed else {
        return item.build();
    };
    item.with(ENCF, text(signed.encf))
        .with(SIGN_DATE, text(&signed.sign_date))
        .with(SECURITY_CODE, text(&signed.security_code))
        .with(SIGNED_XML, bytes(signed.signed_xml))
        .with_some(RFCE, signed.rfce.map(bytes))
        .with_some(PREDECESSOR, earlier.map(|earlier| text(earlier.receipt.public_id)))
        .with_some(EARLIER_TRACK_IDS, earlier.and_then(track_ids_with_its_own))
        .with_some(WAITING_NOTES, earlier.and_then(waiting_notes))
        .build()
}

/// The item of a receipt in a final state, with no step left.
#[cfg(feature = "testing")]
pub(in crate::table) fn seeded_item(scope: &Scope, new: &NewReceipt) -> Item {
    let mut item = new_item(scope, new, None, 0);
    if new.state.is_final() {
        NOT_DUE.iter().for_each(|name| drop(item.remove(*name)));
    }
    item
}

/// The change that adds number and signature to a stored receipt.
pub(super) fn sign_change(
    scope: &Scope,
    id: &ReceiptId,
    signed: &Signed,
    amounts: AsSigned<'_>,
    now: Timestamp,
    earlier: Option<&Predecessor>,
    request: u32,
) -> Change {
    let change = Change::of(keys::receipt(scope, id));
    let particulars = amounts.particulars.attributes().into_iter();
    particulars
        .fold(change, |change, (name, value)| change.set_some(name, value))
        .set(STATE, text(ReceiptState::Signed))
        .set(REQUEST, number(request))
        .set(UPDATED_AT, instant(now))
        .set(MONTO_TOTAL, text(amounts.monto_total))
        .set(ENCF, text(signed.encf))
        .set(SIGN_DATE, text(&signed.sign_date))
        .set(SECURITY_CODE, text(&signed.security_code))
        .set(SIGNED_XML, bytes(signed.signed_xml))
        .set_some(RFCE, signed.rfce.map(bytes))
        .set_some(PREDECESSOR, earlier.map(|earlier| text(earlier.receipt.public_id)))
        .set_some(EARLIER_TRACK_IDS, earlier.and_then(track_ids_with_its_own))
        .set_some(WAITING_NOTES, earlier.and_then(waiting_notes))
}

/// A note awaits the receipt that holds its number, unless that receipt is of an abandoned attempt.
fn waiting_notes(earlier: &Predecessor) -> Option<AttributeValue> {
    let notes = &earlier.receipt.waiting_notes;
    (earlier.left == Left::Rejected && !notes.is_empty()).then(|| texts(notes))
}

/// The authority's track ids of earlier documents with this number: the receipt's own and those before it.
fn track_ids_with_its_own(Predecessor { receipt, .. }: &Predecessor) -> Option<AttributeValue> {
    let mut track_ids = receipt.sending.earlier_track_ids.clone();
    track_ids.extend(receipt.sending.track_id.clone());
    track_ids.extend(receipt.sending.lost_track_ids.clone());
    (!track_ids.is_empty()).then(|| texts(track_ids))
}

/// Whether this request wrote the receipt, or gave it its number.
pub(super) fn is_by(stored: &Stored, request: u32) -> Result<bool, StoreError> {
    Ok(stored.opt_parse(REQUEST)? == Some(request))
}

pub(super) fn read(stored: &Stored) -> Result<Receipt, StoreError> {
    let (scope, public_id) = keys::parts(keys::RECEIPT, stored.pk()?)?;
    let owned = |name| stored.opt_str(name).map(|text| text.map(str::to_owned));
    let in_scope = |name| match stored.opt_str(name)? {
        None => Ok(None),
        Some(partition) => match keys::after_scope(&scope, partition) {
            Some(value) => Ok(Some(value.to_owned())),
            None => Err(stored.corrupt(name, "is of another scope")),
        },
    };
    Ok(Receipt {
        public_id,
        scope,
        idempotency_key: stored.str(IDEMPOTENCY_KEY)?.to_owned(),
        payload_hash: stored.hash(PAYLOAD_HASH)?,
        external_id: in_scope(EXTERNAL.pk)?,
        mode: match stored.opt_str(MODE)? {
            None => Mode::Immediate,
            Some("deferred") => Mode::Deferred,
            Some(other) => return Err(stored.corrupt(MODE, format!("is {other}"))),
        },
        state: stored.parse(STATE)?,
        created_at: stored.instant(CREATED_AT)?,
        updated_at: stored.instant(UPDATED_AT)?,
        scheduled_for: stored.opt_instant(SCHEDULED_FOR)?,
        completed_at: stored.opt_instant(COMPLETED_AT)?,
        fiscal: Fiscal {
            company_rnc: stored.parse(COMPANY_RNC)?,
            ecf_type: stored.parse(ECF_TYPE)?,
            monto_total: stored.str(MONTO_TOTAL)?.to_owned(),
            rnc_comprador: owned(RNC_COMPRADOR)?,
            fecha_emision: stored.parse(FECHA_EMISION)?,
            particulars: Particulars::read(stored)?,
            signed: read_signed(stored)?,
        },
        payload: stored.opt_hash(PAYLOAD)?.map(ContentHash::from_bytes),
        sending: Sending {
            attempts: stored.opt_parse(SEND_ATTEMPT)?.unwrap_or(0),
            started_at: stored.opt_instant(SEND_STARTED_AT)?,
            has_lost_send: stored.has(LOST_SEND),
            // Receipts that were sent again before December 2026 have only the start of their last send.
            resent_at: match stored.opt_instant(RESENT_AT)? {
                None if stored.has(LOST_SEND) => stored.opt_instant(SEND_STARTED_AT)?,
                resent_at => resent_at,
            },
            lease_until: stored.opt_instant(LEASE_UNTIL)?,
            lookup_negatives: stored.opt_parse(NEGATIVES)?.unwrap_or(0),
            looked_up_at: stored.opt_instant(LOOKED_UP_AT)?,
            track_id: in_scope(TRACK.pk)?,
            submitted_at: stored.opt_instant(SUBMITTED_AT)?,
            held_at: stored.opt_instant(HELD_AT)?,
            earlier_track_ids: stored.texts(EARLIER_TRACK_IDS)?.to_vec(),
            lost_track_ids: stored.texts(LOST_TRACK_IDS)?.to_vec(),
        },
        error_code: owned(ERROR_CODE)?,
        error_message: owned(ERROR_MESSAGE)?,
        secuencia_utilizada: stored.opt_flag(SECUENCIA_UTILIZADA)?,
        taxauth_response: owned(RESPONSE)?,
        predecessor: stored.opt_parse(PREDECESSOR)?,
        outbox: read_outbox(stored)?,
        note: read_note(stored)?,
        waiting_notes: read_waiting_notes(stored)?,
        alarms: Alarms {
            delivery_hours: stored.opt_parse(DELIVERY_ALARM)?,
            state: owned(STATE_ALARM)?,
        },
        operator_decision: owned(OPERATOR_DECISION)?,
        buyer: Buyer {
            delivery: delivery::read(stored)?,
            answer: buyer::read(stored)?,
        },
        notified_at: stored.opt_instant(NOTIFIED_AT)?,
        next_action_at: stored.opt_parse(DUE.sk)?,
    })
}

fn read_signed(stored: &Stored) -> Result<Option<Signed>, StoreError> {
    let Some(encf) = stored.opt_parse(ENCF)? else {
        return Ok(None);
    };
    Ok(Some(Signed {
        encf,
        sign_date: stored.str(SIGN_DATE)?.to_owned(),
        security_code: stored.str(SECURITY_CODE)?.to_owned(),
        signed_xml: ContentHash::from_bytes(stored.hash(SIGNED_XML)?),
        rfce: stored.opt_hash(RFCE)?.map(ContentHash::from_bytes),
    }))
}

fn read_note(stored: &Stored) -> Result<Option<Note>, StoreError> {
    let Some(modifies) = stored.opt_parse(MODIFIES)? else {
        return Ok(None);
    };
    Ok(Some(Note {
        modifies,
        annuls: stored.flag(ANNULS)?,
        reserved: stored.flag(RESERVED)?,
        awaits_invoice: stored.flag(AWAITS_INVOICE)?,
    }))
}

fn read_waiting_notes(stored: &Stored) -> Result<Vec<ReceiptId>, StoreError> {
    let ids = stored.texts(WAITING_NOTES)?.iter();
    ids.map(|id| id.parse().map_err(|error| stored.corrupt(WAITING_NOTES, error)))
        .collect()
}

fn read_outbox(stored: &Stored) -> Result<Vec<OutboxEntry>, StoreError> {
    let mut entries = stored
        .texts(OUTBOX)?
        .iter()
        .map(|text| OutboxEntry::from_str(text).ok_or_else(|| stored.corrupt(OUTBOX, format!("holds {text}"))))
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable();
    Ok(entries)
}

/// The receipt of an index entry.
pub(super) fn read_key(stored: &Stored) -> Result<(Scope, ReceiptId), StoreError> {
    keys::parts(keys::RECEIPT, stored.str(PK)?)
}
