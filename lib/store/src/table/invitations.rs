//! Invitations to sign up: a code for a number of companies, valid until a time. Only its SHA-256 is stored.

use jiff::Timestamp;

use super::{
    Table,
    change::Change,
    condition::above,
    item::{NewItem, expiry, instant, number},
    keys::{self, TTL},
};
use crate::StoreError;

const LEFT: &str = "lf";
const EXPIRES_AT: &str = "ex";

impl Table {
    /// Stores an invitation. Returns `false` when one with this code exists.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn create_invitation(
        &self,
        hash: &[u8; 32],
        uses: u32,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let item = NewItem::new(&keys::invitation(hash))
            .with(LEFT, number(uses))
            .with(EXPIRES_AT, instant(expires_at))
            .with(TTL, expiry(expires_at))
            .build();
        self.put_new("create invitation", item).await
    }

    /// Whether a company may sign up with an invitation. Only the company's creation consumes it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn invitation_is_good(&self, hash: &[u8; 32], now: Timestamp) -> Result<bool, StoreError> {
        let Some(stored) = self.read("read invitation", &keys::invitation(hash)).await? else {
            return Ok(false);
        };
        Ok(stored.parse::<u32>(LEFT)? > 0 && stored.instant(EXPIRES_AT)? > now)
    }

    /// Revokes an invitation. Returns `false` when it does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn revoke_invitation(&self, hash: &[u8; 32]) -> Result<bool, StoreError> {
        self.delete("revoke invitation", &keys::invitation(hash)).await
    }
}

/// Consumes one use of an invitation.
pub(super) fn take(hash: &[u8; 32], now: Timestamp) -> Change {
    Change::of(keys::invitation(hash))
        .add(LEFT, number(-1))
        .when(above(LEFT, number(0)))
        .when(above(EXPIRES_AT, instant(now)))
}
