//! Signing identities: each company's certificate is opened once and cached for minutes.
//!
//! Opening a P12 and reading it from Secrets Manager would cost more than signing. An instance uses a renewed
//! certificate within [`IDENTITY_MAX_AGE`], as soon as it reads a profile that names another certificate
//! ([`Identities::of_company`]), and at once where the cached one has expired. A private key lives in memory only.

use std::{fmt, num::NonZeroUsize, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use xmldsig::{Certificate, Identity};

use crate::{
    Recent, StoreError, Vault,
    ids::CompanyId,
    table::{certificates::CertificateSummary, companies::Company},
};

/// How long an opened certificate is cached: every instance signs with a renewed one after this time.
pub const IDENTITY_MAX_AGE: SignedDuration = SignedDuration::from_mins(5);
/// Upper bound of the cached identities; one key takes a few kilobytes.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(500).unwrap();

/// A cached identity.
#[derive(Debug, Clone)]
struct Entry {
    identity: Arc<Identity>,
    /// SHA-256 of the certificate that the company's profile named when the identity was loaded, if it was known.
    named: Option<[u8; 32]>,
}

/// The identities of companies. The requests of a function share them.
#[derive(Clone)]
pub struct Identities {
    vault: Vault,
    opened: Recent<CompanyId, Entry>,
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
            opened: Recent::new(CAPACITY, IDENTITY_MAX_AGE),
        }
    }

    /// The company's identity; `None` when it has not uploaded a certificate.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails or holds a file that does not open.
    pub async fn of(&self, company: &CompanyId, now: Timestamp) -> Result<Option<Arc<Identity>>, StoreError> {
        self.current(company, None, now).await
    }

    /// The company's identity, for a caller that has the company's profile. A profile that names another certificate
    /// than the cached one invalidates the cache entry.
    ///
    /// # Errors
    /// As [`Identities::of`].
    pub async fn of_company(&self, company: &Company, now: Timestamp) -> Result<Option<Arc<Identity>>, StoreError> {
        let named = company.certificate.as_ref().map(|certificate| certificate.sha256);
        self.current(&company.id, named, now).await
    }

    async fn current(
        &self,
        company: &CompanyId,
        named: Option<[u8; 32]>,
        now: Timestamp,
    ) -> Result<Option<Arc<Identity>>, StoreError> {
        if let Some(identity) = self.cached(company, named, now) {
            return Ok(Some(identity));
        }
        let Some(stored) = self.vault.certificate(company).await? else {
            return Ok(None);
        };
        let identity = Identity::from_pkcs12(&stored.file.p12, &stored.file.pin, now).map_err(|error| {
            StoreError::corrupt(format!("certificate of company {company}"), "p12", error.to_string())
        })?;
        let identity = Arc::new(identity);
        let entry = Entry {
            identity: identity.clone(),
            named,
        };
        self.opened.insert(*company, entry, now);
        Ok(Some(identity))
    }

    /// Evicts the company's identity, after an upload.
    pub fn forget(&self, company: &CompanyId) {
        self.opened.remove(company);
    }

    fn cached(&self, company: &CompanyId, named: Option<[u8; 32]>, now: Timestamp) -> Option<Arc<Identity>> {
        let entry = self.opened.get(company, now)?;
        let current = entry.identity.certificate().is_valid_at(now) && named.is_none_or(|it| entry.is(&it));
        current.then_some(entry.identity)
    }
}

impl Entry {
    /// Whether this is the identity of the certificate that a profile names. A P12 with several certificates may sign
    /// with another one, and a profile may be older than the vault: an identity that was loaded for that name remains
    /// valid.
    fn is(&self, named: &[u8; 32]) -> bool {
        self.identity.certificate().sha256_fingerprint == *named || self.named.as_ref() == Some(named)
    }
}

/// The summary of a certificate for the company's profile. Its alias is the subject's name.
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
