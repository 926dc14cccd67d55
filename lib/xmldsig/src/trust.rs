//! Trust in signers: certificates of authorities, and the chains that lead to them.

use ecf_language::{Bilingual, Say, say};
use jiff::Timestamp;
use openssl::error::ErrorStack;
use openssl::stack::Stack;
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::verify::{X509VerifyFlags, X509VerifyParam};
use openssl::x509::{X509, X509StoreContext, X509VerifyResult};

use crate::certificate::{Certificate, CertificateError};
use crate::identity::Identity;
use crate::verify::Verified;

/// OpenSSL's level for keys and digests of at least 112 bits: RSA from 2048 bits, no SHA-1 in the chain.
const SECURITY_LEVEL: i32 = 2;

/// The trusted authorities, roots or subordinate ones. A chain ends at the first that it reaches.
#[derive(Debug)]
pub struct Authorities(Vec<(Certificate, X509)>);

/// Why certificates of authorities were rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthoritiesError {
    /// It is not PEM, or a certificate in it is damaged.
    #[error("the certificates of authorities are not PEM: {0}")]
    NotPem(String),
    /// The text contains no certificate.
    #[error("there is no certificate in PEM among the certificates of authorities")]
    Empty,
    /// A certificate cannot be read.
    #[error("the certificate of an authority cannot be read")]
    Unreadable(#[source] CertificateError),
    /// A certificate may not issue others: trusting it would trust one key, not an issuer.
    #[error("the certificate of {subject} is no authority's: its basic constraints or its key usage do not say so")]
    NotAnAuthority {
        /// The whole subject.
        subject: String,
    },
}

/// No chain of valid certificates leads from a certificate to one of the authorities.
#[derive(Debug, thiserror::Error)]
#[error("no chain leads from the certificate's issuer, {issuer}, to a trusted authority: {}", .reason.en)]
#[non_exhaustive]
pub struct UntrustedError {
    /// The whole issuer.
    pub issuer: String,
    /// The missing or invalid link.
    pub reason: Bilingual,
}

impl Say for UntrustedError {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!(
                "ninguna cadena lleva del emisor del certificado, {}, a una autoridad de confianza: {}",
                self.issuer, self.reason.es
            ),
        )
    }
}

/// A signer's certificate, and other certificates that may be links of its chain.
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

impl Authorities {
    /// Reads concatenated certificates in PEM.
    ///
    /// # Errors
    ///
    /// [`AuthoritiesError`] when a certificate is damaged or is not an authority's, or when there is none.
    pub fn from_pem(pem: &str) -> Result<Self, AuthoritiesError> {
        let found = X509::stack_from_pem(pem.as_bytes());
        let found = found.map_err(|error| AuthoritiesError::NotPem(error.to_string()))?;
        let authorities = found.into_iter().map(authority).collect::<Result<Vec<_>, _>>()?;
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

    /// Checks that a chain leads from the signer's certificate to one of these authorities, with each link valid at
    /// `at`. Intermediate certificates may come with the signer's. Keys below 2048 bits and SHA-1 are rejected.
    /// Revocation is not checked. The chain's purpose is not checked either: the key usage of the signer's certificate
    /// decides.
    ///
    /// # Errors
    ///
    /// [`UntrustedError`] when no such chain exists.
    pub fn vouch_for<'a>(&self, chain: impl Into<Chain<'a>>, at: Timestamp) -> Result<(), UntrustedError> {
        let chain = chain.into();
        let leaf = chain.leaf;
        let reason = if leaf.is_authority {
            say!(
                "the certificate is an authority's, not a signer's",
                "el certificado es de una autoridad, no de un firmante"
            )
        } else if at > leaf.not_after {
            expired()
        } else if at < leaf.not_before {
            not_yet_valid()
        } else {
            match self.follow(chain, at) {
                Ok(None) => return Ok(()),
                Ok(Some(result)) => self.reason(result, chain, at),
                Err(_) => unreadable(),
            }
        };
        Err(UntrustedError {
            issuer: leaf.issuer.clone(),
            reason,
        })
    }

    /// The problem of the chain; `None` if the chain is valid.
    fn follow(&self, chain: Chain<'_>, at: Timestamp) -> Result<Option<X509VerifyResult>, ErrorStack> {
        let leaf = X509::from_der(&chain.leaf.der)?;
        let mut links = Stack::new()?;
        for link in chain.others.iter().filter(|link| may_issue(link)) {
            links.push(X509::from_der(&link.der)?)?;
        }
        let store = self.store(at)?;
        X509StoreContext::new()?.init(&store, &leaf, &links, |context| {
            Ok(if context.verify_cert()? {
                None
            } else {
                Some(context.error())
            })
        })
    }

    /// The authorities whose own certificates are valid at `at`. Built for each check, because an OpenSSL store
    /// contains the time.
    fn store(&self, at: Timestamp) -> Result<X509Store, ErrorStack> {
        let mut parameters = X509VerifyParam::new()?;
        parameters.set_time(at.as_second());
        // A chain also ends at an authority that another authority has issued.
        parameters.set_flags(X509VerifyFlags::PARTIAL_CHAIN)?;
        parameters.set_auth_level(SECURITY_LEVEL);
        let mut store = X509StoreBuilder::new()?;
        store.set_param(&parameters)?;
        for (_, authority) in self.0.iter().filter(|(certificate, _)| certificate.is_valid_at(at)) {
            store.add_cert(authority.clone())?;
        }
        Ok(store.build())
    }

    /// The results of `X509_verify_cert`, by their numbers in `x509_vfy.h`.
    fn reason(&self, result: X509VerifyResult, chain: Chain<'_>, at: Timestamp) -> Bilingual {
        let is_out_of_date = |authority: &Certificate| {
            let mut below = std::iter::once(chain.leaf).chain(chain.others);
            !authority.is_valid_at(at) && below.any(|one| one.issuer == authority.subject)
        };
        match result.as_raw() {
            // UNABLE_TO_GET_ISSUER_CERT, DEPTH_ZERO_SELF_SIGNED_CERT, SELF_SIGNED_CERT_IN_CHAIN,
            // UNABLE_TO_GET_ISSUER_CERT_LOCALLY, UNABLE_TO_VERIFY_LEAF_SIGNATURE, CERT_UNTRUSTED
            2 | 18..=21 | 27 if self.0.iter().any(|(authority, _)| is_out_of_date(authority)) => {
                say!(
                    "the trusted authority's own certificate is not valid now",
                    "el certificado de la propia autoridad de confianza no es válido ahora"
                )
            }
            2 | 18..=21 | 27 if chain.leaf.self_issued => {
                say!(
                    "the certificate is its own issuer",
                    "el certificado es su propio emisor"
                )
            }
            2 | 18..=21 | 27 => say!(
                "neither the trusted authorities nor the file have its issuer",
                "ni las autoridades de confianza ni el archivo tienen su emisor"
            ),
            // CERT_SIGNATURE_FAILURE, EE_KEY_TOO_SMALL, CA_KEY_TOO_SMALL
            7 | 66 | 67 => say!(
                "no certificate of its issuer's name has the key that signed it, with 2048 bits or more",
                "ningún certificado con el nombre de su emisor tiene la clave que lo firmó, con 2048 bits o más"
            ),
            // CERT_NOT_YET_VALID, CERT_HAS_EXPIRED
            9 => not_yet_valid(),
            10 => expired(),
            // CERT_SIGNATURE_ALGORITHM: CA_MD_TOO_WEAK, UNSUPPORTED_SIGNATURE_ALGORITHM, SIGNATURE_ALGORITHM_*
            68 | 76..=78 => say!(
                "a certificate of the chain is signed by a method that is not supported, such as SHA-1",
                "un certificado de la cadena está firmado con un método que no es compatible, como SHA-1"
            ),
            // PATH_LENGTH_EXCEEDED
            25 => say!(
                "the chain is longer than one of its authorities allows",
                "la cadena es más larga de lo que permite una de sus autoridades"
            ),
            // UNHANDLED_CRITICAL_EXTENSION
            34 => say!(
                "a certificate of the chain has a critical extension that is not supported",
                "un certificado de la cadena tiene una extensión crítica que no es compatible"
            ),
            // PERMITTED_VIOLATION to UNSUPPORTED_NAME_SYNTAX
            47..=53 => say!(
                "an authority of the chain may not issue for that name",
                "una autoridad de la cadena no puede emitir para ese nombre"
            ),
            _ => unreadable(),
        }
    }
}

fn expired() -> Bilingual {
    say!(
        "a certificate of the chain has expired",
        "un certificado de la cadena venció"
    )
}

fn not_yet_valid() -> Bilingual {
    say!(
        "a certificate of the chain is not valid yet",
        "un certificado de la cadena aún no es válido"
    )
}

fn unreadable() -> Bilingual {
    say!(
        "a certificate of the chain is not encoded as it must be, or the chain is too long",
        "un certificado de la cadena no está codificado como se debe, o la cadena es demasiado larga"
    )
}

/// Reads the certificate of an authority.
fn authority(x509: X509) -> Result<(Certificate, X509), AuthoritiesError> {
    let der = x509.to_der().map_err(CertificateError::from);
    let certificate = der.and_then(|der| Certificate::from_der(&der));
    let certificate = certificate.map_err(AuthoritiesError::Unreadable)?;
    if may_issue(&certificate) {
        Ok((certificate, x509))
    } else {
        Err(AuthoritiesError::NotAnAuthority {
            subject: certificate.subject,
        })
    }
}

/// Whether basic constraints, and the key usage if present, allow the key to sign other certificates.
fn may_issue(certificate: &Certificate) -> bool {
    certificate.is_authority && certificate.key_usage.is_none_or(|usage| usage.certificate_signing)
}
