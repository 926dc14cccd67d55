//! Secrets that the operator stores as `{prefix}/{name}` without a deployment.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use zeroize::Zeroizing;

use crate::{StoreError, Vault};

/// How long a value, or its absence, is cached: every running instance uses a new key within this time.
const KEPT: SignedDuration = SignedDuration::from_mins(5);

/// The secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorSecret {
    /// Trusted certificate authorities, as PEM.
    CertificateAuthorities,
    /// The key for the tax authority's status service.
    TaxauthStatusKey,
    /// The key that signs notifications to the portal.
    PortalSecret,
}

impl OperatorSecret {
    /// The name below the deployment's prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::CertificateAuthorities => "certificate-authorities",
            Self::TaxauthStatusKey => "taxauth-status-key",
            Self::PortalSecret => "portal-secret",
        }
    }
}

type Read = Option<(Timestamp, Option<Zeroizing<String>>)>;

/// One such secret, cached for minutes. Clones share the cache.
#[derive(Clone)]
pub struct CachedSecret {
    vault: Vault,
    secret: OperatorSecret,
    read: Arc<Mutex<Read>>,
}

impl fmt::Debug for CachedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedSecret")
            .field("secret", &self.secret)
            .finish_non_exhaustive()
    }
}

impl CachedSecret {
    /// This secret of this vault.
    pub fn new(vault: Vault, secret: OperatorSecret) -> Self {
        Self {
            vault,
            secret,
            read: Arc::default(),
        }
    }

    /// The text of the secret; `None` when it is missing or empty.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails and no earlier value is cached.
    pub async fn text(&self, now: Timestamp) -> Result<Option<Zeroizing<String>>, StoreError> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((since, text)) = &known
            && now.duration_since(*since) < KEPT
        {
            return Ok(text.clone());
        }
        let found = match (self.vault.operators(self.secret).await, known) {
            (Ok(found), _) => found,
            (Err(error), Some((_, text))) if error.is_retryable() => {
                tracing::warn!(secret = self.secret.name(), %error, "Secrets Manager does not answer; the cached secret is used");
                return Ok(text);
            }
            (Err(error), _) => return Err(error),
        };
        let text = found
            .map(|text| Zeroizing::new(text.trim().to_owned()))
            .filter(|text| !text.is_empty());
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, text.clone()));
        Ok(text)
    }
}
