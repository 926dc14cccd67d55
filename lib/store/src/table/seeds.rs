//! Seeds that other issuers signed to get a token of ours: each is taken once.

use jiff::Timestamp;

use super::{
    Table,
    item::{NewItem, expiry},
    keys::{self, TTL},
};
use crate::StoreError;

impl Table {
    /// Notes that a seed was used. `false`: it was before. The note may go once the seed is too old to be used at all.
    pub async fn use_seed(&self, nonce: &[u8; 16], expires_at: Timestamp) -> Result<bool, StoreError> {
        let item = NewItem::new(&keys::used_seed(nonce))
            .with(TTL, expiry(expires_at))
            .build();
        self.put_new("use seed", item).await
    }
}
