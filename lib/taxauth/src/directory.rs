//! The directory with a memory: what the authority said of a taxpayer is believed for hours.
//!
//! Entries are public and the same for everybody in an environment, so all companies share them. When the authority cannot
//! be asked an older entry is better than none: whoever uses it sees its age.

use ecf::Rnc;
use ecf_store::{DirectoryListing, StoreError, Table};
use jiff::{SignedDuration, Timestamp};

use crate::error::TaxAuthError;
use crate::session::Session;

/// How long an entry is believed.
const LISTED_KEPT: SignedDuration = SignedDuration::from_hours(6);
/// How long it is believed that somebody is not listed: taxpayers join every day.
const UNLISTED_KEPT: SignedDuration = SignedDuration::from_hours(1);
/// How often the authority is asked of one taxpayer because somebody does not believe what is kept.
const REFRESH_SPACING: SignedDuration = SignedDuration::from_mins(1);

/// Whether what is kept will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// As long as it is believed.
    Kept,
    /// The authority is to be asked, unless somebody just did: a delivery to the kept address failed.
    Fresh,
}

/// Why nothing is known of a taxpayer.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Neither is anything kept nor could the authority be asked.
    #[error("the directory cannot be asked")]
    Authority(#[from] TaxAuthError),
    /// The table failed.
    #[error("the directory's entries cannot be read or kept")]
    Store(#[from] StoreError),
}

/// What is known of a taxpayer and, if that is older than it should be, why.
#[derive(Debug)]
pub struct Known {
    /// The entry, and since when it is known.
    pub listing: DirectoryListing,
    /// Why the authority did not answer when it was asked.
    pub problem: Option<TaxAuthError>,
}

/// The directory of electronic taxpayers.
#[derive(Debug, Clone)]
pub struct Directory {
    table: Table,
}

impl Directory {
    /// A directory that keeps its entries in that table.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table }
    }

    /// What is kept of a taxpayer, as long as it will do. Nobody is asked.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn kept(
        &self,
        environment: ecf::Environment,
        rnc: &Rnc,
        wanted: Wanted,
        now: Timestamp,
    ) -> Result<Option<DirectoryListing>, StoreError> {
        let kept = self.table.directory_listing(environment, rnc, now).await?;
        Ok(kept.filter(|listing| will_do(listing, wanted, now)))
    }

    /// What is known of a taxpayer; the authority is asked when what is kept will not do.
    ///
    /// # Errors
    /// When nothing is kept and the authority cannot be asked, or the table fails.
    pub async fn look_up(
        &self,
        session: &Session<'_>,
        rnc: &Rnc,
        wanted: Wanted,
        now: Timestamp,
    ) -> Result<Known, DirectoryError> {
        let environment = session.environment();
        let kept = self.table.directory_listing(environment, rnc, now).await?;
        if let Some(listing) = &kept
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
            Err(error) => match kept {
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
        (Wanted::Kept, Some(_)) => LISTED_KEPT,
        (Wanted::Kept, None) => UNLISTED_KEPT,
    };
    now.duration_since(listing.checked_at) < longest
}
