//! PKCS#12 files (RFC 7292), as certificate authorities, browsers and twenty years of tools have written them.
//!
//! The container is read here, not by OpenSSL, for three reasons: OpenSSL reports a wrong password, an unknown cipher and a damaged file
//! in much the same way; it takes iteration counts from strangers without a bound; and it knows one form of a non-ASCII password.
//! Ciphers, hashes and keys are OpenSSL's. [`ber`] reads the encoding, [`pfx`] the container, [`scheme`] the encryption, [`mac`] the
//! integrity check, [`kdf`] derives keys from [`password`] forms.

mod ber;
mod kdf;
mod mac;
mod password;
mod pfx;
mod scheme;

use openssl::pkey::{Id, PKey, Private};
use openssl::x509::X509;

use crate::certificate::{Certificate, CertificateError};
use crate::identity::Identity;
use kdf::Work;
use password::Forms;
use pfx::Contents;

/// Why a PKCS#12 file does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum P12Error {
    /// Larger than any real file.
    #[error("the file has {bytes} bytes, at most {limit} are read")]
    TooLarge {
        /// Size of the file.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Not a PKCS#12 file at all.
    #[error("not a PKCS#12 file: it looks like {0}")]
    OtherFormat(&'static str),
    /// The bytes went through a text conversion on their way, which cannot be undone.
    #[error(
        "the file was damaged by a text conversion: it has {replacements} UTF-8 replacement characters; upload it as binary"
    )]
    MangledAsText {
        /// How many replacement characters there are.
        replacements: usize,
    },
    /// The structure cannot be read.
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    /// No form of the password fits. A file whose contents were altered looks the same.
    #[error("wrong password")]
    WrongPassword,
    /// Encrypted or protected in a way that is not supported.
    #[error("unsupported cipher {name}; convert the file with: {CONVERSION}")]
    UnsupportedCipher {
        /// Name or object identifier.
        name: String,
    },
    /// The file asks for more key derivation than is reasonable.
    #[error("the file asks for more than {limit} iterations of key derivation")]
    TooManyIterations {
        /// The limit, over the whole file.
        limit: u32,
    },
    /// There is no private key in the file.
    #[error("the file has no private key: export it again together with the key")]
    NoKey,
    /// There is no certificate in the file.
    #[error("the file has no certificate")]
    NoCertificate,
    /// None of the certificates belongs to the private key.
    #[error("none of the {certificates} certificates in the file belongs to its private key")]
    KeyMismatch {
        /// How many certificates there are.
        certificates: usize,
    },
    /// The key is not an RSA key.
    #[error("the private key is not an RSA key")]
    NotRsa,
    /// The RSA key is too small or too large.
    #[error("the RSA key has {bits} bits, 2048 to 8192 are required")]
    KeySize {
        /// Size of the modulus.
        bits: u32,
    },
    /// The signer's certificate cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// What to type to get a file that everything opens.
const CONVERSION: &str =
    "openssl pkcs12 -legacy -in old.p12 -nodes -out all.pem && openssl pkcs12 -export -in all.pem -out new.p12";

const MOST_BYTES: usize = 512 * 1024;

pub(crate) fn open(der: &[u8], password: &str) -> Result<Identity, P12Error> {
    if der.len() > MOST_BYTES {
        return Err(P12Error::TooLarge {
            bytes: der.len(),
            limit: MOST_BYTES,
        });
    }
    let mut work = Work::new();
    let contents = pfx::read(der, &Forms::of(password), &mut work).map_err(|error| explain(der, error))?;
    identity(&contents)
}

/// A structure that cannot be read often has a simple cause outside of the structure.
fn explain(der: &[u8], error: P12Error) -> P12Error {
    if !matches!(error, P12Error::Damaged(_) | P12Error::UnsupportedCipher { .. }) {
        return error;
    }
    let replacements = der.windows(3).filter(|window| window == b"\xEF\xBF\xBD").count();
    if replacements > 2 {
        return P12Error::MangledAsText { replacements };
    }
    if der.is_empty() {
        P12Error::OtherFormat("an empty file")
    } else if der.starts_with(b"-----BEGIN") {
        P12Error::OtherFormat("PEM text")
    } else if der.starts_with(b"MI") && der.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
        P12Error::OtherFormat("base64 text")
    } else if der.starts_with(b"\xFE\xED\xFE\xED") {
        P12Error::OtherFormat("a Java key store")
    } else if der[0] != 0x30 {
        P12Error::OtherFormat("something else")
    } else if X509::from_der(der).is_ok() {
        P12Error::OtherFormat("a certificate without a key")
    } else {
        error
    }
}

/// The first key with its certificate, wherever that stands.
fn identity(contents: &Contents) -> Result<Identity, P12Error> {
    if contents.keys.is_empty() {
        return Err(P12Error::NoKey);
    }
    if contents.certificates.is_empty() {
        return Err(P12Error::NoCertificate);
    }
    // An unreadable certificate may belong to somebody else in the chain; it only cannot be the signer's.
    let certificates: Vec<(X509, &Vec<u8>)> = contents
        .certificates
        .iter()
        .filter_map(|der| Some((X509::from_der(der).ok()?, der)))
        .collect();
    for pkcs8 in &contents.keys {
        let key = private_key(pkcs8)?;
        let leaf = certificates
            .iter()
            .position(|(x509, _)| x509.public_key().is_ok_and(|public| public.public_eq(&key)));
        let Some(leaf) = leaf else { continue };
        let mut others = Vec::new();
        for (at, (x509, der)) in certificates.iter().enumerate() {
            if at != leaf
                && let Ok(other) = Certificate::from_x509(x509, der.to_vec())
            {
                others.push(other);
            }
        }
        let (x509, der) = &certificates[leaf];
        return Ok(Identity::from_parts(
            key,
            Certificate::from_x509(x509, der.to_vec())?,
            others,
        ));
    }
    Err(P12Error::KeyMismatch {
        certificates: contents.certificates.len(),
    })
}

fn private_key(pkcs8: &[u8]) -> Result<PKey<Private>, P12Error> {
    let key = PKey::private_key_from_pkcs8(pkcs8).map_err(|_| P12Error::Damaged("the private key cannot be read"))?;
    if key.id() != Id::RSA {
        return Err(P12Error::NotRsa);
    }
    match key.bits() {
        2048..=8192 => Ok(key),
        bits => Err(P12Error::KeySize { bits }),
    }
}
