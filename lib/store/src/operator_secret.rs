//! Secrets that the operator keeps beside the deployment's own, as `{prefix}/{name}`, without a deploy.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use zeroize::Zeroizing;

use crate::{StoreError, Vault};

/// How long what was read is believed, also that there is none: a new key is used by every running instance within that time.
const KEPT: SignedDuration = SignedDuration::from_mins(5);

/// Which secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorSecret {
    /// Authorities whose certificates are believed, as PEM.
    CertificateAuthorities,
    /// The key that the tax authority gives out for its status service.
    TaxauthStatusKey,
    /// The key of the signature on what the portal is told.
    PortalSecret,
}

impl OperatorSecret {
    /// Its name below the deployment's prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::CertificateAuthorities => "certificate-authorities",
            Self::TaxauthStatusKey => "taxauth-status-key",
            Self::PortalSecret => "portal-secret",
        }
    }
}

type Read = Option<(Timestamp, Option<Zeroizing<String>>)>;

/// One such secret, remembered for minutes. Clones share what they know.
#[derive(Clone)]
pub struct KeptSecret {
    vault: Vault,
    secret: OperatorSecret,
    read: Arc<Mutex<Read>>,
}

impl fmt::Debug for KeptSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptSecret")
            .field("secret", &self.secret)
            .finish_non_exhaustive()
    }
}

impl KeptSecret {
    /// That secret of this vault.
    pub fn new(vault: Vault, secret: OperatorSecret) -> Self {
        Self {
            vault,
            secret,
            read: Arc::default(),
        }
    }

    /// Its text; `None` when the operator keeps none, or an empty one.
    ///
    /// # Errors
    /// When Secrets Manager cannot be asked and nothing is known from before.
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
                tracing::warn!(secret = self.secret.name(), %error, "Secrets Manager does not answer; what is known is used on");
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
