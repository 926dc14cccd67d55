//! Who may say whose key it is: certificates of authorities, and the chains that reach them.

use jiff::Timestamp;
use openssl::error::ErrorStack;
use openssl::stack::Stack;
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::verify::{X509VerifyFlags, X509VerifyParam};
use openssl::x509::{X509, X509StoreContext};

use crate::certificate::{Certificate, CertificateError};
use crate::identity::Identity;

/// OpenSSL's level for keys and digests of at least 112 bits: RSA from 2048 bits on, no SHA-1 on the way.
const SECURITY_LEVEL: i32 = 2;

/// Authorities that are trusted to issue certificates, roots or subordinate ones: each ends a chain.
#[derive(Debug)]
pub struct Authorities(Vec<X509>);

/// Why a text does not name authorities.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthoritiesError {
    /// It is not PEM, or a certificate in it is damaged.
    #[error("the certificates of authorities are not PEM: {0}")]
    NotPem(ErrorStack),
    /// There is no certificate in it.
    #[error("there is no certificate in PEM among the certificates of authorities")]
    Empty,
    /// A certificate cannot be read.
    #[error("the certificate of an authority cannot be read")]
    Unreadable(#[source] CertificateError),
    /// A certificate may not issue others: to trust it would be to trust one key, not an issuer.
    #[error("the certificate of {subject} is no authority's: its basic constraints do not say so")]
    NotAnAuthority {
        /// The whole subject.
        subject: String,
    },
}

/// Why a certificate is not trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UntrustedError {
    /// No chain of valid certificates leads from it to one of the authorities.
    #[error("no chain leads from the certificate's issuer, {issuer}, to a trusted authority: {reason}")]
    NoChain {
        /// The whole issuer.
        issuer: String,
        /// OpenSSL's words.
        reason: &'static str,
    },
    /// OpenSSL could not check it.
    #[error("the chain cannot be checked: {0}")]
    Unchecked(#[from] ErrorStack),
}

impl Authorities {
    /// Reads certificates in PEM, one after the other.
    ///
    /// # Errors
    ///
    /// [`AuthoritiesError`] when a certificate is damaged or is no authority's, or there is none.
    pub fn from_pem(pem: &str) -> Result<Self, AuthoritiesError> {
        let certificates = X509::stack_from_pem(pem.as_bytes()).map_err(AuthoritiesError::NotPem)?;
        if certificates.is_empty() {
            return Err(AuthoritiesError::Empty);
        }
        for certificate in &certificates {
            let der = certificate.to_der().map_err(AuthoritiesError::NotPem)?;
            let certificate = Certificate::from_der(&der).map_err(AuthoritiesError::Unreadable)?;
            if !certificate.is_authority {
                return Err(AuthoritiesError::NotAnAuthority {
                    subject: certificate.subject,
                });
            }
        }
        Ok(Self(certificates))
    }

    /// Whether a chain leads from the identity's certificate to one of these, each link valid at `now`. Links that are missing here may
    /// come with the identity's own file. Revocation is not asked about.
    ///
    /// # Errors
    ///
    /// [`UntrustedError`] when there is none.
    pub fn vouch_for(&self, identity: &Identity, now: Timestamp) -> Result<(), UntrustedError> {
        let certificate = identity.certificate();
        let leaf = X509::from_der(&certificate.der)?;
        let mut links = Stack::new()?;
        for other in identity.other_certificates() {
            links.push(X509::from_der(&other.der)?)?;
        }
        let store = self.store(now)?;
        let mut context = X509StoreContext::new()?;
        let (is_trusted, reason) = context.init(&store, &leaf, &links, |context| {
            Ok((context.verify_cert()?, context.error().error_string()))
        })?;
        if is_trusted {
            return Ok(());
        }
        Err(UntrustedError::NoChain {
            issuer: certificate.issuer.clone(),
            reason,
        })
    }

    fn store(&self, now: Timestamp) -> Result<X509Store, ErrorStack> {
        let mut parameters = X509VerifyParam::new()?;
        parameters.set_time(now.as_second());
        parameters.set_flags(X509VerifyFlags::PARTIAL_CHAIN)?;
        parameters.set_auth_level(SECURITY_LEVEL);
        let mut store = X509StoreBuilder::new()?;
        store.set_param(&parameters)?;
        for certificate in &self.0 {
            store.add_cert(certificate.clone())?;
        }
        Ok(store.build())
    }
}
