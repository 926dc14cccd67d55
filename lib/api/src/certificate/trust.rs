//! Which of a taxpayer's own certificates verify its company.
//!
//! Anybody can make a certificate that names any RNC. A company that signed up by itself is therefore verified by a certificate
//! only if an authority that the deployment trusts issued it; the operator may verify it otherwise.

use std::str::FromStr;

use ecf_store::Vault;
use jiff::Timestamp;
use xmldsig::{Authorities, Identity, UntrustedError};

use crate::ApiError;

/// What the taxpayer's own certificate must show before it verifies its company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateTrust {
    /// A chain to an authority whose certificate the deployment keeps; where it keeps none, only the operator verifies.
    Chain,
    /// Nothing. For the local system and for deployments where nothing is at stake.
    Any,
}

/// Not one of the kinds of trust.
#[derive(Debug, thiserror::Error)]
#[error("trust in certificates is `chain` or `any`, not `{0}`")]
pub struct UnknownCertificateTrust(String);

impl FromStr for CertificateTrust {
    type Err = UnknownCertificateTrust;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "chain" => Ok(Self::Chain),
            "any" => Ok(Self::Any),
            other => Err(UnknownCertificateTrust(other.to_owned())),
        }
    }
}

/// Why a certificate that names the taxpayer does not verify its company.
#[derive(Debug, thiserror::Error)]
pub enum Doubt {
    /// Nobody is trusted.
    #[error("this deployment keeps no certificates of authorities")]
    NoAuthorities,
    /// Its issuer is not.
    #[error(transparent)]
    Untrusted(#[from] UntrustedError),
}

impl CertificateTrust {
    /// What speaks against believing the certificate's word for whose it is.
    ///
    /// # Errors
    /// 503 when Secrets Manager cannot be asked, 500 when what it holds are no certificates of authorities.
    pub async fn doubt(self, vault: &Vault, identity: &Identity, now: Timestamp) -> Result<Option<Doubt>, ApiError> {
        match self {
            Self::Any => Ok(None),
            Self::Chain => {
                let Some(pem) = vault.certificate_authorities().await? else {
                    return Ok(Some(Doubt::NoAuthorities));
                };
                let authorities = Authorities::from_pem(&pem).map_err(ApiError::internal)?;
                Ok(authorities.vouch_for(identity, now).err().map(Doubt::Untrusted))
            }
        }
    }
}
