//! Throw-away certificates and P12 files, generated for tests and for the local system.
//!
//! Nothing here is secret or a trust anchor. Start reading at [`pkcs12`], which makes the file that nearly every test
//! needs. [`Party`], [`file`] and [`assembled`] make unusual ones. Every error comes from OpenSSL, for example for a
//! common name of more than 64 characters, or for an old cipher in a build without the legacy provider.

use jiff::Timestamp;
use openssl::asn1::{Asn1Integer, Asn1Time};
use openssl::bn::{BigNum, MsbOption};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::provider::Provider;
use openssl::rsa::Rsa;
use openssl::stack::Stack;
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, KeyUsage};
use openssl::x509::{X509, X509NameBuilder};

use xmldsig::pkcs12_file;

/// Makes an RSA-2048 key, a self-signed certificate in the form of the authorised issuers, and a P12 file (AES-256) of
/// both.
pub fn pkcs12(
    common_name: &str,
    subject_serial: &str,
    password: &str,
    not_before: Timestamp,
    not_after: Timestamp,
) -> Result<Vec<u8>, ErrorStack> {
    let party = Party::new(common_name, subject_serial, not_before, not_after)?;
    file(Some(&party), &[&party], Cipher::Aes256, password)
}

/// A key with its certificate.
#[derive(Debug, Clone)]
pub struct Party {
    key: PKey<Private>,
    certificate: X509,
}

/// The key usage of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Signing,
    /// The key may only encrypt.
    Encryption,
    Authority,
}

impl Party {
    /// Makes a new key and a self-signed certificate that may sign.
    pub fn new(
        common_name: &str,
        subject_serial: &str,
        not_before: Timestamp,
        not_after: Timestamp,
    ) -> Result<Self, ErrorStack> {
        let holder = (common_name, subject_serial);
        Self::make(2048, holder, (not_before, not_after), Purpose::Signing, None)
    }

    /// Makes a key of the given size, with a self-signed certificate that may sign.
    pub fn with_bits(
        bits: u32,
        common_name: &str,
        not_before: Timestamp,
        not_after: Timestamp,
    ) -> Result<Self, ErrorStack> {
        let holder = (common_name, "IDCDO-00100000001");
        Self::make(bits, holder, (not_before, not_after), Purpose::Signing, None)
    }

    /// Makes a certificate whose key may only encrypt.
    pub fn without_signing_usage(
        common_name: &str,
        subject_serial: &str,
        not_before: Timestamp,
        not_after: Timestamp,
    ) -> Result<Self, ErrorStack> {
        let holder = (common_name, subject_serial);
        Self::make(2048, holder, (not_before, not_after), Purpose::Encryption, None)
    }

    /// Makes a certification authority, self-signed or issued by another one.
    pub fn authority(
        common_name: &str,
        not_before: Timestamp,
        not_after: Timestamp,
        issuer: Option<&Self>,
    ) -> Result<Self, ErrorStack> {
        let holder = (common_name, "AC");
        Self::make(2048, holder, (not_before, not_after), Purpose::Authority, issuer)
    }

    /// Makes a certificate that may sign, issued by this authority.
    pub fn issue(
        &self,
        common_name: &str,
        subject_serial: &str,
        not_before: Timestamp,
        not_after: Timestamp,
    ) -> Result<Self, ErrorStack> {
        let holder = (common_name, subject_serial);
        Self::make(2048, holder, (not_before, not_after), Purpose::Signing, Some(self))
    }

    /// Makes a self-signed certificate that may sign, for the same key and subject.
    pub fn renewed(&self, not_before: Timestamp, not_after: Timestamp) -> Result<Self, ErrorStack> {
        let certificate = self_signed(
            &self.key,
            &subject(&self.certificate, Nid::COMMONNAME),
            &subject(&self.certificate, Nid::SERIALNUMBER),
            not_before,
            not_after,
        )?;
        Ok(Self {
            key: self.key.clone(),
            certificate,
        })
    }

    /// Reads a key and its certificate from one PEM text.
    pub fn from_pem(pem: &[u8]) -> Result<Self, ErrorStack> {
        Ok(Self {
            key: PKey::private_key_from_pem(pem)?,
            certificate: X509::from_pem(pem)?,
        })
    }

    /// The private key as PEM, for other signing programs.
    pub fn key_pem(&self) -> Result<Vec<u8>, ErrorStack> {
        self.key.private_key_to_pem_pkcs8()
    }

    /// The certificate as PEM.
    pub fn certificate_pem(&self) -> Result<Vec<u8>, ErrorStack> {
        self.certificate.to_pem()
    }

    fn make(
        bits: u32,
        holder: (&str, &str),
        validity: (Timestamp, Timestamp),
        purpose: Purpose,
        issuer: Option<&Self>,
    ) -> Result<Self, ErrorStack> {
        let key = PKey::from_rsa(Rsa::generate(bits)?)?;
        let certificate = certificate(&key, holder, validity, purpose, issuer)?;
        Ok(Self { key, certificate })
    }
}

/// How a P12 file encrypts its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// PBES2 with AES-256-CBC and HMAC-SHA-256, as current tools write it.
    Aes256,
    /// Triple DES and HMAC-SHA-1.
    TripleDes,
    /// RC2 with 40 bits and HMAC-SHA-1, as certification authorities still issue it.
    Rc2With40Bits,
    /// RC4 with 128 bits: not supported by our reader; tests use it for that error.
    Rc4With128Bits,
}

/// Makes a P12 file. Certificates are in the given order, except that OpenSSL puts the certificate of `key` first.
pub fn file(
    key: Option<&Party>,
    certificates: &[&Party],
    cipher: Cipher,
    password: &str,
) -> Result<Vec<u8>, ErrorStack> {
    let (algorithm, digest) = match cipher {
        Cipher::Aes256 => (Nid::AES_256_CBC, MessageDigest::sha256()),
        Cipher::TripleDes => (Nid::PBE_WITHSHA1AND3_KEY_TRIPLEDES_CBC, MessageDigest::sha1()),
        Cipher::Rc2With40Bits => (Nid::PBE_WITHSHA1AND40BITRC2_CBC, MessageDigest::sha1()),
        Cipher::Rc4With128Bits => (Nid::PBE_WITHSHA1AND128BITRC4, MessageDigest::sha1()),
    };
    let _legacy = match cipher {
        Cipher::Aes256 | Cipher::TripleDes => None,
        Cipher::Rc2With40Bits | Cipher::Rc4With128Bits => Some(Provider::try_load(None, "legacy", true)?),
    };
    let mut builder = Pkcs12::builder();
    builder
        .key_algorithm(algorithm)
        .cert_algorithm(algorithm)
        .mac_md(digest);
    let mut others = Stack::new()?;
    for party in certificates {
        if key.is_some_and(|key| key.certificate == party.certificate) {
            builder.cert(&party.certificate);
        } else {
            others.push(party.certificate.clone())?;
        }
    }
    if let Some(key) = key {
        builder.name(&subject(&key.certificate, Nid::COMMONNAME)).pkey(&key.key);
    }
    builder.ca(others);
    builder.build2(password)?.to_der()
}

/// Makes a P12 file whose key derivations use `rounds` iterations each.
pub fn file_of_rounds(party: &Party, password: &str, rounds: u32) -> Result<Vec<u8>, ErrorStack> {
    let mut builder = Pkcs12::builder();
    builder
        .key_algorithm(Nid::AES_256_CBC)
        .cert_algorithm(Nid::AES_256_CBC)
        .mac_md(MessageDigest::sha256())
        .key_iter(rounds)
        .mac_iter(rounds)
        .pkey(&party.key)
        .cert(&party.certificate);
    builder.build2(password)?.to_der()
}

/// Integrity check of a P12 file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mac {
    /// HMAC-SHA-256.
    Sha256,
    /// No integrity check.
    Absent,
}

/// Makes a P12 file with any number of keys and certificates, in the given order. OpenSSL's own builder takes only one
/// key and always adds an integrity check. Keys are encrypted unless the password is empty.
pub fn assembled(keys: &[&Party], certificates: &[&Party], password: &str, mac: Mac) -> Result<Vec<u8>, ErrorStack> {
    let certificates = certificates.iter().map(|party| party.certificate.to_der());
    let certificates = certificates.collect::<Result<Vec<_>, _>>()?;
    pkcs12_file(
        keys.iter().map(|party| &*party.key),
        certificates.iter().map(Vec::as_slice),
        password,
        (mac == Mac::Sha256).then_some(b"saltsalt"),
    )
}

fn subject(certificate: &X509, field: Nid) -> String {
    let entry = certificate.subject_name().entries_by_nid(field).next();
    entry
        .and_then(|entry| entry.data().to_string().ok())
        .unwrap_or_default()
}

/// Makes a self-signed certificate for `key`.
pub fn self_signed(
    key: &PKey<Private>,
    common_name: &str,
    subject_serial: &str,
    not_before: Timestamp,
    not_after: Timestamp,
) -> Result<X509, ErrorStack> {
    let holder = (common_name, subject_serial);
    certificate(key, holder, (not_before, not_after), Purpose::Signing, None)
}

fn certificate(
    key: &PKey<Private>,
    (common_name, subject_serial): (&str, &str),
    (not_before, not_after): (Timestamp, Timestamp),
    purpose: Purpose,
    issuer: Option<&Party>,
) -> Result<X509, ErrorStack> {
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_nid(Nid::COUNTRYNAME, "DO")?;
    name.append_entry_by_nid(Nid::COMMONNAME, common_name)?;
    name.append_entry_by_nid(Nid::SERIALNUMBER, subject_serial)?;
    let name = name.build();
    let mut serial = BigNum::new()?;
    serial.rand(127, MsbOption::MAYBE_ZERO, false)?;
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_serial_number(&*Asn1Integer::from_bn(&serial)?)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(issuer.map_or(&*name, |issuer| issuer.certificate.subject_name()))?;
    builder.set_not_before(&*Asn1Time::from_unix(not_before.as_second())?)?;
    builder.set_not_after(&*Asn1Time::from_unix(not_after.as_second())?)?;
    builder.set_pubkey(key)?;
    let mut usage = KeyUsage::new();
    usage.critical();
    let mut constraints = BasicConstraints::new();
    match purpose {
        Purpose::Signing => usage.digital_signature().non_repudiation().key_encipherment(),
        Purpose::Encryption => usage.key_encipherment(),
        Purpose::Authority => {
            constraints.critical().ca();
            usage.key_cert_sign().crl_sign()
        }
    };
    builder.append_extension(constraints.build()?)?;
    builder.append_extension(usage.build()?)?;
    if purpose == Purpose::Signing {
        builder.append_extension(ExtendedKeyUsage::new().client_auth().email_protection().build()?)?;
    }
    builder.sign(issuer.map_or(key, |issuer| &issuer.key), MessageDigest::sha256())?;
    Ok(builder.build())
}
