//! The inbox: receipts that other issuers sent to a company.
//!
//! An id begins with the time of receipt, so the ids of a partition are sorted by time. The list of all holds the
//! record; the lists of unread and of acknowledged receipts hold copies, which the acknowledgement moves, so that each
//! filter reads and counts one partition. Every change of a record increments its revision, so that record and copy
//! never differ.
//!
//! [`receiving`] stores received receipts, [`confirming`] the tax authority's answers about them.

mod confirming;
mod receiving;

use ecf::{Encf, ReceiptType, Rnc, catalogue::EstadoAprobacion};
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    approvals::GivenAnswer,
    change::Change,
    condition::{absent, exists},
    due::SHARDS,
    item::{Item, NewItem, Stored, bytes, flag, instant, number, text},
    keys::{self, DUE, InboxList, PK, SK},
    receipts::Span,
    write::{Part, Transacted},
};
use crate::{
    ContentHash, ForeignText, StoreError,
    ids::{InboxId, Scope},
};

pub use confirming::AuthorityState;
pub use receiving::InboxItemCreated;

const RNC_EMISOR: &str = "rnc_emisor";
const RAZON_SOCIAL_EMISOR: &str = "razon_social_emisor";
const RNC_COMPRADOR: &str = "rnc_comprador";
const ENCF: &str = "encf";
const ECF_TYPE: &str = "ecf_type";
const MONTO_TOTAL: &str = "monto_total";
const FECHA_EMISION: &str = "fecha_emision";
const SIGNER: &str = "signer";
const XML: &str = "xml";
const ARECF: &str = "arecf";
const RECEIVED_AT: &str = "received_at";
const ACKED_AT: &str = "acked_at";
const ID: &str = "id";
const SECURITY_CODE: &str = "sc";
const SIGNER_TRUSTED: &str = "st";
const SPEAKS_FOR: &str = "sf";
const CALLER: &str = "cl";
const AUTHORITY: &str = "au";
const AUTHORITY_AT: &str = "aat";
const SUPERSEDED_BY: &str = "sb";
const ASKED: &str = "aq";
const REVISION: &str = "rv";
/// On a number's lock: the number belongs to a proven document.
const PROVEN: &str = "pv";

/// The holder that the certificate of a document's signer names. A document is not rejected for it, because delegations
/// are not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeaksFor {
    /// The taxpayer for whom the document speaks.
    Taxpayer,
    /// A natural person, who may have the taxpayer's delegation.
    Person,
    /// Another taxpayer, or an owner that cannot be read.
    Other,
}

impl SpeaksFor {
    const ALL: [Self; 3] = [Self::Taxpayer, Self::Person, Self::Other];

    /// The value in the inbox, where the taxpayer is the document's issuer.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Taxpayer => "issuer",
            Self::Person => "person",
            Self::Other => "other",
        }
    }
}

/// A received receipt that was acknowledged as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxItem {
    pub id: InboxId,
    pub rnc_emisor: Rnc,
    pub razon_social_emisor: Option<ForeignText>,
    pub rnc_comprador: Rnc,
    pub encf: Encf,
    pub ecf_type: ReceiptType,
    /// The total as written in the document.
    pub monto_total: Option<ForeignText>,
    pub fecha_emision: Option<ForeignText>,
    /// The subject of the certificate whose signature was verified.
    pub signer: ForeignText,
    /// Whether the certificate's chain ends at an authority that the deployment trusts.
    pub signer_trusted: bool,
    /// Absent in records from before this was stored.
    pub speaks_for: Option<SpeaksFor>,
    /// The subject of the token that the sender presented, if it did.
    pub caller: Option<ForeignText>,
    /// The first six characters of the signature, by which the authority distinguishes documents with the same number.
    /// Empty in records from before it was stored.
    pub security_code: String,
    /// The tax authority's answer; `None` in certification, where it is not asked, and in older records.
    pub authority: Option<AuthorityState>,
    /// The time at which the answer was recorded.
    pub authority_at: Option<Timestamp>,
    /// The confirmed document of the same number.
    pub superseded_by: Option<InboxId>,
    /// The number of questions to the tax authority that were started.
    pub asked: u32,
    pub xml: ContentHash,
    pub arecf: ContentHash,
    pub received_at: Timestamp,
    /// The first acknowledgement by the company's ERP.
    pub acked_at: Option<Timestamp>,
    /// The number of changes of the record.
    pub revision: u32,
}

impl InboxItem {
    /// The company's progress with it: `received`, `acknowledged`, then the company's answer.
    pub fn status(&self, answer: Option<&GivenAnswer>) -> &'static str {
        match answer.map(|answer| answer.estado) {
            Some(EstadoAprobacion::Aceptado) => "approved",
            Some(EstadoAprobacion::Rechazado) => "rejected",
            None if self.acked_at.is_some() => "acknowledged",
            None => "received",
        }
    }

    /// Whether the document itself proves its issuer: the certificate is trusted and names the issuer.
    fn proves_its_number(&self) -> bool {
        self.signer_trusted && self.speaks_for == Some(SpeaksFor::Taxpayer)
    }
}

impl Table {
    /// Received receipts, newest first, and their total; optionally only acknowledged or unread ones.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn inbox(
        &self,
        scope: &Scope,
        acked: Option<bool>,
        authority: Option<AuthorityState>,
        limit: usize,
        offset: usize,
    ) -> Result<(Vec<InboxItem>, usize), StoreError> {
        let list = match acked {
            None => InboxList::All,
            Some(false) => InboxList::Unread,
            Some(true) => InboxList::Acked,
        };
        let only = authority.map(|state| (AUTHORITY, text(state.as_str())));
        let query = Query {
            newest_first: true,
            consistent: true,
            only: only.into_iter().collect(),
            ..Query::of(keys::inbox_partition(scope, list))
        };
        let total = self.count_items("count inbox", &query).await?;
        if offset >= total || limit == 0 {
            return Ok((Vec::new(), total));
        }
        let query = Query {
            limit: Some(offset.saturating_add(limit)),
            ..query
        };
        let items = self.query("list inbox", query).await?;
        let page = items
            .iter()
            .skip(offset)
            .take(limit)
            .map(read)
            .collect::<Result<_, _>>()?;
        Ok((page, total))
    }

    /// The number of unread receipts.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn count_unread(&self, scope: &Scope) -> Result<usize, StoreError> {
        let unread = Query::of(keys::inbox_partition(scope, InboxList::Unread));
        self.count_items("count unread", &unread).await
    }

    /// The receipts that were received within the span, oldest first: at most `limit` after `after`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn walk_inbox(
        &self,
        scope: &Scope,
        span: &Span,
        after: Option<&InboxId>,
        limit: usize,
    ) -> Result<Vec<InboxItem>, StoreError> {
        let query = Query {
            limit: Some(limit),
            ..within(scope, span, after)
        };
        let mut items = self.query("walk inbox", query).await?;
        items.truncate(limit);
        items.iter().map(read).collect()
    }

    /// The number of receipts that were received within the span.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn count_inbox(&self, scope: &Scope, span: &Span) -> Result<usize, StoreError> {
        self.count_items("count inbox", &within(scope, span, None)).await
    }

    /// Acknowledges a receipt. A repeated call retains the first time; `None` when the receipt does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails, or when the record keeps changing.
    pub async fn ack_inbox_item(
        &self,
        scope: &Scope,
        id: &InboxId,
        now: Timestamp,
    ) -> Result<Option<InboxItem>, StoreError> {
        for _ in 0..ACK_ROUNDS {
            let Some(item) = self.inbox_item(scope, id).await? else {
                return Ok(None);
            };
            if item.acked_at.is_some() {
                return Ok(Some(item));
            }
            let revision = (item.revision > 0).then(|| number(item.revision));
            let acked = InboxItem {
                acked_at: Some(super::item::to_millis(now)),
                revision: item.revision.saturating_add(1),
                ..item
            };
            let record = Change::of(keys::inbox_item(scope, InboxList::All, id))
                .set(ACKED_AT, instant(now))
                .set(REVISION, number(acked.revision))
                .when(exists(PK))
                .when(absent(ACKED_AT))
                .still(REVISION, revision);
            let parts = vec![
                Part::Update(record),
                Part::Delete(keys::inbox_item(scope, InboxList::Unread, id)),
                Part::PutNew(stored(scope, InboxList::Acked, &acked)),
            ];
            match self.transact("acknowledge inbox item", parts).await? {
                Transacted::Done => return Ok(Some(acked)),
                // Another acknowledgement was faster, or the tax authority's answer was recorded concurrently.
                Transacted::Refused(_) => {}
            }
        }
        Err(StoreError::retry("acknowledge inbox item", "the item keeps changing"))
    }
}

/// Upper bound of the tries when the item changes concurrently.
const ACK_ROUNDS: usize = 5;

/// The list with the item's copy.
fn current_list(item: &InboxItem) -> InboxList {
    match item.acked_at {
        None => InboxList::Unread,
        Some(_) => InboxList::Acked,
    }
}

/// Ids begin with the time, so a span of time is a range of ids.
fn within(scope: &Scope, span: &Span, after: Option<&InboxId>) -> Query<'static> {
    let low = match after {
        Some(after) => format!("{after}!"),
        None => span
            .from
            .map_or_else(|| "!".to_owned(), |from| InboxId::bounds_of(from).0.to_string()),
    };
    let high = span
        .to
        .map_or_else(|| "~".to_owned(), |to| InboxId::bounds_of(to).1.to_string());
    Query {
        sort: Sort::Between(SK, low, high),
        consistent: true,
        ..Query::of(keys::inbox_partition(scope, InboxList::All))
    }
}

fn stored(scope: &Scope, list: InboxList, item: &InboxItem) -> Item {
    let new = NewItem::new(&keys::inbox_item(scope, list, &item.id))
        .with(RNC_EMISOR, text(&item.rnc_emisor))
        .with_some(RAZON_SOCIAL_EMISOR, item.razon_social_emisor.as_ref().map(text))
        .with(RNC_COMPRADOR, text(&item.rnc_comprador))
        .with(ENCF, text(item.encf))
        .with(ECF_TYPE, text(item.ecf_type.as_str()))
        .with_some(MONTO_TOTAL, item.monto_total.as_ref().map(text))
        .with_some(FECHA_EMISION, item.fecha_emision.as_ref().map(text))
        .with(SIGNER, text(&item.signer))
        .with(SIGNER_TRUSTED, flag(item.signer_trusted))
        .with_some(SPEAKS_FOR, item.speaks_for.map(|whom| text(whom.as_str())))
        .with_some(CALLER, item.caller.as_ref().map(text))
        .with(SECURITY_CODE, text(&item.security_code))
        .with_some(AUTHORITY, item.authority.map(|state| text(state.as_str())))
        .with_some(AUTHORITY_AT, item.authority_at.map(instant))
        .with_some(SUPERSEDED_BY, item.superseded_by.map(text))
        .with(XML, bytes(item.xml))
        .with(ARECF, bytes(item.arecf))
        .with(RECEIVED_AT, instant(item.received_at))
        .with_some(ACKED_AT, item.acked_at.map(instant));
    match (list, item.authority) {
        (InboxList::All, Some(AuthorityState::Pending)) => new
            .with(DUE.pk, text(keys::due_partition(item.id.spread() % SHARDS)))
            .with(DUE.sk, text(keys::due_sort(item.received_at + confirming::FIRST_LOOK))),
        _ => new,
    }
    .build()
}

fn read(stored: &Stored) -> Result<InboxItem, StoreError> {
    let foreign = |name| stored.opt_str(name).map(|text| text.map(ForeignText::from));
    Ok(InboxItem {
        id: stored.parse(SK)?,
        rnc_emisor: stored.parse(RNC_EMISOR)?,
        razon_social_emisor: foreign(RAZON_SOCIAL_EMISOR)?,
        rnc_comprador: stored.parse(RNC_COMPRADOR)?,
        encf: stored.parse(ENCF)?,
        ecf_type: stored.parse(ECF_TYPE)?,
        monto_total: foreign(MONTO_TOTAL)?,
        fecha_emision: foreign(FECHA_EMISION)?,
        signer: stored.str(SIGNER)?.into(),
        signer_trusted: stored.flag(SIGNER_TRUSTED)?,
        speaks_for: stored.opt_one_of(SPEAKS_FOR, &SpeaksFor::ALL, SpeaksFor::as_str)?,
        caller: foreign(CALLER)?,
        security_code: stored.opt_str(SECURITY_CODE)?.unwrap_or_default().to_owned(),
        authority: stored.opt_one_of(AUTHORITY, &AuthorityState::ALL, AuthorityState::as_str)?,
        authority_at: stored.opt_instant(AUTHORITY_AT)?,
        superseded_by: stored.opt_parse(SUPERSEDED_BY)?,
        asked: stored.opt_parse(ASKED)?.unwrap_or(0),
        xml: ContentHash::from_bytes(stored.hash(XML)?),
        arecf: ContentHash::from_bytes(stored.hash(ARECF)?),
        received_at: stored.instant(RECEIVED_AT)?,
        acked_at: stored.opt_instant(ACKED_AT)?,
        revision: stored.opt_parse(REVISION)?.unwrap_or(0),
    })
}
