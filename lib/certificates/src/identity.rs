//! Whether a company can sign now.

use std::sync::Arc;

use ecf_language::{Bilingual, Say};
use ecf_store::{CompanyId, Identities, StoreError};
use jiff::Timestamp;
use xmldsig::Identity;

/// Why a company cannot sign now.
#[derive(Debug, thiserror::Error)]
pub enum CannotSign {
    #[error("the company has no certificate yet: upload its P12 first")]
    Missing,
    #[error("the company's certificate does not open any more: upload its P12 again")]
    Unusable(#[source] StoreError),
    #[error("the company's certificate is valid from {not_before} to {not_after}: upload a current one")]
    NotValid {
        not_before: Timestamp,
        not_after: Timestamp,
    },
    /// The vault cannot be read, which says nothing of the certificate.
    #[error(transparent)]
    Vault(StoreError),
}

impl Say for CannotSign {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Missing => "la empresa aún no tiene certificado: suba primero su P12".to_owned(),
            Self::Unusable(_) => "el certificado de la empresa ya no abre: suba su P12 otra vez".to_owned(),
            Self::NotValid { not_before, not_after } => {
                format!("el certificado de la empresa es válido de {not_before} a {not_after}: suba uno vigente")
            }
            Self::Vault(_) => "no se puede leer el certificado de la empresa ahora".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

/// The identity that signs for a company now.
///
/// # Errors
/// When the company has no certificate, or one that does not open or is not valid now.
pub async fn signing_identity(
    identities: &Identities,
    company: &CompanyId,
    now: Timestamp,
) -> Result<Arc<Identity>, CannotSign> {
    usable_identity(identities.of(company, now).await, now)
}

/// Judges an identity that was looked up already.
///
/// # Errors
/// As [`signing_identity`].
pub fn usable_identity(
    found: Result<Option<Arc<Identity>>, StoreError>,
    now: Timestamp,
) -> Result<Arc<Identity>, CannotSign> {
    let identity = match found {
        Ok(found) => found.ok_or(CannotSign::Missing)?,
        Err(error @ StoreError::Corrupt { .. }) => return Err(CannotSign::Unusable(error)),
        Err(error) => return Err(CannotSign::Vault(error)),
    };
    let certificate = identity.certificate();
    if !certificate.is_valid_at(now) {
        return Err(CannotSign::NotValid {
            not_before: certificate.not_before,
            not_after: certificate.not_after,
        });
    }
    Ok(identity)
}
