//! Companies as they were read within the last minute.
//!
//! Every receipt asks for its company's settings, which hardly ever change: an instance reads each company once a minute,
//! so that a change works everywhere within it.

use std::{num::NonZeroUsize, sync::Arc};

use jiff::{SignedDuration, Timestamp};

use crate::{Recent, StoreError, Table, ids::CompanyId, table::companies::Company};

/// How long a profile is believed.
const KEPT: SignedDuration = SignedDuration::from_secs(60);
/// How many are remembered; an instance serves few companies within a minute.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// The profiles of companies, shared by a function's requests.
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

    /// The company, at most a minute old.
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
