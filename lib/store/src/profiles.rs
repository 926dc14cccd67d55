//! Companies as they were read within the last minute.
//!
//! Every receipt asks for its company's settings, which hardly ever change: an instance reads each company once a minute,
//! so that a change works everywhere within it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};

use crate::{Company, StoreError, Table, ids::CompanyId};

/// How long a profile is believed.
const KEPT: SignedDuration = SignedDuration::from_secs(60);
/// How many are remembered; an instance serves few companies within a minute.
const CAPACITY: usize = 1_000;

/// Each company and since when it is known.
type Known = HashMap<CompanyId, (Arc<Company>, Timestamp)>;

/// The profiles of companies, shared by a function's requests.
#[derive(Debug, Clone)]
pub struct Profiles {
    table: Table,
    known: Arc<Mutex<Known>>,
}

impl Profiles {
    /// Profiles from this table.
    pub fn new(table: Table) -> Self {
        Self {
            table,
            known: Arc::default(),
        }
    }

    /// The company, at most a minute old.
    pub async fn of(&self, id: &CompanyId, now: Timestamp) -> Result<Option<Arc<Company>>, StoreError> {
        if let Some(company) = self.remembered(id, now) {
            return Ok(Some(company));
        }
        let Some(company) = self.table.company(id).await? else {
            return Ok(None);
        };
        let company = Arc::new(company);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CAPACITY {
            known.retain(|_, (_, since)| now.duration_since(*since) < KEPT);
        }
        if known.len() >= CAPACITY {
            known.clear();
        }
        known.insert(*id, (company.clone(), now));
        Ok(Some(company))
    }

    fn remembered(&self, id: &CompanyId, now: Timestamp) -> Option<Arc<Company>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (company, since) = known.get(id)?;
        (now.duration_since(*since) < KEPT).then(|| company.clone())
    }
}
