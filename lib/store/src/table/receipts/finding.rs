//! Look-ups of receipts by number, by the caller's id, by the authority's id and by day.

use ecf::{Encf, ReceiptState, ReceiptType};
use jiff::civil::Date;

use super::{
    Receipt,
    record::{ECF_TYPE, MONTO_TOTAL, STATE, read_key},
};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{
        Query, Table,
        annulments::{self, ANNULMENT, NumberHolder},
        item::Stored,
        keys::{self, EXTERNAL, Index, LIST, TRACK},
    },
};

/// A receipt in the list index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedReceipt {
    pub public_id: ReceiptId,
    pub state: ReceiptState,
    pub ecf_type: ReceiptType,
    pub monto_total: String,
}

/// An earlier receipt whose number may go to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Predecessor {
    pub(super) receipt: Receipt,
    pub(super) left: Left,
}

/// Why a receipt's number may go to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The authority rejected it and did not count the number as used.
    Rejected,
    /// It belongs to an earlier attempt of the certification.
    Abandoned,
}

impl Table {
    /// The receipt that holds a number; if several had it in turn, the last one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipt_by_encf(&self, scope: &Scope, encf: &Encf) -> Result<Option<Receipt>, StoreError> {
        let Some(lock) = self.read("read e-NCF lock", &keys::encf_lock(scope, encf)).await? else {
            return Ok(None);
        };
        match annulments::holder(&lock)? {
            NumberHolder::Receipt(owner) => self.receipt(scope, &owner).await,
            NumberHolder::Annulled => Ok(None),
        }
    }

    /// The earlier receipt whose number may be used again: a rejected receipt whose number the authority did not count
    /// as used, or one of an earlier attempt of the certification. `None` when the number is free, annulled, or in use.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn number_left_by(&self, scope: &Scope, encf: &Encf) -> Result<Option<Receipt>, StoreError> {
        let predecessor = self.predecessor(scope, encf).await?;
        Ok(predecessor.map(|predecessor| predecessor.receipt))
    }

    pub(super) async fn predecessor(&self, scope: &Scope, encf: &Encf) -> Result<Option<Predecessor>, StoreError> {
        let Some(lock) = self.read("read e-NCF lock", &keys::encf_lock(scope, encf)).await? else {
            return Ok(None);
        };
        let NumberHolder::Receipt(owner) = annulments::holder(&lock)? else {
            return Ok(None);
        };
        let Some(receipt) = self.receipt(scope, &owner).await? else {
            return Ok(None);
        };
        let left = if self.is_of_earlier_attempt(scope, receipt.created_at).await? {
            Some(Left::Abandoned)
        } else {
            (receipt.left_its_number() && !lock.has(ANNULMENT)).then_some(Left::Rejected)
        };
        Ok(left.map(|left| Predecessor { receipt, left }))
    }

    /// The newest receipt with this `external_id`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipt_by_external_id(
        &self,
        scope: &Scope,
        external_id: &str,
    ) -> Result<Option<Receipt>, StoreError> {
        self.newest_in(scope, &EXTERNAL, keys::external_partition(scope, external_id))
            .await
    }

    /// The receipt with this track id of the authority.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipt_by_track_id(&self, scope: &Scope, track_id: &str) -> Result<Option<Receipt>, StoreError> {
        self.newest_in(scope, &TRACK, keys::track_partition(scope, track_id))
            .await
    }

    /// The newest receipts of one day, at most `limit`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn receipts_newest(
        &self,
        scope: &Scope,
        day: Date,
        limit: usize,
    ) -> Result<Vec<ListedReceipt>, StoreError> {
        let query = Query {
            newest_first: true,
            limit: Some(limit),
            ..Query::index(&LIST, keys::list_partition(scope, day))
        };
        let entries = self.query("list receipts", query).await?;
        entries.iter().map(read_listed).collect()
    }

    async fn newest_in(&self, scope: &Scope, index: &Index, partition: String) -> Result<Option<Receipt>, StoreError> {
        let query = Query {
            newest_first: true,
            limit: Some(1),
            ..Query::index(index, partition)
        };
        match self.query("find receipt", query).await?.first() {
            Some(entry) => self.receipt(scope, &read_key(entry)?.1).await,
            None => Ok(None),
        }
    }
}

/// A receipt from its entry in the list.
pub(in crate::table) fn read_listed(entry: &Stored) -> Result<ListedReceipt, StoreError> {
    let (_, public_id) = read_key(entry)?;
    Ok(ListedReceipt {
        public_id,
        state: entry.parse(STATE)?,
        ecf_type: entry.parse(ECF_TYPE)?,
        monto_total: entry.str(MONTO_TOTAL)?.to_owned(),
    })
}
