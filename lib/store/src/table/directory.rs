//! Cached entries of the authority's directory: where an electronic taxpayer receives.
//!
//! These records do not belong to a company: within an environment the authority's answer is the same for all.

use ecf::{Environment, Rnc};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Table,
    change::Change,
    condition::{absent, at_most},
    item::{Stored, expiry, instant, text, to_millis},
    keys::{self, TTL},
};
use crate::StoreError;

/// How long an entry is retained for times when the authority cannot be reached.
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

const ENTRY: &str = "en";
const CHECKED_AT: &str = "ck";

/// The addresses of an electronic taxpayer, with the authority's names. They are prefixes without a trailing slash; the
/// fixed paths of the services are appended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryEntry {
    pub nombre: Option<String>,
    pub url_recepcion: Option<String>,
    /// For commercial approvals.
    pub url_aceptacion: Option<String>,
    /// For authentication; absent when the taxpayer requires none.
    pub url_opcional: Option<String>,
}

/// The directory's answer about a taxpayer, and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryListing {
    /// `None` when it is not an electronic taxpayer.
    pub entry: Option<DirectoryEntry>,
    pub checked_at: Timestamp,
}

impl Table {
    /// The cached answer about a taxpayer; an eventually consistent read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn directory_listing(
        &self,
        environment: Environment,
        rnc: &Rnc,
        now: Timestamp,
    ) -> Result<Option<DirectoryListing>, StoreError> {
        let key = keys::directory(environment, rnc);
        let stored = self.read_eventual("read directory listing", &key).await?;
        let listing = stored.as_ref().map(read).transpose()?;
        Ok(listing.filter(|listing| now.duration_since(listing.checked_at) < KEPT))
    }

    /// Stores the directory's answer. An older answer never replaces a newer one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_directory_listing(
        &self,
        environment: Environment,
        rnc: &Rnc,
        listing: &DirectoryListing,
    ) -> Result<(), StoreError> {
        let entry = listing
            .entry
            .as_ref()
            .map(|entry| text(serde_json::to_string(entry).expect("texts are JSON")));
        let checked_at = to_millis(listing.checked_at);
        let change = Change::of(keys::directory(environment, rnc))
            .set_or_remove(ENTRY, entry)
            .set(CHECKED_AT, instant(checked_at))
            .set(TTL, expiry(checked_at + KEPT))
            .when(absent(CHECKED_AT).or(at_most(CHECKED_AT, instant(checked_at))));
        self.apply("record directory listing", change).await.map(drop)
    }
}

fn read(stored: &Stored) -> Result<DirectoryListing, StoreError> {
    let entry = stored.opt_str(ENTRY)?.map(serde_json::from_str).transpose();
    Ok(DirectoryListing {
        entry: entry.map_err(|error| stored.corrupt(ENTRY, error))?,
        checked_at: stored.instant(CHECKED_AT)?,
    })
}
