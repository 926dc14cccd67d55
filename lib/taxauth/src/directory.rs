//! The directory of electronic taxpayers, with a cache in the shared table.
//!
//! Entries are public and equal for all companies of an environment, so all companies share them. When the authority
//! cannot be queried, an expired entry is returned together with its age and the error.

use ecf::Rnc;
use ecf_language::{Bilingual, Say};
use ecf_store::{StoreError, Table, directory::DirectoryListing};
use jiff::{SignedDuration, Timestamp};

use crate::error::TaxAuthError;
use crate::session::Session;

/// How long an entry is valid.
const LISTED_MAX_AGE: SignedDuration = SignedDuration::from_hours(6);
/// How long "not listed" is valid: taxpayers join every day.
const UNLISTED_MAX_AGE: SignedDuration = SignedDuration::from_hours(1);
/// The shortest time between two queries for one taxpayer when a caller demands a fresh entry.
const REFRESH_SPACING: SignedDuration = SignedDuration::from_mins(1);

/// How old an entry may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Any valid entry of the cache.
    Cached,
    /// At most a minute old: the caller's delivery to the cached address failed.
    Fresh,
}

/// Why a look-up has no result.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The cache has no entry, and the authority cannot be queried.
    #[error("the directory cannot be asked")]
    Authority(#[from] TaxAuthError),
    /// The table failed.
    #[error("the directory's entries cannot be read or kept")]
    Store(#[from] StoreError),
}

impl Say for DirectoryError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Authority(_) => "no se puede consultar el directorio",
            Self::Store(_) => "no se pueden leer o guardar los datos del directorio",
        };
        Bilingual::of(self, spanish)
    }
}

/// An entry and, if it is expired, the reason.
#[derive(Debug)]
pub struct Known {
    /// The entry, and the time of its query.
    pub listing: DirectoryListing,
    /// Why the authority could not be queried.
    pub problem: Option<TaxAuthError>,
}

/// The directory of electronic taxpayers.
#[derive(Debug, Clone)]
pub struct Directory {
    table: Table,
}

impl Directory {
    /// A directory that caches its entries in `table`.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table }
    }

    /// A valid entry of the cache, if there is one. Does not query the authority.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn cached(
        &self,
        environment: ecf::Environment,
        rnc: &Rnc,
        wanted: Wanted,
        now: Timestamp,
    ) -> Result<Option<DirectoryListing>, StoreError> {
        let cached = self.table.directory_listing(environment, rnc, now).await?;
        Ok(cached.filter(|listing| will_do(listing, wanted, now)))
    }

    /// The entry of a taxpayer. Queries the authority when the cache has no valid entry.
    ///
    /// # Errors
    /// When the cache has no entry and the authority cannot be queried, or when the table fails.
    pub async fn look_up(
        &self,
        session: &Session<'_>,
        rnc: &Rnc,
        wanted: Wanted,
        now: Timestamp,
    ) -> Result<Known, DirectoryError> {
        let environment = session.environment();
        let cached = self.table.directory_listing(environment, rnc, now).await?;
        if let Some(listing) = &cached
            && will_do(listing, wanted, now)
        {
            return Ok(Known {
                listing: listing.clone(),
                problem: None,
            });
        }
        match session.directory_entry(rnc).await {
            Ok(entry) => {
                let listing = DirectoryListing { entry, checked_at: now };
                self.table.record_directory_listing(environment, rnc, &listing).await?;
                Ok(Known { listing, problem: None })
            }
            Err(error) => match cached {
                Some(listing) => Ok(Known {
                    listing,
                    problem: Some(error),
                }),
                None => Err(error.into()),
            },
        }
    }
}

fn will_do(listing: &DirectoryListing, wanted: Wanted, now: Timestamp) -> bool {
    let longest = match (wanted, &listing.entry) {
        (Wanted::Fresh, _) => REFRESH_SPACING,
        (Wanted::Cached, Some(_)) => LISTED_MAX_AGE,
        (Wanted::Cached, None) => UNLISTED_MAX_AGE,
    };
    now.duration_since(listing.checked_at) < longest
}
