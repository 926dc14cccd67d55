//! Throw-away certificates and P12 files, made on the spot for tests and for the local system.
//!
//! Nothing here is a secret or a trust anchor: the certificates are self-signed.

use jiff::Timestamp;
use openssl::asn1::{Asn1Integer, Asn1Time};
use openssl::bn::{BigNum, MsbOption};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, KeyUsage};
use openssl::x509::{X509, X509NameBuilder};

/// Makes an RSA-2048 key, a self-signed certificate of the shape that the authorised issuers use, and a P12 file (AES-256) of both.
///
/// # Errors
///
/// What OpenSSL answers, for example to a common name of more than 64 characters.
pub fn pkcs12(
    common_name: &str,
    subject_serial: &str,
    password: &str,
    not_before: Timestamp,
    not_after: Timestamp,
) -> Result<Vec<u8>, ErrorStack> {
    let key = PKey::from_rsa(Rsa::generate(2048)?)?;
    let certificate = self_signed(&key, common_name, subject_serial, not_before, not_after)?;
    Pkcs12::builder()
        .name(common_name)
        .pkey(&key)
        .cert(&certificate)
        .key_algorithm(Nid::AES_256_CBC)
        .cert_algorithm(Nid::AES_256_CBC)
        .mac_md(MessageDigest::sha256())
        .build2(password)?
        .to_der()
}

/// Makes a self-signed certificate for `key`.
///
/// # Errors
///
/// What OpenSSL answers, for example to a common name of more than 64 characters.
pub fn self_signed(
    key: &PKey<Private>,
    common_name: &str,
    subject_serial: &str,
    not_before: Timestamp,
    not_after: Timestamp,
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
    builder.set_issuer_name(&name)?;
    builder.set_not_before(&*Asn1Time::from_unix(not_before.as_second())?)?;
    builder.set_not_after(&*Asn1Time::from_unix(not_after.as_second())?)?;
    builder.set_pubkey(key)?;
    builder.append_extension(BasicConstraints::new().build()?)?;
    builder.append_extension(
        KeyUsage::new()
            .critical()
            .digital_signature()
            .non_repudiation()
            .key_encipherment()
            .build()?,
    )?;
    builder.append_extension(ExtendedKeyUsage::new().client_auth().email_protection().build()?)?;
    builder.sign(key, MessageDigest::sha256())?;
    Ok(builder.build())
}
