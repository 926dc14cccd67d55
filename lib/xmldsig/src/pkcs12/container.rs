//! Writes containers (RFC 7292, section 4): a single part for OpenSSL to open, new files, and files for tests.

use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;

use super::mac;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
/// `[0]`, constructed.
pub(crate) const CONTEXT_0: u8 = 0xA0;

const DATA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1];
const X509_CERTIFICATE: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 22, 1];
const SHA256: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
const NULL: &[u8] = &[0x05, 0x00];

/// The kinds of bags: the last number of their identifiers (RFC 7292, section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Bag {
    Key = 1,
    ShroudedKey = 2,
    Certificate = 3,
}

/// An integrity check to write.
pub(crate) struct MacOf<'a> {
    /// In its wide form (UTF-16).
    pub(crate) password: &'a [u8],
    pub(crate) salt: &'a [u8],
    /// At most 0x7FFF: a first bit of 1 would make the number negative.
    pub(crate) iterations: u16,
}

/// A file with these parts.
pub(crate) fn file(parts: &[&[u8]], mac: Option<&MacOf<'_>>) -> Result<Vec<u8>, ErrorStack> {
    let safe = der(SEQUENCE, &parts.concat());
    let mac = mac.map(|mac| mac_data(&safe, mac)).transpose()?.unwrap_or_default();
    Ok(der(SEQUENCE, &[der(INTEGER, &[3]), data(&safe), mac].concat()))
}

/// An unencrypted part with these bags.
pub(crate) fn part(bags: &[u8]) -> Vec<u8> {
    data(&der(SEQUENCE, bags))
}

/// `value`: a key as PKCS#8, or a certificate, in DER.
pub(crate) fn bag(kind: Bag, value: &[u8]) -> Vec<u8> {
    let identifier = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 10, 1, kind as u8];
    let value = match kind {
        Bag::Key | Bag::ShroudedKey => der(CONTEXT_0, value),
        Bag::Certificate => {
            let certificate = der(CONTEXT_0, &der(OCTET_STRING, value));
            let value = [der(OBJECT_IDENTIFIER, X509_CERTIFICATE), certificate].concat();
            der(CONTEXT_0, &der(SEQUENCE, &value))
        }
    };
    der(SEQUENCE, &[der(OBJECT_IDENTIFIER, &identifier), value].concat())
}

/// `ContentInfo` of plain data.
pub(crate) fn data(contents: &[u8]) -> Vec<u8> {
    let contents = der(CONTEXT_0, &der(OCTET_STRING, contents));
    der(SEQUENCE, &[der(OBJECT_IDENTIFIER, DATA), contents].concat())
}

/// `MacData` with SHA-256.
fn mac_data(safe: &[u8], mac: &MacOf<'_>) -> Result<Vec<u8>, ErrorStack> {
    let sha256 = MessageDigest::sha256();
    let key = mac::key(sha256, mac.password, mac.salt, mac.iterations.into())?;
    let code = der(OCTET_STRING, &mac::hmac(sha256, &key, safe)?);
    let algorithm = der(SEQUENCE, &[&der(OBJECT_IDENTIFIER, SHA256), NULL].concat());
    let iterations = match mac.iterations.to_be_bytes() {
        [0, low] => der(INTEGER, &[low]),
        both => der(INTEGER, &both),
    };
    let stated = der(SEQUENCE, &[algorithm, code].concat());
    Ok(der(
        SEQUENCE,
        &[stated, der(OCTET_STRING, mac.salt), iterations].concat(),
    ))
}

/// A value with its tag and its length, which has the fewest bytes possible.
pub(crate) fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len().to_be_bytes();
    let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    let mut value = vec![tag];
    match length {
        [] => value.push(0),
        [short @ 0..0x80] => value.push(*short),
        long => {
            // A length has eight bytes at most.
            value.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            value.extend_from_slice(long);
        }
    }
    value.extend_from_slice(contents);
    value
}
