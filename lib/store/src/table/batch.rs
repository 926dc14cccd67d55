//! Batch reads: many items by their keys, in few requests. With single reads, a page of a hundred items would fail as
//! soon as one of the reads does.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::KeysAndAttributes;

use super::{
    Table,
    item::{Item, Stored},
    keys::Key,
};
use crate::StoreError;

/// Upper bound of the items in one batch read of DynamoDB.
const BATCH: usize = 100;

impl Table {
    /// The items with these keys, which may repeat; missing items are omitted.
    pub(super) async fn read_many(
        &self,
        operation: &'static str,
        keys: impl IntoIterator<Item = Key>,
        consistent: bool,
    ) -> Result<HashMap<Key, Stored>, StoreError> {
        let distinct: Vec<Key> = keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut found = HashMap::with_capacity(distinct.len());
        for keys in distinct.chunks(BATCH) {
            let (items, missed) = self.read_batch(operation, keys, consistent).await?;
            for stored in items {
                let (pk, sk) = (stored.pk()?.to_owned(), stored.sk()?.to_owned());
                found.insert(Key { pk, sk }, stored);
            }
            // DynamoDB omits some keys when the table is throttled.
            for key in keys.iter().filter(|key| missed.contains(&key.attributes())) {
                if let Some(stored) = self.read_item(operation, key, consistent).await? {
                    found.insert(key.clone(), stored);
                }
            }
        }
        Ok(found)
    }

    /// The items that one request reads, and the keys that it omits.
    async fn read_batch(
        &self,
        operation: &'static str,
        keys: &[Key],
        consistent: bool,
    ) -> Result<(Vec<Stored>, Vec<Item>), StoreError> {
        let wanted = keys.iter().map(Key::attributes).collect();
        let request = KeysAndAttributes::builder()
            .set_keys(Some(wanted))
            .consistent_read(consistent)
            .build()
            .map_err(|error| StoreError::unexpected(operation, error))?;
        let answer = self
            .client
            .batch_get_item()
            .request_items(&self.name, request)
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        let items = answer.responses.unwrap_or_default().into_values().flatten();
        let missed = answer.unprocessed_keys.unwrap_or_default().into_values();
        Ok((
            items.map(Stored::new).collect(),
            missed.flat_map(|missed| missed.keys).collect(),
        ))
    }
}
