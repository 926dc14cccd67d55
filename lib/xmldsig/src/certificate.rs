//! What a certificate says, read once into plain values. [`reader`] reads the encoding, [`names`] the names in it.

pub(crate) mod names;
pub(crate) mod reader;

use std::fmt;

use jiff::Timestamp;
use sha1::{Digest, Sha1};

/// A certificate's content, as far as signing and showing it needs.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Certificate {
    /// Common name of the subject, empty when it has none.
    pub subject_cn: String,
    /// `serialNumber` of the subject (OID 2.5.4.5): the owner's RNC, cédula or passport, usually with a prefix such as `IDCDO-`.
    pub subject_serial: Option<String>,
    /// `organizationIdentifier` of the subject (OID 2.5.4.97), which some institutional certificates carry.
    pub subject_organization_identifier: Option<String>,
    /// The whole subject in one line, `C=DO, O=…, CN=…`.
    pub subject: String,
    /// The whole issuer in one line.
    pub issuer: String,
    /// Common name of the issuer, empty when it has none.
    pub issuer_cn: String,
    /// Serial number given by the issuer, upper-case hexadecimal.
    pub serial_number: String,
    /// First instant of validity.
    pub not_before: Timestamp,
    /// Last instant of validity.
    pub not_after: Timestamp,
    /// SHA-256 of the DER bytes.
    pub sha256_fingerprint: [u8; 32],
    /// What the key may be used for; `None` when the certificate does not restrict it.
    pub key_usage: Option<KeyUsage>,
    /// Basic constraints say that it is the certificate of an authority.
    pub is_authority: bool,
    /// Subject and issuer are the same name.
    pub self_issued: bool,
    /// Kind and size of the key.
    pub public_key: PublicKey,
    /// The certificate itself.
    pub der: Vec<u8>,
}

/// The kind of a certificate's key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// An RSA key.
    Rsa {
        /// Size of the modulus.
        bits: u32,
    },
    /// Any other kind; receipts are signed with RSA only.
    Other {
        /// `EC`, or the object identifier.
        algorithm: String,
    },
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa { bits } => write!(f, "RSA {bits}"),
            Self::Other { algorithm } => f.write_str(algorithm),
        }
    }
}

/// The uses of a key that matter for signing documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyUsage {
    /// `digitalSignature`
    pub digital_signature: bool,
    /// `nonRepudiation`, also called `contentCommitment`
    pub non_repudiation: bool,
    /// `keyEncipherment`
    pub key_encipherment: bool,
    /// `keyCertSign`: the certificate of an authority
    pub certificate_signing: bool,
}

/// Why a certificate cannot be read or must not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The bytes are not an X.509 certificate.
    #[error("not an X.509 certificate: {0}")]
    Unreadable(String),
    /// More than any certificate of an authorised issuer has.
    #[error("the {part} of the certificate has {found} bytes, at most {most} are read")]
    TooLarge {
        /// What is too large.
        part: &'static str,
        /// Its size in bytes.
        found: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// The validity starts later.
    #[error("the certificate is not valid before {not_before}, it is {now}")]
    NotYetValid {
        /// First instant of validity.
        not_before: Timestamp,
        /// The instant asked about.
        now: Timestamp,
    },
    /// The validity is over.
    #[error("the certificate expired at {not_after}, it is {now}")]
    Expired {
        /// Last instant of validity.
        not_after: Timestamp,
        /// The instant asked about.
        now: Timestamp,
    },
    /// The certificate's key is not meant for signatures.
    #[error("the key usage of the certificate allows neither digitalSignature nor nonRepudiation")]
    KeyUsage,
}

impl CertificateError {
    /// A permanent name for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable_certificate",
            Self::TooLarge { .. } => "certificate_too_large",
            Self::NotYetValid { .. } => "not_yet_valid",
            Self::Expired { .. } => "expired",
            Self::KeyUsage => "key_usage",
        }
    }
}

impl Certificate {
    /// Reads a certificate from DER.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Unreadable`] when the bytes are not a certificate or its dates are out of range.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        reader::read(der).map(|(certificate, _)| certificate)
    }

    /// Whether `instant` lies within the validity, both ends included.
    #[must_use]
    pub fn is_valid_at(&self, instant: Timestamp) -> bool {
        self.not_before <= instant && instant <= self.not_after
    }

    /// Says why documents must not be signed with this certificate at `now`.
    ///
    /// # Errors
    ///
    /// [`CertificateError::NotYetValid`], [`CertificateError::Expired`] or [`CertificateError::KeyUsage`].
    pub fn check_usable_at(&self, now: Timestamp) -> Result<(), CertificateError> {
        if now < self.not_before {
            return Err(CertificateError::NotYetValid {
                not_before: self.not_before,
                now,
            });
        }
        if now > self.not_after {
            return Err(CertificateError::Expired {
                not_after: self.not_after,
                now,
            });
        }
        if self.may_sign() {
            Ok(())
        } else {
            Err(CertificateError::KeyUsage)
        }
    }

    /// Whether the key usage allows signatures.
    pub(crate) fn may_sign(&self) -> bool {
        self.key_usage
            .is_none_or(|usage| usage.digital_signature || usage.non_repudiation)
    }

    /// SHA-256 of the DER bytes as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn fingerprint_hex(&self) -> String {
        hexadecimal(&self.sha256_fingerprint)
    }

    /// SHA-1 of the DER bytes as 40 lower-case hexadecimal digits: no proof of anything, but what many tools show.
    #[must_use]
    pub fn sha1_fingerprint_hex(&self) -> String {
        hexadecimal(&Sha1::digest(&self.der))
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("subject", &self.subject)
            .field("issuer", &self.issuer)
            .field("serial_number", &self.serial_number)
            .field("not_before", &self.not_before)
            .field("not_after", &self.not_after)
            .field("sha256_fingerprint", &self.fingerprint_hex())
            .finish_non_exhaustive()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
