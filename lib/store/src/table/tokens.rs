//! Tokens of the tax authority, one per certificate and environment, and the lease for refreshing one.
//!
//! A token is encrypted by the vault. It belongs to a certificate, identified by the SHA-256 of its DER bytes, and not
//! to a company, because one person may represent two companies.

use ecf::Environment;
use jiff::{SignedDuration, Timestamp};

use super::{
    Table,
    change::Change,
    condition::{absent, at_most, equals, exists},
    item::{Stored, bytes, expiry, instant},
    keys::{self, PK, TTL},
};
use crate::StoreError;

const SEALED: &str = "sealed";
const EXPIRES_AT: &str = "expires_at";
const LEASE_UNTIL: &str = "lease";

/// An encrypted token and its expiry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    pub sealed: Vec<u8>,
    pub expires_at: Timestamp,
}

impl Table {
    /// The token, unless it has expired.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn token(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
        now: Timestamp,
    ) -> Result<Option<StoredToken>, StoreError> {
        let stored = self.read("read token", &keys::token(certificate, environment)).await?;
        token(stored, now)
    }

    /// The token, with an eventually consistent read at half the price: the latest write of another process may be
    /// missing.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn token_eventual(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
        now: Timestamp,
    ) -> Result<Option<StoredToken>, StoreError> {
        let key = keys::token(certificate, environment);
        token(self.read_eventual("read token", &key).await?, now)
    }

    /// Stores a new token and ends the refresh. An older one never replaces one that expires later.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn store_token(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
        token: &StoredToken,
    ) -> Result<(), StoreError> {
        let change = Change::of(keys::token(certificate, environment))
            .set(SEALED, bytes(&token.sealed))
            .set(EXPIRES_AT, instant(token.expires_at))
            .set(TTL, expiry(token.expires_at))
            .remove(&[LEASE_UNTIL])
            .when(absent(EXPIRES_AT).or(at_most(EXPIRES_AT, instant(token.expires_at))));
        self.apply("store token", change).await?;
        Ok(())
    }

    /// Removes a token that the authority rejected, if it is still the stored one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn invalidate_token(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
        sealed: &[u8],
    ) -> Result<(), StoreError> {
        let change = Change::of(keys::token(certificate, environment))
            .remove(&[SEALED, EXPIRES_AT])
            .when(equals(SEALED, bytes(sealed)));
        self.apply("invalidate token", change).await?;
        Ok(())
    }

    /// Claims the refresh. Returns `false` when another process has it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_token_refresh(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
        now: Timestamp,
        lease: SignedDuration,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::token(certificate, environment))
            .set(LEASE_UNTIL, instant(now + lease))
            .set(TTL, expiry(now + SignedDuration::from_hours(1)))
            .when(absent(LEASE_UNTIL).or(at_most(LEASE_UNTIL, instant(now))));
        self.applied("claim token refresh", change).await
    }

    /// Releases the refresh, so that another process may try at once.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn release_token_refresh(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
    ) -> Result<(), StoreError> {
        let change = Change::of(keys::token(certificate, environment))
            .remove(&[LEASE_UNTIL])
            .when(exists(PK));
        self.apply("release token refresh", change).await?;
        Ok(())
    }
}

fn token(stored: Option<Stored>, now: Timestamp) -> Result<Option<StoredToken>, StoreError> {
    let Some(stored) = stored else { return Ok(None) };
    let Some(sealed) = stored.opt_bytes(SEALED)? else {
        return Ok(None);
    };
    let token = StoredToken {
        sealed: sealed.to_vec(),
        expires_at: stored.instant(EXPIRES_AT)?,
    };
    Ok(Some(token).filter(|token| token.expires_at > now))
}
