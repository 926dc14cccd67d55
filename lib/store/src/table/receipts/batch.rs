//! Many receipts by their ids.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};

use super::{Receipt, record};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{Table, item::Stored, keys},
};

/// DynamoDB reads so many items at once.
const BATCH: usize = 100;

impl Table {
    /// The receipts themselves, in the order of their ids.
    pub(super) async fn receipts_by_ids(&self, scope: &Scope, ids: &[ReceiptId]) -> Result<Vec<Receipt>, StoreError> {
        let mut read = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(BATCH) {
            let wanted = ids.iter().map(|id| keys::receipt(scope, id).attributes()).collect();
            for stored in self.read_batch("read receipts", wanted).await? {
                let receipt = record::read(&stored)?;
                read.insert(receipt.public_id, receipt);
            }
        }
        let mut receipts = Vec::with_capacity(ids.len());
        for id in ids {
            let receipt = match read.remove(id) {
                Some(receipt) => Some(receipt),
                // The batch left it out because the table was busy.
                None => self.receipt_eventual(scope, id).await?,
            };
            receipts.extend(receipt);
        }
        Ok(receipts)
    }

    /// What one request brings of these items; it may leave some out.
    async fn read_batch(
        &self,
        operation: &'static str,
        wanted: Vec<HashMap<String, AttributeValue>>,
    ) -> Result<Vec<Stored>, StoreError> {
        let request = KeysAndAttributes::builder().set_keys(Some(wanted)).build();
        let request = request.map_err(|error| StoreError::unexpected(operation, error))?;
        let answer = self
            .client
            .batch_get_item()
            .request_items(&self.name, request)
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        let items = answer.responses.unwrap_or_default().into_values().flatten();
        Ok(items.map(Stored::new).collect())
    }
}
