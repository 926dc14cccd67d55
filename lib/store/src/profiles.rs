//! A cache of company profiles.
//!
//! Every receipt needs its company's settings, which rarely change. An instance reads each company once a minute, so a
//! change takes effect everywhere within a minute.

use std::{num::NonZeroUsize, sync::Arc};

use jiff::{SignedDuration, Timestamp};

use crate::{Recent, StoreError, Table, ids::CompanyId, table::companies::Company};

/// How long a profile is cached.
const KEPT: SignedDuration = SignedDuration::from_secs(60);
/// Upper bound of the cached profiles. An instance serves few companies within a minute.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// The profiles of companies. The requests of a function share them.
#[derive(Debug, Clone)]
pub struct Profiles {
    table: Table,
    known: Recent<CompanyId, Arc<Company>>,
}

impl Profiles {
    /// Profiles from this table.
    pub fn new(table: Table) -> Self {
        Self {
            table,
            known: Recent::new(CAPACITY, KEPT),
        }
    }

    /// The company's profile, at most a minute old.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or the record is corrupt.
    pub async fn of(&self, id: &CompanyId, now: Timestamp) -> Result<Option<Arc<Company>>, StoreError> {
        if let Some(company) = self.known.get(id, now) {
            return Ok(Some(company));
        }
        let Some(company) = self.table.company(id).await? else {
            return Ok(None);
        };
        let company = Arc::new(company);
        self.known.insert(*id, company.clone(), now);
        Ok(Some(company))
    }
}
