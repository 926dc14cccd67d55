//! Reading a certificate (RFC 5280, section 4.1).
//!
//! OpenSSL's general reader takes as long as an RSA verification, and a verifier meets every certificate for the first time. The tests
//! hold this one beside it.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use super::names::{self, Entry};
use super::{Certificate, CertificateError, KeyUsage, PublicKey};
use crate::ber::{BIT_STRING, BOOLEAN, Ber, BerError, CONTEXT_0, CONTEXT_3, INTEGER, OCTET_STRING, Value, dotted};
use crate::rsa::RsaNumbers;

pub(crate) const RSA_ENCRYPTION: [u8; 9] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];
const EC_PUBLIC_KEY: [u8; 7] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1];
const KEY_USAGE: [u8; 3] = [0x55, 0x1D, 15];
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1D, 19];

/// Largest certificate that is read. Real ones have 1 to 3 KB; parts of it are stored with receipts and inbox items.
const MOST_BYTES: usize = 16 * 1024;
/// Largest subject and issuer, in one line.
const MOST_NAME_BYTES: usize = 1024;
/// Largest serial number; RFC 5280 allows 20 bytes.
const MOST_SERIAL_NUMBER_BYTES: usize = 64;

impl From<BerError> for CertificateError {
    fn from(error: BerError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// The certificate, and the numbers of its key when that is an RSA key.
pub(crate) fn read(der: &[u8]) -> Result<(Certificate, Option<RsaNumbers<'_>>), CertificateError> {
    limit("encoding", der.len(), MOST_BYTES)?;
    let mut file = Ber::new(der);
    let mut signed = file.sequence()?;
    let mut fields = signed.sequence()?;
    // Whether the issuer's signature is right is not asked here, but it must be there.
    signed.sequence()?;
    signed.expect(BIT_STRING)?;
    if !file.is_empty() || !signed.is_empty() {
        return Err(BerError("something follows its end").into());
    }

    // `version`
    fields.optional(CONTEXT_0)?;
    let serial_number = fields.expect(INTEGER)?.contents;
    limit("serial number", serial_number.len(), MOST_SERIAL_NUMBER_BYTES)?;
    let serial_number = hexadecimal(serial_number)?;
    fields.sequence()?;
    let issuer = names::read(fields.sequence()?)?;
    let mut validity = fields.sequence()?;
    let (not_before, not_after) = (instant(validity.value()?)?, instant(validity.value()?)?);
    let subject = names::read(fields.sequence()?)?;
    let (public_key, numbers) = public_key(fields.sequence()?)?;
    let extensions = extensions(fields)?;

    let (subject_line, issuer_line) = (names::one_line(&subject), names::one_line(&issuer));
    limit("subject", subject_line.len(), MOST_NAME_BYTES)?;
    limit("issuer", issuer_line.len(), MOST_NAME_BYTES)?;
    let certificate = Certificate {
        subject_cn: first(&subject, "CN").unwrap_or_default(),
        subject_serial: first(&subject, "serialNumber"),
        subject_organization_identifier: first(&subject, "organizationIdentifier"),
        issuer_cn: first(&issuer, "CN").unwrap_or_default(),
        self_issued: subject_line.to_lowercase() == issuer_line.to_lowercase(),
        subject: subject_line,
        issuer: issuer_line,
        serial_number,
        not_before,
        not_after,
        sha256_fingerprint: Sha256::digest(der).into(),
        key_usage: extensions.key_usage,
        is_authority: extensions.is_authority,
        public_key,
        der: der.to_vec(),
    };
    Ok((certificate, numbers))
}

fn limit(part: &'static str, found: usize, most: usize) -> Result<(), CertificateError> {
    match found <= most {
        true => Ok(()),
        false => Err(CertificateError::TooLarge { part, found, most }),
    }
}

fn first(name: &[Entry], attribute: &str) -> Option<String> {
    name.iter()
        .find(|entry| entry.name == attribute)
        .map(|entry| entry.text.clone())
}

/// The digits of a serial number as they are usually printed.
fn hexadecimal(number: &[u8]) -> Result<String, BerError> {
    let (&first, rest) = number.split_first().ok_or(BerError("a number without digits"))?;
    let digits = if first == 0 && !rest.is_empty() { rest } else { number };
    Ok(super::hexadecimal(digits).to_uppercase())
}

/// `UTCTime` or `GeneralizedTime`, in the one form that RFC 5280, section 4.1.2.5, leaves of each.
fn instant(time: Value<'_>) -> Result<Timestamp, BerError> {
    const UNREADABLE: BerError = BerError("a date that cannot be read");
    let digits = time.contents.strip_suffix(b"Z").ok_or(UNREADABLE)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(UNREADABLE);
    }
    let pairs: Vec<i8> = digits
        .chunks_exact(2)
        .map(|pair| (pair[0] - b'0').cast_signed() * 10 + (pair[1] - b'0').cast_signed())
        .collect();
    let (year, rest) = match (time.tag, digits.len(), pairs.as_slice()) {
        (0x17, 12, [year, rest @ ..]) if *year < 50 => (2000 + i16::from(*year), rest),
        (0x17, 12, [year, rest @ ..]) => (1900 + i16::from(*year), rest),
        (0x18, 14, [century, year, rest @ ..]) => (i16::from(*century) * 100 + i16::from(*year), rest),
        _ => return Err(UNREADABLE),
    };
    let &[month, day, hour, minute, second] = rest else {
        return Err(UNREADABLE);
    };
    let civil = DateTime::new(year, month, day, hour, minute, second, 0).map_err(|_| UNREADABLE)?;
    TimeZone::UTC.to_timestamp(civil).map_err(|_| UNREADABLE)
}

fn public_key(mut key: Ber<'_>) -> Result<(PublicKey, Option<RsaNumbers<'_>>), BerError> {
    let mut algorithm = key.sequence()?;
    let identifier = algorithm.object_identifier()?;
    let bits = without_unused_bits(key.expect(BIT_STRING)?)?;
    if identifier == RSA_ENCRYPTION {
        let numbers = RsaNumbers::read(&mut Ber::new(bits).sequence()?)?;
        return Ok((PublicKey::Rsa { bits: numbers.bits() }, Some(numbers)));
    }
    let algorithm = name_of(identifier);
    Ok((PublicKey::Other { algorithm }, None))
}

/// What a kind of key that is not RSA is called.
pub(crate) fn name_of(identifier: &[u8]) -> String {
    if identifier == EC_PUBLIC_KEY {
        "EC".to_owned()
    } else {
        dotted(identifier)
    }
}

fn without_unused_bits(string: Value<'_>) -> Result<&[u8], BerError> {
    match string.contents {
        [0, bytes @ ..] => Ok(bytes),
        _ => Err(BerError("a key that is not made of whole bytes")),
    }
}

#[derive(Default)]
struct Extensions {
    key_usage: Option<KeyUsage>,
    is_authority: bool,
}

fn extensions(mut fields: Ber<'_>) -> Result<Extensions, BerError> {
    let mut found = Extensions::default();
    while !fields.is_empty() {
        let field = fields.value()?;
        // The other fields here are unique identifiers, which nobody uses.
        if field.tag != CONTEXT_3 {
            continue;
        }
        let mut list = field.inside().sequence()?;
        while !list.is_empty() {
            let mut extension = list.sequence()?;
            let identifier = extension.object_identifier()?;
            extension.optional(BOOLEAN)?;
            let value = extension.expect(OCTET_STRING)?.contents;
            if identifier == KEY_USAGE {
                found.key_usage = Some(key_usage(Ber::new(value).expect(BIT_STRING)?.contents));
            } else if identifier == BASIC_CONSTRAINTS {
                let authority = Ber::new(value).sequence()?.optional(BOOLEAN)?;
                found.is_authority = authority.is_some_and(|is| is.contents != [0]);
            }
        }
    }
    Ok(found)
}

/// The first byte of a bit string counts the unused bits, which are zero.
fn key_usage(bit_string: &[u8]) -> KeyUsage {
    let bits = bit_string.get(1).copied().unwrap_or_default();
    KeyUsage {
        digital_signature: bits & 0x80 != 0,
        non_repudiation: bits & 0x40 != 0,
        key_encipherment: bits & 0x20 != 0,
        certificate_signing: bits & 0x04 != 0,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use openssl::asn1::{Asn1Integer, Asn1Time, Asn1Type};
    use openssl::bn::BigNum;
    use openssl::ec::{EcGroup, EcKey};
    use openssl::hash::MessageDigest;
    use openssl::nid::Nid;
    use openssl::pkey::{PKey, Private};
    use openssl::rsa::Rsa;
    use openssl::x509::extension::{BasicConstraints, KeyUsage as Usage};
    use openssl::x509::{X509, X509NameBuilder};

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
        // Before and after 2050 the date has another form.
        for (serial, from, to) in [
            ("0", 0, 2_524_607_999),
            ("80FF", -631_152_000, 2_524_608_000),
            ("0102", 1, 4_000_000_000),
        ] {
            let x509 = made(&key, serial, from, to);
            let der = x509.to_der().unwrap();
            let (certificate, numbers) = read(&der).unwrap();
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
            let rsa = key.rsa().unwrap();
            let numbers = numbers.unwrap();
            assert_eq!(
                (numbers.modulus, numbers.exponent),
                (&*rsa.n().to_vec(), &*rsa.e().to_vec())
            );
            assert_eq!(certificate.der, der);
        }
    }

    #[test]
    fn other_keys_are_named_and_give_no_numbers() {
        let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
        let elliptic = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
        let der = made(&elliptic, "01", 0, 1).to_der().unwrap();
        let (certificate, numbers) = read(&der).unwrap();
        assert_eq!(certificate.public_key.to_string(), "EC");
        assert_eq!(numbers, None);
    }

    #[test]
    fn no_cut_or_altered_certificate_makes_it_panic() {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let der = made(&key, "01", 0, 1).to_der().unwrap();
        for at in 0..der.len() {
            assert!(read(&der[..at]).is_err(), "cut at {at}");
            for bits in [0x01, 0x80, 0xFF] {
                let mut altered = der.clone();
                altered[at] ^= bits;
                let _ = read(&altered);
            }
        }
        assert!(read(&[der.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn only_dates_in_universal_time_are_read() {
        let read = |tag, contents: &'static str| {
            instant(Value {
                tag,
                contents: contents.as_bytes(),
            })
            .map(|instant| instant.to_string())
        };
        assert_eq!(read(0x17, "491231235959Z").unwrap(), "2049-12-31T23:59:59Z");
        assert_eq!(read(0x17, "500101000000Z").unwrap(), "1950-01-01T00:00:00Z");
        assert_eq!(read(0x18, "20500101000000Z").unwrap(), "2050-01-01T00:00:00Z");
        for (tag, bad) in [
            (0x17, "491231235959"),
            (0x17, "4912312359Z"),
            (0x17, "491231235959+0400"),
            (0x17, "490230000000Z"),
            (0x17, "491301000000Z"),
            (0x17, "491231240000Z"),
            (0x17, "20491231235959Z"),
            (0x18, "491231235959Z"),
            (0x18, "20500101000000.5Z"),
            (0x04, "491231235959Z"),
            (0x17, "Z"),
        ] {
            assert!(read(tag, bad).is_err(), "{tag:x} {bad}");
        }
    }
}
