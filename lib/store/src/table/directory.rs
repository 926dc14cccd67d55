//! The authority's directory as far as somebody asked for it: where an electronic taxpayer receives.
//!
//! Nothing here belongs to a company: within an environment the authority tells everybody the same.

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

/// How long an entry is kept for the case that the authority cannot be asked.
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

const ENTRY: &str = "en";
const CHECKED_AT: &str = "ck";

/// Where an electronic taxpayer receives, in the authority's names. The addresses are prefixes without a slash at the end,
/// to which the services' fixed paths are appended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryEntry {
    pub nombre: Option<String>,
    pub url_recepcion: Option<String>,
    /// For commercial approvals.
    pub url_aceptacion: Option<String>,
    /// For authentication; absent when it wants none.
    pub url_opcional: Option<String>,
}

/// What the directory said of a taxpayer, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryListing {
    /// `None`: it is not an electronic taxpayer.
    pub entry: Option<DirectoryEntry>,
    pub checked_at: Timestamp,
}

impl Table {
    /// What is kept of a taxpayer; it may lag behind by moments.
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

    /// Keeps what the directory said. An older answer never replaces a newer one.
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
