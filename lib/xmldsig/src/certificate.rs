//! What a certificate says, read once into plain values.

use std::fmt;

use jiff::Timestamp;
use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::nid::Nid;
use openssl::x509::{X509, X509KeyUsage, X509NameRef, X509Ref};

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
    /// Subject and issuer are the same name.
    pub self_issued: bool,
    /// The certificate itself.
    pub der: Vec<u8>,
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

impl Certificate {
    /// Reads a certificate from DER.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Unreadable`] when the bytes are not a certificate or its dates are out of range.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let x509 = X509::from_der(der).map_err(|error| CertificateError::Unreadable(error.to_string()))?;
        Self::from_x509(&x509, der.to_vec())
    }

    pub(crate) fn from_x509(x509: &X509Ref, der: Vec<u8>) -> Result<Self, CertificateError> {
        let unreadable = |error: openssl::error::ErrorStack| CertificateError::Unreadable(error.to_string());
        let subject = x509.subject_name();
        let issuer = x509.issuer_name();
        let serial_number = x509
            .serial_number()
            .to_bn()
            .and_then(|number| number.to_hex_str())
            .map_err(unreadable)?;
        Ok(Self {
            subject_cn: entry(subject, Nid::COMMONNAME).unwrap_or_default(),
            subject_serial: entry(subject, Nid::SERIALNUMBER),
            subject_organization_identifier: entry(subject, ORGANIZATION_IDENTIFIER),
            subject: one_line(subject),
            issuer: one_line(issuer),
            issuer_cn: entry(issuer, Nid::COMMONNAME).unwrap_or_default(),
            serial_number: serial_number.to_string(),
            not_before: timestamp(x509.not_before())?,
            not_after: timestamp(x509.not_after())?,
            sha256_fingerprint: openssl::sha::sha256(&der),
            key_usage: x509.key_usage().map(KeyUsage::from_openssl),
            self_issued: subject.try_cmp(issuer).map_err(unreadable)?.is_eq(),
            der,
        })
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
        match self.key_usage {
            Some(usage) if !usage.digital_signature && !usage.non_repudiation => Err(CertificateError::KeyUsage),
            _ => Ok(()),
        }
    }

    /// The fingerprint as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn fingerprint_hex(&self) -> String {
        use fmt::Write as _;
        self.sha256_fingerprint
            .iter()
            .fold(String::with_capacity(64), |mut text, byte| {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
                text
            })
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

impl KeyUsage {
    fn from_openssl(usage: X509KeyUsage) -> Self {
        Self {
            digital_signature: usage.contains(X509KeyUsage::DIGITAL_SIGNATURE),
            non_repudiation: usage.contains(X509KeyUsage::NON_REPUDIATION),
            key_encipherment: usage.contains(X509KeyUsage::KEY_ENCIPHERMENT),
            certificate_signing: usage.contains(X509KeyUsage::KEY_CERT_SIGN),
        }
    }
}

/// OpenSSL's number for `organizationIdentifier`; the Rust binding has no name for it.
const ORGANIZATION_IDENTIFIER: Nid = Nid::from_raw(1089);

fn entry(name: &X509NameRef, nid: Nid) -> Option<String> {
    let entry = name.entries_by_nid(nid).next()?;
    entry.data().to_string().ok()
}

fn one_line(name: &X509NameRef) -> String {
    let parts: Vec<String> = name
        .entries()
        .map(|entry| {
            let nid = entry.object().nid();
            let key = match nid.short_name() {
                Ok(short) if nid != Nid::UNDEF => short.to_owned(),
                // `Display` falls back to the dotted form.
                _ => entry.object().to_string(),
            };
            let value = entry.data().to_string().unwrap_or_default();
            format!("{key}={value}")
        })
        .collect();
    parts.join(", ")
}

fn timestamp(time: &Asn1TimeRef) -> Result<Timestamp, CertificateError> {
    let seconds = Asn1Time::from_unix(0)
        .and_then(|epoch| epoch.diff(time))
        .map_err(|error| CertificateError::Unreadable(error.to_string()))
        .map(|since_epoch| i64::from(since_epoch.days) * 86_400 + i64::from(since_epoch.secs))?;
    Timestamp::from_second(seconds).map_err(|error| CertificateError::Unreadable(error.to_string()))
}
