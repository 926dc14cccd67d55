//! What lists show of a document beside its total.
//!
//! Records from before this was stored get it from their signed XML, by a command of the operator.

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    Receipt,
    record::{RAZON_SOCIAL_COMPRADOR, TOTAL_ITBIS},
};
use crate::{
    StoreError,
    table::{
        Table,
        change::Change,
        condition::{absent, exists},
        item::{Stored, text},
        keys::{self, PK},
    },
};

/// What lists show of a document beside its total, as the document writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Particulars {
    pub razon_social_comprador: Option<String>,
    pub total_itbis: Option<String>,
}

impl Particulars {
    /// The attributes. The ITBIS is always written, so that it shows whether a record has its particulars.
    pub(super) fn attributes(&self) -> [(&'static str, Option<AttributeValue>); 2] {
        [
            (TOTAL_ITBIS, Some(text(self.total_itbis.as_deref().unwrap_or_default()))),
            (RAZON_SOCIAL_COMPRADOR, self.razon_social_comprador.as_ref().map(text)),
        ]
    }

    pub(super) fn read(stored: &Stored) -> Result<Option<Self>, StoreError> {
        let Some(total_itbis) = stored.opt_str(TOTAL_ITBIS)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            razon_social_comprador: stored.opt_str(RAZON_SOCIAL_COMPRADOR)?.map(str::to_owned),
            total_itbis: Some(total_itbis.to_owned()).filter(|text| !text.is_empty()),
        }))
    }
}

impl Table {
    /// Adds the particulars to a record that has none. Returns `false` when it has them already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn fill_in_particulars(&self, receipt: &Receipt, particulars: &Particulars) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(&receipt.scope, &receipt.public_id))
            .when(exists(PK))
            .when(absent(TOTAL_ITBIS));
        let change = particulars
            .attributes()
            .into_iter()
            .fold(change, |change, (name, value)| change.set_some(name, value));
        self.applied("fill in particulars", change).await
    }
}
