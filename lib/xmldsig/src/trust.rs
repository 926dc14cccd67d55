//! Who may say whose key it is: certificates of authorities, and the chains that reach them.

use std::time::Duration;

use jiff::Timestamp;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{
    ALL_VERIFICATION_ALGS, EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, anchor_from_trusted_cert,
};

use crate::certificate::{Certificate, CertificateError};
use crate::identity::Identity;
use crate::verify::Verified;

/// Authorities that are trusted to issue certificates, roots or subordinate ones: each ends a chain.
#[derive(Debug)]
pub struct Authorities(Vec<Certificate>);

/// Why a text does not name authorities.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthoritiesError {
    /// It is not PEM, or a certificate in it is damaged.
    #[error("the certificates of authorities are not PEM: {0}")]
    NotPem(String),
    /// There is no certificate in it.
    #[error("there is no certificate in PEM among the certificates of authorities")]
    Empty,
    /// A certificate cannot be read.
    #[error("the certificate of an authority cannot be read")]
    Unreadable(#[source] CertificateError),
    /// A certificate may not issue others: to trust it would be to trust one key, not an issuer.
    #[error("the certificate of {subject} is no authority's: its basic constraints or its key usage do not say so")]
    NotAnAuthority {
        /// The whole subject.
        subject: String,
    },
}

/// No chain of valid certificates leads from a certificate to one of the authorities.
#[derive(Debug, thiserror::Error)]
#[error("no chain leads from the certificate's issuer, {issuer}, to a trusted authority: {reason}")]
#[non_exhaustive]
pub struct UntrustedError {
    /// The whole issuer.
    pub issuer: String,
    /// What is missing, or wrong with a link.
    pub reason: String,
}

/// A signer's certificate with the others that came along, which may be links of its chain.
#[derive(Debug, Clone, Copy)]
pub struct Chain<'a> {
    /// The signer's certificate.
    pub leaf: &'a Certificate,
    /// The others, in any order.
    pub others: &'a [Certificate],
}

impl<'a> From<&'a Identity> for Chain<'a> {
    fn from(identity: &'a Identity) -> Self {
        Self {
            leaf: identity.certificate(),
            others: identity.other_certificates(),
        }
    }
}

impl<'a> From<&'a Verified> for Chain<'a> {
    fn from(verified: &'a Verified) -> Self {
        Self {
            leaf: &verified.certificate,
            others: &verified.other_certificates,
        }
    }
}

/// A chain may serve any purpose: what a signer's certificate is for, its key usage says.
struct AnyPurpose;

impl ExtendedKeyUsageValidator for AnyPurpose {
    fn validate(&self, _: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        Ok(())
    }
}

impl Authorities {
    /// Reads certificates in PEM, one after the other.
    ///
    /// # Errors
    ///
    /// [`AuthoritiesError`] when a certificate is damaged or is no authority's, or there is none.
    pub fn from_pem(pem: &str) -> Result<Self, AuthoritiesError> {
        let authorities = CertificateDer::pem_slice_iter(pem.as_bytes())
            .map(|der| authority(&der.map_err(|error| AuthoritiesError::NotPem(error.to_string()))?))
            .collect::<Result<Vec<_>, _>>()?;
        if authorities.is_empty() {
            return Err(AuthoritiesError::Empty);
        }
        if pem.matches("-----BEGIN ").count() > authorities.len() {
            return Err(AuthoritiesError::NotPem(
                "a part is headed otherwise than CERTIFICATE".to_owned(),
            ));
        }
        Ok(Self(authorities))
    }

    /// Whether a chain leads from the signer's certificate to one of these, each link valid at `at`. Links that are missing here may
    /// come with the signer's certificate. Revocation is not asked about. Keys of less than 2048 bits and SHA-1 make no link.
    ///
    /// # Errors
    ///
    /// [`UntrustedError`] when there is none.
    pub fn vouch_for<'a>(&self, chain: impl Into<Chain<'a>>, at: Timestamp) -> Result<(), UntrustedError> {
        let chain = chain.into();
        let certificate = chain.leaf;
        let anchors = encodings(self.0.iter().filter(|authority| authority.is_valid_at(at)));
        let anchors: Vec<TrustAnchor<'_>> = anchors.iter().flat_map(anchor_from_trusted_cert).collect();
        let mut links = encodings(chain.others.iter().filter(|link| may_issue(link)));
        // One that cannot be read would hide what is wrong with the others.
        links.retain(|link| EndEntityCert::try_from(link).is_ok());
        let seconds = u64::try_from(at.as_second()).unwrap_or_default();
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let leaf = CertificateDer::from(certificate.der.as_slice());
        let found = EndEntityCert::try_from(&leaf).and_then(|leaf| {
            leaf.verify_for_usage(ALL_VERIFICATION_ALGS, &anchors, &links, time, AnyPurpose, None, None)
                .map(|_| ())
        });
        found.map_err(|error| UntrustedError {
            issuer: certificate.issuer.clone(),
            reason: self.reason(&error, chain, at),
        })
    }

    fn reason(&self, error: &webpki::Error, chain: Chain<'_>, at: Timestamp) -> String {
        let certificate = chain.leaf;
        let is_out_of_date = |authority: &Certificate| {
            let mut below = std::iter::once(certificate).chain(chain.others);
            !authority.is_valid_at(at) && below.any(|one| one.issuer == authority.subject)
        };
        let said = match error {
            webpki::Error::UnknownIssuer if self.0.iter().any(is_out_of_date) => {
                "the trusted authority's own certificate is not valid now"
            }
            webpki::Error::UnknownIssuer if certificate.self_issued => "the certificate is its own issuer",
            webpki::Error::UnknownIssuer => "neither the trusted authorities nor the file have its issuer",
            webpki::Error::CertExpired { .. } => "a certificate of the chain has expired",
            webpki::Error::CertNotValidYet { .. } => "a certificate of the chain is not valid yet",
            webpki::Error::InvalidSignatureForPublicKey => {
                "no certificate of its issuer's name has the key that signed it, with 2048 bits or more"
            }
            webpki::Error::UnsupportedSignatureAlgorithmContext(_)
            | webpki::Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
                "a certificate of the chain is signed by a method that is not supported, such as SHA-1"
            }
            webpki::Error::CaUsedAsEndEntity => "the certificate is an authority's, not a signer's",
            webpki::Error::UnsupportedCriticalExtension => {
                "a certificate of the chain has a critical extension that is not supported"
            }
            webpki::Error::NameConstraintViolation => "an authority of the chain may not issue for that name",
            webpki::Error::PathLenConstraintViolated => "the chain is longer than one of its authorities allows",
            _ => "a certificate of the chain is not encoded as it must be, or the chain is too long",
        };
        said.to_owned()
    }
}

/// Reads the certificate of an authority.
fn authority(der: &CertificateDer<'_>) -> Result<Certificate, AuthoritiesError> {
    let certificate = Certificate::from_der(der).map_err(AuthoritiesError::Unreadable)?;
    if !may_issue(&certificate) {
        return Err(AuthoritiesError::NotAnAuthority {
            subject: certificate.subject,
        });
    }
    match anchor_from_trusted_cert(der) {
        Ok(_) => Ok(certificate),
        Err(error) => Err(AuthoritiesError::Unreadable(CertificateError::Unreadable(
            error.to_string(),
        ))),
    }
}

/// Whether basic constraints and key usage, where it is given, let the certificate's key sign others.
fn may_issue(certificate: &Certificate) -> bool {
    certificate.is_authority && certificate.key_usage.is_none_or(|usage| usage.certificate_signing)
}

fn encodings<'a>(certificates: impl Iterator<Item = &'a Certificate>) -> Vec<CertificateDer<'a>> {
    certificates
        .map(|certificate| CertificateDer::from(certificate.der.as_slice()))
        .collect()
}
