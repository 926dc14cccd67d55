//! Signing identities: each company's certificate opened once, and remembered for minutes.
//!
//! Opening a P12 and asking Secrets Manager for it would cost more than signing. A renewed certificate is used by every
//! running instance within [`KEPT`], and at once where the one before has expired; a private key lives in memory only.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use xmldsig::{Certificate, Identity};

use crate::{CertificateSummary, StoreError, Vault, ids::CompanyId};

/// How long an opened certificate is believed to be the current one.
const KEPT: SignedDuration = SignedDuration::from_mins(5);
/// How many are remembered; one key takes a few kilobytes.
const CAPACITY: usize = 500;

/// Each company's identity and since when it is known.
type Opened = HashMap<CompanyId, (Arc<Identity>, Timestamp)>;

/// The identities of companies, shared by a function's requests.
#[derive(Clone)]
pub struct Identities {
    vault: Vault,
    opened: Arc<Mutex<Opened>>,
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities")
            .field("vault", &self.vault)
            .finish_non_exhaustive()
    }
}

impl Identities {
    /// Identities from this vault.
    pub fn new(vault: Vault) -> Self {
        Self {
            vault,
            opened: Arc::default(),
        }
    }

    /// The company's identity; `None` when it has not uploaded a certificate.
    ///
    /// # Errors
    /// When Secrets Manager cannot be asked, or holds a file that does not open.
    pub async fn of(&self, company: &CompanyId, now: Timestamp) -> Result<Option<Arc<Identity>>, StoreError> {
        if let Some(identity) = self.remembered(company, now) {
            return Ok(Some(identity));
        }
        let Some(stored) = self.vault.certificate(company).await? else {
            return Ok(None);
        };
        let identity = Identity::from_pkcs12(&stored.p12, &stored.pin, now).map_err(|error| {
            StoreError::corrupt(format!("certificate of company {company}"), "p12", error.to_string())
        })?;
        let identity = Arc::new(identity);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.len() >= CAPACITY {
            opened.retain(|_, (_, since)| now.duration_since(*since) < KEPT);
        }
        if opened.len() >= CAPACITY {
            opened.clear();
        }
        opened.insert(*company, (identity.clone(), now));
        Ok(Some(identity))
    }

    /// Asks the vault next time, after an upload.
    pub fn forget(&self, company: &CompanyId) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.remove(company);
    }

    fn remembered(&self, company: &CompanyId, now: Timestamp) -> Option<Arc<Identity>> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let (identity, since) = opened.get(company)?;
        let current = now.duration_since(*since) < KEPT && identity.certificate().is_valid_at(now);
        current.then(|| identity.clone())
    }
}

/// What the company's profile shows of its certificate, under the name of its subject.
pub fn certificate_summary(certificate: &Certificate, now: Timestamp) -> CertificateSummary {
    let alias = match certificate.subject_cn.as_str() {
        "" => &certificate.serial_number,
        name => name,
    };
    CertificateSummary {
        sha256: certificate.sha256_fingerprint,
        alias: alias.to_owned(),
        subject: certificate.subject_cn.clone(),
        issuer: certificate.issuer.clone(),
        serial: certificate.serial_number.clone(),
        not_before: certificate.not_before,
        not_after: certificate.not_after,
        stored_at: now,
    }
}
