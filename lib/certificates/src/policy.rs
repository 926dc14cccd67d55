//! What the deployment decides about certificates of others.

use std::str::FromStr;

use ecf::Rnc;
use ecf_store::Vault;
use jiff::Timestamp;
use xmldsig::Identity;

use crate::{Judge, Judgement, SignedBy, TrustError, Untrusted};

/// What the taxpayer's own certificate must show before it verifies its company at sign-up or upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateTrust {
    /// A chain to an authority whose certificate the deployment keeps. Without authorities only the operator verifies.
    Chain,
    /// Nothing. For deployments where nothing is at stake.
    Any,
}

/// What becomes of documents from issuers and buyers whose chain ends at no authority of the deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceptionTrust {
    /// They are stored, marked as not trusted, and confirmed or not by the tax authority.
    Confirm,
    /// They are refused.
    Chain,
}

/// Not one of the words.
#[derive(Debug, thiserror::Error)]
#[error("`{given}` is neither `chain` nor `{other}`")]
pub struct UnknownTrust {
    given: String,
    other: &'static str,
}

impl CertificateTrust {
    /// Why a certificate that names the taxpayer does not verify its company; `None`: it does. The authorities are read anew, so
    /// that one that the operator has just added counts at once.
    ///
    /// # Errors
    /// When Secrets Manager cannot be asked, or its secret does not contain certificates of authorities.
    pub async fn why_untrusted(
        self,
        vault: &Vault,
        identity: &Identity,
        taxpayer: &Rnc,
        now: Timestamp,
    ) -> Result<Option<Untrusted>, TrustError> {
        if self == Self::Any {
            return Ok(None);
        }
        let signed = SignedBy {
            chain: identity.into(),
            signed_at: None,
            taxpayer: Some(taxpayer),
        };
        Ok(
            match Judge::new(vault.clone(), ReceptionTrust::Confirm)
                .judge(signed, now)
                .await?
            {
                Judgement::Trusted(_) => None,
                Judgement::Unknown(_, why) => Some(why),
                Judgement::Refused(refusal) => Some(refusal.into()),
            },
        )
    }
}

impl FromStr for CertificateTrust {
    type Err = UnknownTrust;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "chain" => Ok(Self::Chain),
            "any" => Ok(Self::Any),
            given => Err(UnknownTrust {
                given: given.to_owned(),
                other: "any",
            }),
        }
    }
}

impl FromStr for ReceptionTrust {
    type Err = UnknownTrust;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "chain" => Ok(Self::Chain),
            "confirm" => Ok(Self::Confirm),
            given => Err(UnknownTrust {
                given: given.to_owned(),
                other: "confirm",
            }),
        }
    }
}
