//! The judgement of a signer.

use ecf::Rnc;
use ecf_language::{Bilingual, Say};
use ecf_store::{CachedSecret, OperatorSecret, StoreError, Vault, inbox::SpeaksFor};
use jiff::{SignedDuration, Timestamp};
use xmldsig::{Authorities, AuthoritiesError, CertificateError, Chain, UntrustedError};

use crate::ReceptionTrust;
use crate::owner::{stated, taxpayer_number};

/// How old a signature may be whose certificate has expired since. Senders retry for days; an older one may be backdated.
const LATEST_AFTER_EXPIRY: SignedDuration = SignedDuration::from_hours(10 * 24);
/// How far a signer's clock may run ahead.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_hours(1);

/// Judges signers by the authorities that the operator keeps in the secret `certificate-authorities`.
#[derive(Debug, Clone)]
pub struct Judge {
    authorities: CachedSecret,
    trust: ReceptionTrust,
}

/// A verified signature, and for whom it was made.
#[derive(Debug, Clone, Copy)]
pub struct SignedBy<'a> {
    /// The signer's certificate, and others that came with it.
    pub chain: Chain<'a>,
    /// When the document says that it was signed; `None`: now.
    pub signed_at: Option<Timestamp>,
    /// The taxpayer whose word the document is; a signed seed is nobody's.
    pub taxpayer: Option<&'a Rnc>,
}

/// Who signed, as the certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The whole subject in one line, at most 1 KB.
    pub subject: String,
    pub speaks_for: SpeaksFor,
}

/// The result.
#[derive(Debug)]
pub enum Judgement {
    /// The chain ends at an authority that the deployment keeps: the names are proven.
    Trusted(Signer),
    /// The signature holds; the names are a claim.
    Unknown(Signer, Untrusted),
    /// The document must not be taken from this signer.
    Refused(Refusal),
}

/// Why a chain proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    #[error("this deployment keeps no certificates of authorities")]
    NoAuthorities,
    #[error(transparent)]
    Chain(#[from] UntrustedError),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Say for Untrusted {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::NoAuthorities => "este despliegue no tiene certificados de autoridades".to_owned(),
            Self::Chain(error) => return error.say(),
            Self::Refused(error) => return error.say(),
        };
        Bilingual::of(self, spanish)
    }
}

/// Why a signer is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Validity or key usage.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error(
        "the certificate expired at {not_after}, and the document says that it was signed at {signed_at}: a document of an expired certificate is taken for ten days"
    )]
    Backdated { signed_at: Timestamp, not_after: Timestamp },
    /// The deployment takes documents of trusted signers only.
    #[error("the signer is not trusted: {}", .0.en)]
    Untrusted(Bilingual),
}

impl Say for Refusal {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Certificate(error) => return error.say(),
            Self::Backdated { signed_at, not_after } => format!(
                "el certificado venció el {not_after}, y el documento dice que se firmó el {signed_at}: un documento de un \
                 certificado vencido se acepta durante diez días"
            ),
            Self::Untrusted(reason) => format!("el firmante no es de confianza: {}", reason.es),
        };
        Bilingual::of(self, spanish)
    }
}

/// The authorities cannot be read, which is the deployment's fault.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("the secret of the authorities cannot be read")]
    Secret(#[from] StoreError),
    #[error("the secret of the authorities is wrong")]
    Authorities(#[from] AuthoritiesError),
}

impl Judge {
    /// A judge that reads the authorities from this vault and caches them for minutes.
    pub fn new(vault: Vault, trust: ReceptionTrust) -> Self {
        Self {
            authorities: CachedSecret::new(vault, OperatorSecret::CertificateAuthorities),
            trust,
        }
    }

    /// Judges a signer whose signature was verified.
    ///
    /// # Errors
    /// When Secrets Manager cannot be asked, or its secret does not contain certificates of authorities.
    pub async fn judge(&self, signed: SignedBy<'_>, now: Timestamp) -> Result<Judgement, TrustError> {
        if let Err(refusal) = check_dates(signed, now) {
            return Ok(Judgement::Refused(refusal));
        }
        let signer = Signer::of(signed);
        Ok(match (self.why_untrusted(signed.chain, now).await?, self.trust) {
            (None, _) => Judgement::Trusted(signer),
            (Some(why), ReceptionTrust::Confirm) => Judgement::Unknown(signer, why),
            (Some(why), ReceptionTrust::Chain) => Judgement::Refused(Refusal::Untrusted(why.say())),
        })
    }

    /// Why a chain proves nothing; `None`: it ends at an authority of the deployment.
    async fn why_untrusted(&self, chain: Chain<'_>, now: Timestamp) -> Result<Option<Untrusted>, TrustError> {
        let Some(pem) = self.authorities.text(now).await? else {
            return Ok(Some(Untrusted::NoAuthorities));
        };
        let authorities = Authorities::from_pem(&pem)?;
        // An expired certificate is judged as of its signature, so is its chain.
        let at = now.min(chain.leaf.not_after);
        Ok(authorities.vouch_for(chain, at).err().map(Untrusted::Chain))
    }
}

impl Judgement {
    /// The signer and whether its names are proven.
    ///
    /// # Errors
    /// Why the signer is refused.
    pub fn accepted(self) -> Result<(Signer, bool), Refusal> {
        match self {
            Self::Trusted(signer) => Ok((signer, true)),
            Self::Unknown(signer, _) => Ok((signer, false)),
            Self::Refused(refusal) => Err(refusal),
        }
    }
}

impl Signer {
    fn of(signed: SignedBy<'_>) -> Self {
        let certificate = signed.chain.leaf;
        let numbers = || stated(certificate).filter_map(taxpayer_number);
        let speaks_for = if signed
            .taxpayer
            .is_some_and(|taxpayer| numbers().any(|number| number == taxpayer.as_str()))
        {
            SpeaksFor::Taxpayer
        } else if numbers().any(|number| number.len() == CEDULA_DIGITS) {
            SpeaksFor::Person
        } else {
            SpeaksFor::Other
        };
        Self {
            subject: certificate.subject.clone(),
            speaks_for,
        }
    }
}

const CEDULA_DIGITS: usize = 11;

/// The certificate may sign, was valid at the signature, and the signature's time is one to believe.
fn check_dates(signed: SignedBy<'_>, now: Timestamp) -> Result<(), Refusal> {
    let certificate = signed.chain.leaf;
    let signed_at = signed.signed_at.unwrap_or(now);
    certificate.check_usable_at(signed_at)?;
    // A time in the future must not make a certificate valid that is not valid yet.
    if let (Ok(soon), true) = (now.checked_add(CLOCK_SKEW), signed_at > now) {
        certificate.check_usable_at(signed_at.min(soon))?;
    }
    let age = now.duration_since(signed_at);
    if now > certificate.not_after && age > LATEST_AFTER_EXPIRY {
        return Err(Refusal::Backdated {
            signed_at,
            not_after: certificate.not_after,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
