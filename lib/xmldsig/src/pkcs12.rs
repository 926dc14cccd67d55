//! PKCS#12 files (RFC 7292), as written by certificate authorities, browsers and twenty years of tools.
//!
//! OpenSSL opens each part of a file. This module adds what OpenSSL's interface does not report: the difference between
//! a wrong password, an unknown cipher and a damaged file; the iterations that a file demands, before they run; further
//! keys; older forms of a non-ASCII password.
//!
//! [`contents`] reads the file, [`structure`] its encoding, [`algorithms`] and [`mac`] the parameters of its parts.
//! [`password`] has the forms of a password, [`inspection`] reports the content of a file that does not open,
//! [`mangling`] recognizes files that were damaged by a text conversion, [`writer`] writes the content into a new file,
//! a [`container`]. [`choice`](crate::choice) decides which certificate signs.

mod algorithms;
pub(crate) mod container;
mod contents;
mod inspection;
mod mac;
mod mangling;
mod password;
pub(crate) mod structure;
mod writer;

use jiff::Timestamp;
use openssl::pkey::{PKey, PKeyRef, Private};
use openssl::x509::X509;

use crate::certificate::{Certificate, CertificateError, PublicKey};
use crate::choice::{self, Candidate};
use crate::identity::Identity;
use crate::rsa::numbers_belong_together;
use contents::Contents;
use ecf_language::{Bilingual, Say, say};
pub use inspection::{InspectedCertificate, InspectedKey, Inspection, P12Problem, Protection};
use password::Forms;
pub use writer::{Reencrypted, pkcs12_file};

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
    #[error("not a PKCS#12 file: it looks like {}", .0.en)]
    OtherFormat(Bilingual),
    /// A text conversion damaged the bytes. This cannot be undone.
    #[error(
        "the file was damaged by a text conversion: it has {replacements} UTF-8 replacement characters; upload it as binary"
    )]
    MangledAsText {
        /// The number of replacement characters.
        replacements: usize,
    },
    /// Every byte above 0x7F was written as a character in UTF-8.
    #[error(
        "the file was re-encoded from Latin-1 to UTF-8: each of its bytes was taken for a character; upload it as binary"
    )]
    MangledAsUtf8,
    /// All zero bytes were removed.
    #[error("the file lost its zero bytes: something handled it as text and removed every NUL; upload it as binary")]
    MangledWithoutNuls,
    /// Line ends were converted as in a text file.
    #[error("the line ends of the file were changed as in a text file ({}); upload it as binary", .change.en)]
    MangledLineEnds {
        /// The conversion.
        change: Bilingual,
    },
    /// The structure cannot be read.
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    /// No form of the password fits. A file with altered content gives the same error.
    #[error("wrong password")]
    WrongPassword,
    /// Encrypted or protected in a way that is not supported.
    #[error("unsupported cipher {name}; convert the file with: {CONVERSION}")]
    UnsupportedCipher {
        /// Name or object identifier.
        name: String,
    },
    /// The file demands more key derivation than the limit.
    #[error("the file asks for more than {limit} iterations of key derivation")]
    TooManyIterations {
        /// The upper bound of iterations, over the whole file.
        limit: u32,
    },
    /// The file contains no private key.
    #[error("the file has no private key: export it again together with the key")]
    NoKey,
    /// The file contains no certificate.
    #[error("the file has no certificate")]
    NoCertificate,
    /// None of the certificates belongs to the private key.
    #[error("none of the {certificates} certificates in the file belongs to its private key")]
    KeyMismatch {
        /// The number of certificates.
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

impl Say for P12Error {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::TooLarge { bytes, limit } => format!("el archivo tiene {bytes} bytes, se leen {limit} como máximo"),
            Self::OtherFormat(found) => format!("no es un archivo PKCS#12: parece {}", found.es),
            Self::MangledAsText { replacements } => format!(
                "una conversión de texto dañó el archivo: tiene {replacements} caracteres de reemplazo de UTF-8; súbalo como \
                 binario"
            ),
            Self::MangledAsUtf8 => {
                "el archivo se recodificó de Latin-1 a UTF-8: cada byte se tomó por un carácter; súbalo como \
                                     binario"
                    .to_owned()
            }
            Self::MangledWithoutNuls => {
                "el archivo perdió sus bytes cero: algo lo trató como texto y quitó cada NUL; súbalo como \
                                         binario"
                    .to_owned()
            }
            Self::MangledLineEnds { change } => format!(
                "los finales de línea del archivo cambiaron como en un texto ({}); súbalo como binario",
                change.es
            ),
            Self::Damaged(_) => "el archivo está dañado".to_owned(),
            Self::WrongPassword => "contraseña incorrecta".to_owned(),
            Self::UnsupportedCipher { name } => {
                format!("el cifrado {name} no es compatible; convierta el archivo con: {CONVERSION}")
            }
            Self::TooManyIterations { limit } => {
                format!("el archivo pide más de {limit} iteraciones de derivación de clave")
            }
            Self::NoKey => "el archivo no tiene clave privada: expórtelo otra vez junto con la clave".to_owned(),
            Self::NoCertificate => "el archivo no tiene certificado".to_owned(),
            Self::KeyMismatch { certificates } => {
                format!("ninguno de los {certificates} certificados del archivo pertenece a su clave privada")
            }
            Self::NotRsa => "la clave privada no es una clave RSA".to_owned(),
            Self::KeySize { bits } => format!("la clave RSA tiene {bits} bits, se exigen de 2048 a 8192"),
            Self::Certificate(error) => return error.say(),
        };
        Bilingual::of(self, spanish)
    }
}

/// The command that converts a file to supported ciphers.
const CONVERSION: &str =
    "openssl pkcs12 -legacy -in old.p12 -nodes -out all.pem && openssl pkcs12 -export -in all.pem -out new.p12";

const MOST_BYTES: usize = 512 * 1024;

impl P12Error {
    /// A permanent code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::OtherFormat(_) => "other_format",
            Self::MangledAsText { .. } => "mangled_as_text",
            Self::MangledAsUtf8 => "mangled_as_utf8",
            Self::MangledWithoutNuls => "mangled_without_nuls",
            Self::MangledLineEnds { .. } => "mangled_line_ends",
            Self::Damaged(_) => "damaged",
            Self::WrongPassword => "wrong_password",
            Self::UnsupportedCipher { .. } => "unsupported_cipher",
            Self::TooManyIterations { .. } => "too_many_iterations",
            Self::NoKey => "no_key",
            Self::NoCertificate => "no_certificate",
            Self::KeyMismatch { .. } => "key_mismatch",
            Self::NotRsa => "not_rsa",
            Self::KeySize { .. } => "key_size",
            Self::Certificate(error) => error.code(),
        }
    }
}

pub(crate) fn open(der: &[u8], password: &str, now: Timestamp) -> Result<Identity, P12Error> {
    check_size(der)?;
    let contents = contents::read(der, &Forms::of(password));
    identity(der, &contents, now)
}

pub(crate) fn reencrypt(
    der: &[u8],
    password: &str,
    now: Timestamp,
    random: &[u8; 64],
) -> Result<(Identity, Reencrypted), P12Error> {
    check_size(der)?;
    let contents = contents::read(der, &Forms::of(password));
    let identity = identity(der, &contents, now)?;
    Ok((identity, writer::write(&contents, random)?))
}

/// Reports the content of a PKCS#12 file, even if the password is wrong or the file cannot serve as an identity.
/// Validity is judged at `now`.
///
/// The result holds no secrets.
#[must_use]
pub fn inspect_pkcs12(der: &[u8], password: &str, now: Timestamp) -> Inspection {
    if let Err(error) = check_size(der) {
        return Inspection::of_unread(der.len(), error);
    }
    let contents = contents::read(der, &Forms::of(password));
    let opened = identity(der, &contents, now);
    Inspection::of(der.len(), contents, opened, password.is_empty(), now)
}

fn check_size(der: &[u8]) -> Result<(), P12Error> {
    if der.len() > MOST_BYTES {
        return Err(P12Error::TooLarge {
            bytes: der.len(),
            limit: MOST_BYTES,
        });
    }
    Ok(())
}

/// Replaces a structural error by a simpler cause, such as a text conversion, if there is one.
fn explain(der: &[u8], error: P12Error) -> P12Error {
    let is_structural = matches!(error, P12Error::Damaged(_) | P12Error::UnsupportedCipher { .. });
    if !is_structural && error != P12Error::WrongPassword {
        return error;
    }
    // A conversion that keeps the length may leave the structure readable, but then no password fits.
    if let Some(mangled) = mangling::of(der) {
        return mangled;
    }
    if !is_structural {
        return error;
    }
    if der.is_empty() {
        P12Error::OtherFormat(say!("an empty file", "un archivo vacío"))
    } else if der.starts_with(b"-----BEGIN") {
        P12Error::OtherFormat(say!("PEM text", "texto PEM"))
    } else if der.starts_with(b"MI") && der.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
        P12Error::OtherFormat(say!("base64 text", "texto base64"))
    } else if der.starts_with(b"\xFE\xED\xFE\xED") {
        P12Error::OtherFormat(say!("a Java key store", "un almacén de claves de Java"))
    } else if der[0] != 0x30 {
        P12Error::OtherFormat(say!("something else", "otra cosa"))
    } else if Certificate::from_der(der).is_ok() {
        P12Error::OtherFormat(say!("a certificate without a key", "un certificado sin clave"))
    } else {
        error
    }
}

/// The key and the certificate that sign at `now`, at any position in the file.
fn identity(der: &[u8], contents: &Contents, now: Timestamp) -> Result<Identity, P12Error> {
    if let Some(failure) = contents.failures.first() {
        return Err(explain(der, failure.clone()));
    }
    if contents.keys.is_empty() {
        return Err(P12Error::NoKey);
    }
    if contents.certificates.is_empty() {
        return Err(P12Error::NoCertificate);
    }
    // An unreadable certificate may be part of the chain. It only cannot be the signer's.
    let (mut certificates, mut unreadable) = (Vec::new(), None);
    for bag in &contents.certificates {
        match Certificate::from_der(&bag.der) {
            Ok(certificate) if certificates.contains(&certificate) => {}
            Ok(certificate) => certificates.push(certificate),
            Err(error) => unreadable = unreadable.or(Some(error)),
        }
    }
    let keys = contents.keys.iter().filter_map(|bag| bag.key.as_ref());
    let candidates = keys.flat_map(|key| candidates(key, &certificates)).collect();
    let (key, certificate, choice) = choice::choose(candidates, now).map_err(|key_at_fault| {
        let unreadable = unreadable.map(P12Error::Certificate);
        key_at_fault.or(unreadable).unwrap_or(P12Error::KeyMismatch {
            certificates: contents.certificates.len(),
        })
    })?;
    certificates.retain(|other| *other != certificate);
    Ok(Identity::from_parts(
        key,
        certificate,
        certificates,
        choice,
        contents.mac.is_some(),
    ))
}

/// One candidate for each certificate that belongs to the key.
fn candidates(key: &PKey<Private>, certificates: &[Certificate]) -> Vec<Candidate> {
    let checked = match PublicKey::of(key) {
        PublicKey::Rsa { bits } if (2048..=8192).contains(&bits) => match key.rsa() {
            Ok(rsa) if numbers_belong_together(&rsa).unwrap_or(false) => Ok(key.clone()),
            _ => Err(P12Error::Damaged(
                "the numbers of the private key do not belong together",
            )),
        },
        PublicKey::Rsa { bits } => Err(P12Error::KeySize { bits }),
        PublicKey::Other { .. } => Err(P12Error::NotRsa),
    };
    let own: Vec<_> = certificates
        .iter()
        .filter(|certificate| belongs(key, certificate))
        .map(|certificate| Candidate {
            key: checked.clone(),
            certificate: Some(certificate.clone()),
        })
        .collect();
    match checked {
        Err(reason) if own.is_empty() => vec![Candidate {
            key: Err(reason),
            certificate: None,
        }],
        _ => own,
    }
}

/// Whether the key belongs to this certificate.
fn belongs(key: &PKeyRef<Private>, certificate: &Certificate) -> bool {
    let public = X509::from_der(&certificate.der).and_then(|certificate| certificate.public_key());
    public.is_ok_and(|public| public.public_eq(key))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use openssl::rsa::Rsa;

    use super::container::{INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, der};
    use super::*;
    use crate::rsa::sign_sha256;

    const RSA_ENCRYPTION: [u8; 9] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];

    /// A key whose private numbers have `zeros` leading zero bytes, in an octet string of one piece or of two.
    fn encoded(key: &Rsa<Private>, zeros: usize, in_pieces: bool) -> Vec<u8> {
        let positive = |number: Vec<u8>| der(INTEGER, &[&[0], number.as_slice()].concat());
        let padded = |number: Vec<u8>| der(INTEGER, &[vec![0; zeros], number].concat());
        let numbers = [
            der(INTEGER, &[0]),
            positive(key.n().to_vec()),
            der(INTEGER, &key.e().to_vec()),
            padded(key.d().to_vec()),
            padded(key.p().unwrap().to_vec()),
            padded(key.q().unwrap().to_vec()),
            padded(key.dmp1().unwrap().to_vec()),
            padded(key.dmq1().unwrap().to_vec()),
            padded(key.iqmp().unwrap().to_vec()),
        ];
        let inside = der(SEQUENCE, &numbers.concat());
        let octets = if in_pieces {
            let (first, second) = inside.split_at(100);
            der(0x24, &[der(OCTET_STRING, first), der(OCTET_STRING, second)].concat())
        } else {
            der(OCTET_STRING, &inside)
        };
        let algorithm = der(
            SEQUENCE,
            &[der(OBJECT_IDENTIFIER, &RSA_ENCRYPTION), vec![5, 0]].concat(),
        );
        der(SEQUENCE, &[der(INTEGER, &[0]), algorithm, octets].concat())
    }

    #[test]
    fn a_keys_secret_numbers_are_read_however_they_are_written() {
        let key = Rsa::generate(2048).unwrap();
        for zeros in [0, 1, 2] {
            for in_pieces in [false, true] {
                let pkcs8 = encoded(&key, zeros, in_pieces);
                let key = PKey::private_key_from_pkcs8(&pkcs8).unwrap();
                assert_eq!(sign_sha256(&key, &[7; 32]).unwrap().len(), 256);
            }
        }
    }
}
