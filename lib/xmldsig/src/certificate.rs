//! The content of a certificate, as plain values.

use std::borrow::Cow;
use std::fmt;

use bcder::Tag;
use bytes::Bytes;
use ecf_language::{Bilingual, Say};
use jiff::Timestamp;
use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{HasPublic, Id, PKey, PKeyRef, Public};
use openssl::x509::{X509, X509KeyUsage, X509NameEntryRef, X509NameRef};
use sha2::{Digest, Sha256};

use crate::pkcs12::structure::{Malformed, identifier, octets, tag, values};

/// Upper bound of a certificate's size in bytes. Real ones have 1 to 3 KB; parts of it are stored with receipts and
/// inbox items.
const MOST_BYTES: usize = 16 * 1024;
/// Upper bound of subject and of issuer, written in one line.
const MOST_NAME_BYTES: usize = 1024;
/// Upper bound of the serial number; RFC 5280 allows 20 bytes.
const MOST_SERIAL_NUMBER_BYTES: usize = 64;

/// The content of a certificate that signing and display need.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Certificate {
    /// Common name of the subject; empty when absent.
    pub subject_cn: String,
    /// `serialNumber` of the subject (OID 2.5.4.5): the owner's RNC, cédula or passport, usually with a prefix such as
    /// `IDCDO-`.
    pub subject_serial: Option<String>,
    /// `organizationIdentifier` of the subject (OID 2.5.4.97), which some institutional certificates carry.
    pub subject_organization_identifier: Option<String>,
    /// The whole subject in one line, `C=DO, O=…, CN=…`.
    pub subject: String,
    /// The whole issuer in one line.
    pub issuer: String,
    /// Common name of the issuer; empty when absent.
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
    /// Whether basic constraints mark it as an authority's certificate.
    pub is_authority: bool,
    /// Whether subject and issuer are equal.
    pub self_issued: bool,
    /// The kind and size of the key.
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
        /// OpenSSL's abbreviation, such as `EC`.
        algorithm: String,
    },
}

impl PublicKey {
    pub(crate) fn of<T: HasPublic>(key: &PKeyRef<T>) -> Self {
        let algorithm = match key.id() {
            Id::RSA => return Self::Rsa { bits: key.bits() },
            Id::EC => "EC",
            other => Nid::from_raw(other.as_raw()).short_name().unwrap_or("unknown"),
        };
        Self::Other {
            algorithm: algorithm.to_owned(),
        }
    }
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
    /// A part is larger than in any certificate of an authorised issuer.
    #[error("the {part} of the certificate has {found} bytes, at most {most} are read")]
    TooLarge {
        /// The part.
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
        /// The instant of the check.
        now: Timestamp,
    },
    /// The validity is over.
    #[error("the certificate expired at {not_after}, it is {now}")]
    Expired {
        /// Last instant of validity.
        not_after: Timestamp,
        /// The instant of the check.
        now: Timestamp,
    },
    /// The certificate's key is not meant for signatures.
    #[error("the key usage of the certificate allows neither digitalSignature nor nonRepudiation")]
    KeyUsage,
}

impl Say for CertificateError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Unreadable(_) => "no es un certificado X.509".to_owned(),
            Self::TooLarge { found, most, .. } => {
                format!("una parte del certificado tiene {found} bytes, se leen {most} como máximo")
            }
            Self::NotYetValid { not_before, now } => {
                format!("el certificado no es válido antes de {not_before}, ahora es {now}")
            }
            Self::Expired { not_after, now } => format!("el certificado venció el {not_after}, ahora es {now}"),
            Self::KeyUsage => {
                "el uso de clave del certificado no permite digitalSignature ni nonRepudiation".to_owned()
            }
        };
        Bilingual::of(self, spanish)
    }
}

impl CertificateError {
    /// A permanent code for programs.
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
        read(der).map(|(certificate, _)| certificate)
    }

    /// Whether `instant` lies within the validity, both ends included.
    #[must_use]
    pub fn is_valid_at(&self, instant: Timestamp) -> bool {
        self.not_before <= instant && instant <= self.not_after
    }

    /// Checks that documents may be signed with this certificate at `now`.
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

    /// SHA-1 of the DER bytes as 40 lower-case hexadecimal digits: not secure, but displayed by many tools.
    #[must_use]
    pub fn sha1_fingerprint_hex(&self) -> String {
        hexadecimal(&openssl::sha::sha1(&self.der))
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

impl From<ErrorStack> for CertificateError {
    fn from(error: ErrorStack) -> Self {
        let reason = error.errors().first().and_then(|error| error.reason());
        Self::Unreadable(reason.unwrap_or("a part of it cannot be read").to_owned())
    }
}

impl From<Malformed> for CertificateError {
    fn from(_: Malformed) -> Self {
        Self::Unreadable("a part of it cannot be read".to_owned())
    }
}

/// The certificate, and its key if OpenSSL supports it.
pub(crate) fn read(der: &[u8]) -> Result<(Certificate, Option<PKey<Public>>), CertificateError> {
    limit("encoding", der.len(), MOST_BYTES)?;
    // Clears earlier errors of this thread, which would be reported as the reason of this one.
    ErrorStack::get();
    let x509 = X509::from_der(der)?;
    // OpenSSL ignores bytes after the certificate, and accepts other encodings of its outer parts.
    if x509.to_der()? != der {
        return Err(CertificateError::Unreadable(
            "it is not in DER from its start to its end".to_owned(),
        ));
    }
    let serial_number = x509.serial_number().to_bn()?.to_vec();
    limit("serial number", serial_number.len(), MOST_SERIAL_NUMBER_BYTES)?;
    let (subject, issuer) = (one_line(x509.subject_name()), one_line(x509.issuer_name()));
    limit("subject", subject.len(), MOST_NAME_BYTES)?;
    limit("issuer", issuer.len(), MOST_NAME_BYTES)?;
    let key = x509.public_key().ok();
    let unknown = || PublicKey::Other {
        algorithm: "unknown".to_owned(),
    };
    let certificate = Certificate {
        subject_cn: first(x509.subject_name(), "CN").unwrap_or_default(),
        subject_serial: first(x509.subject_name(), "serialNumber"),
        subject_organization_identifier: first(x509.subject_name(), "organizationIdentifier"),
        issuer_cn: first(x509.issuer_name(), "CN").unwrap_or_default(),
        self_issued: subject.to_lowercase() == issuer.to_lowercase(),
        subject,
        issuer,
        serial_number: match serial_number.as_slice() {
            [] => "00".to_owned(),
            digits => hexadecimal(digits).to_uppercase(),
        },
        not_before: instant(x509.not_before())?,
        not_after: instant(x509.not_after())?,
        sha256_fingerprint: Sha256::digest(der).into(),
        key_usage: x509.key_usage().map(|usage| KeyUsage {
            digital_signature: usage.contains(X509KeyUsage::DIGITAL_SIGNATURE),
            non_repudiation: usage.contains(X509KeyUsage::NON_REPUDIATION),
            key_encipherment: usage.contains(X509KeyUsage::KEY_ENCIPHERMENT),
            certificate_signing: usage.contains(X509KeyUsage::KEY_CERT_SIGN),
        }),
        is_authority: is_authority(der)?,
        public_key: key.as_deref().map_or_else(unknown, PublicKey::of),
        der: der.to_vec(),
    };
    Ok((certificate, key))
}

fn limit(part: &'static str, found: usize, most: usize) -> Result<(), CertificateError> {
    if found <= most {
        Ok(())
    } else {
        Err(CertificateError::TooLarge { part, found, most })
    }
}

/// `C=DO, O=…, CN=…`
fn one_line(name: &X509NameRef) -> String {
    let mut line = String::new();
    for entry in name.entries() {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&name_of(entry));
        line.push('=');
        line.push_str(&text(entry));
    }
    line
}

fn first(name: &X509NameRef, attribute: &str) -> Option<String> {
    name.entries().find(|entry| name_of(entry) == attribute).map(text)
}

/// The abbreviation that OpenSSL prints, or the object identifier.
fn name_of(entry: &X509NameEntryRef) -> Cow<'static, str> {
    let object = entry.object();
    match object.nid().short_name() {
        Ok(short) if object.nid() != Nid::UNDEF => Cow::Borrowed(short),
        _ => Cow::Owned(object.to_string()),
    }
}

/// The text of an attribute. In values that are not text, such as bit strings, non-ASCII bytes become U+FFFD.
fn text(entry: &X509NameEntryRef) -> String {
    let data = entry.data();
    let text = data.to_string();
    text.unwrap_or_else(|_| String::from_utf8_lossy(data.as_slice()).into_owned())
}

fn instant(time: &Asn1TimeRef) -> Result<Timestamp, CertificateError> {
    let since = Asn1Time::from_unix(0)?.diff(time)?;
    let seconds = i64::from(since.days) * 86_400 + i64::from(since.secs);
    Timestamp::from_second(seconds).map_err(|_| CertificateError::Unreadable("a date is out of range".to_owned()))
}

/// Whether basic constraints mark an authority, which OpenSSL's interface does not report.
fn is_authority(der: &[u8]) -> Result<bool, Malformed> {
    const BASIC_CONSTRAINTS: &str = "2.5.29.19";
    let certificate = values(&Bytes::copy_from_slice(der), Tag::SEQUENCE)?;
    let fields = values(certificate.first().ok_or(Malformed)?, Tag::SEQUENCE)?;
    let Some(extensions) = fields.iter().find(|field| tag(field) == Ok(Tag::CTX_3)) else {
        return Ok(false);
    };
    let extensions = values(extensions, Tag::CTX_3)?;
    for extension in values(extensions.first().ok_or(Malformed)?, Tag::SEQUENCE)? {
        let extension = values(&extension, Tag::SEQUENCE)?;
        let [kind, .., value] = extension.as_slice() else {
            return Err(Malformed);
        };
        if identifier(kind)? == BASIC_CONSTRAINTS {
            let constraints = values(&octets(value, Tag::OCTET_STRING)?, Tag::SEQUENCE)?;
            return Ok(matches!(constraints.first().map(AsRef::as_ref), Some([0x01, 0x01, value]) if *value != 0));
        }
    }
    Ok(false)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use openssl::asn1::{Asn1Integer, Asn1Type};
    use openssl::bn::BigNum;
    use openssl::ec::{EcGroup, EcKey};
    use openssl::hash::MessageDigest;
    use openssl::pkey::Private;
    use openssl::rsa::Rsa;
    use openssl::x509::X509NameBuilder;
    use openssl::x509::extension::{BasicConstraints, KeyUsage as Usage};

    use super::*;

    fn made(key: &PKey<Private>, serial: &str, from: i64, to: i64) -> X509 {
        let mut name = X509NameBuilder::new().unwrap();
        for (field, text, kind) in [
            ("C", "DO", Asn1Type::PRINTABLESTRING),
            ("O", "Cámara & Compañía", Asn1Type::UTF8STRING),
            ("OU", "Sello", Asn1Type::PRINTABLESTRING),
            ("CN", "Ñandú 日本", Asn1Type::UTF8STRING),
            ("serialNumber", "IDCDO-00100000001", Asn1Type::PRINTABLESTRING),
            ("emailAddress", "a@b.example", Asn1Type::IA5STRING),
            ("organizationIdentifier", "VATDO-131880681", Asn1Type::UTF8STRING),
        ] {
            name.append_entry_by_text_with_type(field, text, kind).unwrap();
        }
        let name = name.build();
        let mut builder = X509::builder().unwrap();
        builder.set_version(2).unwrap();
        let serial = BigNum::from_hex_str(serial).unwrap();
        builder
            .set_serial_number(&Asn1Integer::from_bn(&serial).unwrap())
            .unwrap();
        builder.set_subject_name(&name).unwrap();
        builder.set_issuer_name(&name).unwrap();
        builder.set_not_before(&Asn1Time::from_unix(from).unwrap()).unwrap();
        builder.set_not_after(&Asn1Time::from_unix(to).unwrap()).unwrap();
        builder.set_pubkey(key).unwrap();
        builder
            .append_extension(
                Usage::new()
                    .critical()
                    .non_repudiation()
                    .key_cert_sign()
                    .build()
                    .unwrap(),
            )
            .unwrap();
        builder
            .append_extension(BasicConstraints::new().critical().ca().build().unwrap())
            .unwrap();
        builder.sign(key, MessageDigest::sha256()).unwrap();
        builder.build()
    }

    #[test]
    fn every_field_is_read_as_openssl_reads_it() {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        // From 2050 on, dates have another form.
        for (serial, from, to) in [
            ("0", 0, 2_524_607_999),
            ("80FF", -631_152_000, 2_524_608_000),
            ("0102", 1, 4_000_000_000),
        ] {
            let x509 = made(&key, serial, from, to);
            let der = x509.to_der().unwrap();
            let (certificate, public) = read(&der).unwrap();
            let entry = |nid| {
                let entry = x509.subject_name().entries_by_nid(nid).next().unwrap();
                entry.data().to_string().unwrap()
            };
            assert_eq!(certificate.subject_cn, entry(Nid::COMMONNAME));
            assert_eq!(certificate.subject_serial, Some(entry(Nid::SERIALNUMBER)));
            assert_eq!(
                certificate.subject,
                "C=DO, O=Cámara & Compañía, OU=Sello, CN=Ñandú 日本, serialNumber=IDCDO-00100000001, \
                 emailAddress=a@b.example, organizationIdentifier=VATDO-131880681"
            );
            assert_eq!(certificate.issuer, certificate.subject);
            assert!(certificate.self_issued && certificate.is_authority);
            let number = x509.serial_number().to_bn().unwrap();
            let printed = number.to_hex_str().unwrap();
            assert_eq!(
                certificate.serial_number.trim_start_matches('0'),
                printed.trim_start_matches('0')
            );
            assert_eq!(
                (certificate.not_before.as_second(), certificate.not_after.as_second()),
                (from, to)
            );
            let usage = certificate.key_usage.unwrap();
            assert!(usage.non_repudiation && usage.certificate_signing);
            assert!(!usage.digital_signature && !usage.key_encipherment);
            assert_eq!(certificate.public_key, PublicKey::Rsa { bits: 2048 });
            assert!(public.unwrap().public_eq(&key));
            assert_eq!(certificate.der, der);
        }
    }

    #[test]
    fn other_keys_are_named() {
        let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
        let elliptic = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
        let der = made(&elliptic, "01", 0, 1).to_der().unwrap();
        let certificate = Certificate::from_der(&der).unwrap();
        assert_eq!(certificate.public_key.to_string(), "EC");
    }

    #[test]
    fn no_cut_or_altered_certificate_makes_it_panic() {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let der = made(&key, "01", 0, 1).to_der().unwrap();
        for at in 0..der.len() {
            assert!(Certificate::from_der(&der[..at]).is_err(), "cut at {at}");
            for bits in [0x01, 0x80, 0xFF] {
                let mut altered = der.clone();
                altered[at] ^= bits;
                let _ = Certificate::from_der(&altered);
            }
        }
        // The same certificate in another encoding would have another fingerprint.
        let mut ber = [&[0x30, 0x80], &der[4..], &[0, 0]].concat();
        assert!(X509::from_der(&ber).is_ok() && Certificate::from_der(&ber).is_err());
        ber = [der.as_slice(), &[0]].concat();
        assert!(X509::from_der(&ber).is_ok() && Certificate::from_der(&ber).is_err());
    }

    #[test]
    fn text_of_every_string_type_is_read() {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let der = made(&key, "01", 0, 1).to_der().unwrap();
        // The organizational unit of subject and issuer, in place and of the same length.
        for (tag, contents, expected) in [
            (0x0C, *b"Se\xC3\xB1o", "Seño"),
            // Some issuers make this mistake.
            (0x13, *b"Se\xF1o!", "Seño!"),
            (0x14, *b"Se\xF1o!", "Seño!"),
            (0x16, *b"a@b.c", "a@b.c"),
        ] {
            let mut changed = der.clone();
            let places: Vec<_> = (0..der.len())
                .filter(|at| der[*at..].starts_with(b"\x13\x05Sello"))
                .collect();
            assert_eq!(places.len(), 2);
            for at in places {
                changed[at] = tag;
                changed[at + 2..at + 7].copy_from_slice(&contents);
            }
            let subject = Certificate::from_der(&changed).unwrap().subject;
            assert!(subject.contains(&format!("OU={expected}, ")), "{tag:x} {subject}");
        }
    }
}
