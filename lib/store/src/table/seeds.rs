//! Seeds that other issuers signed to get a token: each is accepted once.

use jiff::Timestamp;

use super::{
    Table,
    item::{NewItem, expiry},
    keys::{self, TTL},
};
use crate::StoreError;

impl Table {
    /// Records the use of a seed. Returns `false` when it was used before. The record expires with the seed.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn use_seed(&self, nonce: &[u8; 16], expires_at: Timestamp) -> Result<bool, StoreError> {
        let item = NewItem::new(&keys::used_seed(nonce))
            .with(TTL, expiry(expires_at))
            .build();
        self.put_new("use seed", item).await
    }
}
