//! Receipts that other issuers sent to a company.
//!
//! An id begins with the time of receipt, so a partition of ids is a list in order of time. The list of all holds the
//! record; the lists of unread and of acknowledged ones hold copies, moved by the acknowledgement, so that each filter reads
//! and counts one partition.

use ecf::{Encf, ReceiptType, Rnc, catalogue::EstadoAprobacion};
use jiff::Timestamp;

use super::{
    Announcement, GivenAnswer, Query, Sort, Span, Table, announcements,
    change::Change,
    item::{Item, NewItem, Stored, bytes, instant, text},
    keys::{self, InboxList, SK},
    write::{Part, Transacted},
};
use crate::{
    ContentHash, StoreError,
    ids::{InboxId, Scope},
};

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

/// A receipt that another issuer sent, and that we acknowledged as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxItem {
    pub id: InboxId,
    pub rnc_emisor: Rnc,
    pub razon_social_emisor: Option<String>,
    pub rnc_comprador: Rnc,
    pub encf: Encf,
    pub ecf_type: ReceiptType,
    /// As the document writes it.
    pub monto_total: Option<String>,
    pub fecha_emision: Option<String>,
    /// The subject of the certificate whose signature was verified.
    pub signer: String,
    pub xml: ContentHash,
    pub arecf: ContentHash,
    pub received_at: Timestamp,
    /// When the company's ERP acknowledged it first.
    pub acked_at: Option<Timestamp>,
}

impl InboxItem {
    /// How far the company came with it: `received`, `acknowledged`, then what it answered.
    pub fn status(&self, answer: Option<&GivenAnswer>) -> &'static str {
        match answer.map(|answer| answer.estado) {
            Some(EstadoAprobacion::Aceptado) => "approved",
            Some(EstadoAprobacion::Rechazado) => "rejected",
            None if self.acked_at.is_some() => "acknowledged",
            None => "received",
        }
    }
}

/// What became of a receipt that was to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    New,
    /// The issuer sent this number before; the first one stays.
    Duplicate,
}

impl Table {
    /// Keeps a receipt together with the news of it, unless its number came before. Its documents are in the bucket already.
    pub async fn keep_received(
        &self,
        scope: &Scope,
        item: &InboxItem,
        news: &Announcement,
    ) -> Result<Kept, StoreError> {
        let lock = keys::received_lock(scope, &item.rnc_emisor, &item.encf);
        let parts = vec![
            Part::PutNew(NewItem::new(&lock).with(ID, text(item.id)).build()),
            Part::PutNew(stored(scope, InboxList::All, item)),
            Part::PutNew(stored(scope, InboxList::Unread, item)),
            Part::PutNew(announcements::item(scope, news)),
        ];
        match self.transact("keep received receipt", parts).await {
            Ok(Transacted::Done) => Ok(Kept::New),
            Ok(Transacted::Refused(_)) => Ok(Kept::Duplicate),
            // Perhaps only the answer was lost: the lock tells whose receipt has the number.
            Err(error) if error.is_retryable() => match self.read("read received lock", &lock).await? {
                Some(lock) if lock.parse::<InboxId>(ID)? == item.id => {
                    let found = self.inbox_item(scope, &item.id).await?;
                    let ours = found.is_some_and(|found| found.arecf == item.arecf);
                    Ok(if ours { Kept::New } else { Kept::Duplicate })
                }
                Some(_) => Ok(Kept::Duplicate),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Whether the issuer sent this number before.
    pub async fn was_received(&self, scope: &Scope, rnc_emisor: &Rnc, encf: &Encf) -> Result<bool, StoreError> {
        let lock = keys::received_lock(scope, rnc_emisor, encf);
        Ok(self.read("read received lock", &lock).await?.is_some())
    }

    /// What the issuer sent under this number.
    pub async fn received(
        &self,
        scope: &Scope,
        rnc_emisor: &Rnc,
        encf: &Encf,
    ) -> Result<Option<InboxItem>, StoreError> {
        let lock = keys::received_lock(scope, rnc_emisor, encf);
        match self.read("read received lock", &lock).await? {
            Some(lock) => self.inbox_item(scope, &lock.parse(ID)?).await,
            None => Ok(None),
        }
    }

    pub async fn inbox_item(&self, scope: &Scope, id: &InboxId) -> Result<Option<InboxItem>, StoreError> {
        let key = keys::inbox_item(scope, InboxList::All, id);
        let stored = self.read("read inbox item", &key).await?;
        stored.as_ref().map(read).transpose()
    }

    /// What was received, newest first, and how much there is of it: all, or only what was acknowledged, or was not.
    pub async fn inbox(
        &self,
        scope: &Scope,
        acked: Option<bool>,
        limit: usize,
        offset: usize,
    ) -> Result<(Vec<InboxItem>, usize), StoreError> {
        let list = match acked {
            None => InboxList::All,
            Some(false) => InboxList::Unread,
            Some(true) => InboxList::Acked,
        };
        let query = Query {
            newest_first: true,
            consistent: true,
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

    /// How many were not acknowledged yet.
    pub async fn count_unread(&self, scope: &Scope) -> Result<usize, StoreError> {
        let unread = Query::of(keys::inbox_partition(scope, InboxList::Unread));
        self.count_items("count unread", &unread).await
    }

    /// What was received within the span, oldest first: at most `limit` behind `after`.
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

    /// How much was received within the span.
    pub async fn count_inbox(&self, scope: &Scope, span: &Span) -> Result<usize, StoreError> {
        self.count_items("count inbox", &within(scope, span, None)).await
    }

    /// Acknowledges a receipt. Doing it again keeps the first time; `None`: there is no such receipt.
    pub async fn ack_inbox_item(
        &self,
        scope: &Scope,
        id: &InboxId,
        now: Timestamp,
    ) -> Result<Option<InboxItem>, StoreError> {
        let Some(item) = self.inbox_item(scope, id).await? else {
            return Ok(None);
        };
        if item.acked_at.is_some() {
            return Ok(Some(item));
        }
        let acked = InboxItem {
            acked_at: Some(super::item::to_millis(now)),
            ..item
        };
        let record = Change::of(keys::inbox_item(scope, InboxList::All, id))
            .set(ACKED_AT, instant(now))
            .when("attribute_exists(#pk) AND attribute_not_exists(acked_at)");
        let parts = vec![
            Part::Update(record),
            Part::Delete(keys::inbox_item(scope, InboxList::Unread, id)),
            Part::PutNew(stored(scope, InboxList::Acked, &acked)),
        ];
        match self.transact("acknowledge inbox item", parts).await? {
            Transacted::Done => Ok(Some(acked)),
            // Another acknowledgement was faster.
            Transacted::Refused(_) => self.inbox_item(scope, id).await,
        }
    }
}

/// Ids begin with the time, so a span of time is one of ids.
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
    NewItem::new(&keys::inbox_item(scope, list, &item.id))
        .with(RNC_EMISOR, text(&item.rnc_emisor))
        .with_some(RAZON_SOCIAL_EMISOR, item.razon_social_emisor.as_ref().map(text))
        .with(RNC_COMPRADOR, text(&item.rnc_comprador))
        .with(ENCF, text(item.encf))
        .with(ECF_TYPE, text(item.ecf_type.as_str()))
        .with_some(MONTO_TOTAL, item.monto_total.as_ref().map(text))
        .with_some(FECHA_EMISION, item.fecha_emision.as_ref().map(text))
        .with(SIGNER, text(&item.signer))
        .with(XML, bytes(item.xml))
        .with(ARECF, bytes(item.arecf))
        .with(RECEIVED_AT, instant(item.received_at))
        .with_some(ACKED_AT, item.acked_at.map(instant))
        .build()
}

fn read(stored: &Stored) -> Result<InboxItem, StoreError> {
    let owned = |name| stored.opt_str(name).map(|text| text.map(str::to_owned));
    Ok(InboxItem {
        id: stored.parse(SK)?,
        rnc_emisor: stored.parse(RNC_EMISOR)?,
        razon_social_emisor: owned(RAZON_SOCIAL_EMISOR)?,
        rnc_comprador: stored.parse(RNC_COMPRADOR)?,
        encf: stored.parse(ENCF)?,
        ecf_type: stored.parse(ECF_TYPE)?,
        monto_total: owned(MONTO_TOTAL)?,
        fecha_emision: owned(FECHA_EMISION)?,
        signer: stored.str(SIGNER)?.to_owned(),
        xml: ContentHash::from_bytes(stored.hash(XML)?),
        arecf: ContentHash::from_bytes(stored.hash(ARECF)?),
        received_at: stored.instant(RECEIVED_AT)?,
        acked_at: stored.opt_instant(ACKED_AT)?,
    })
}
