//! P12 files that companies upload: opened, proven and judged in one place, so that every door refuses the same.
//!
//! [`P12Refusal::code`] says what is wrong, and stays:
//!
//! | code | what is wrong |
//! |---|---|
//! | `wrong_password` | no form of the PIN opens the file |
//! | `empty_file`, `too_large` | nothing in it, or more than can be stored |
//! | `other_format` | PEM, Base64, a bare certificate, something else |
//! | `mangled_as_text` | the bytes went through a UTF-8 conversion |
//! | `mangled_as_utf8`, `mangled_without_nuls`, `mangled_line_ends` | another conversion of text |
//! | `damaged` | the structure cannot be read |
//! | `no_mac` | a PIN, and no integrity check that it fits |
//! | `unsupported_cipher`, `too_many_iterations` | encrypted in a way that is not supported |
//! | `no_key`, `no_certificate`, `key_mismatch`, `not_rsa`, `key_size`, `key_unusable` | it cannot sign |
//! | `unreadable_certificate`, `expired`, `not_yet_valid`, `key_usage` | its certificate must not sign |
//! | `none_usable` | none of its certificates may sign, for different reasons |

use ecf_language::{Bilingual, Say, say};
use ecf_store::CertificateFile;
use jiff::Timestamp;
use xmldsig::{CertificateError, Identity, P12Error, ProofError, Unusable};

mod warnings;

pub use warnings::{P12Warning, p12_warnings};

/// The largest file that is stored. A secret holds 64 KB with the file as Base64 in it; real files have a tenth of that.
pub const LARGEST_P12_BYTES: usize = 45 * 1024;

/// Why an uploaded P12 is refused, in words for the programmer who has to repair it.
#[derive(Debug, thiserror::Error)]
pub enum P12Refusal {
    #[error("the file has {} KB, at most {} KB are taken", .size_bytes.div_ceil(1024), LARGEST_P12_BYTES / 1024)]
    TooLarge { size_bytes: usize },
    #[error("wrong PIN: the file does not open with it{}", .hint.en)]
    WrongPin { hint: Bilingual },
    #[error(transparent)]
    DoesNotOpen(P12Error),
    /// A file that was accepted once is never refused for this when it is loaded again.
    #[error(
        "the file has no integrity check (MAC): nothing shows whether it was altered. Such a file is accepted with an empty \
         PIN only; export it again, for example with: openssl pkcs12 -in old.p12 -nodes -out all.pem && \
         openssl pkcs12 -export -in all.pem -out new.p12"
    )]
    NoMac,
    #[error(transparent)]
    KeyUnusable(ProofError),
    /// None of its certificates may sign now. The dates are those of the certificate that comes closest.
    #[error("{}", none_usable(.unusable).en)]
    NoneUsable {
        not_before: Timestamp,
        not_after: Timestamp,
        unusable: Vec<Unusable>,
    },
}

impl Say for P12Refusal {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::TooLarge { size_bytes } => format!(
                "el archivo tiene {} KB, se aceptan {} KB como máximo",
                size_bytes.div_ceil(1024),
                LARGEST_P12_BYTES / 1024
            ),
            Self::WrongPin { hint } => format!("PIN incorrecto: el archivo no abre con él{}", hint.es),
            Self::DoesNotOpen(error) => return error.say(),
            Self::NoMac => "el archivo no tiene verificación de integridad (MAC): nada muestra si fue alterado. Un archivo así solo se \
                            acepta con un PIN vacío; expórtelo otra vez, por ejemplo con: openssl pkcs12 -in old.p12 \
                            -nodes -out all.pem && openssl pkcs12 -export -in all.pem -out new.p12"
                .to_owned(),
            Self::KeyUnusable(error) => return error.say(),
            Self::NoneUsable { unusable, .. } => return none_usable(unusable),
        };
        Bilingual::of(self, spanish)
    }
}

impl P12Refusal {
    /// The permanent name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::WrongPin { .. } => P12Error::WrongPassword.code(),
            Self::DoesNotOpen(error) => error.code(),
            Self::NoMac => "no_mac",
            Self::KeyUnusable(_) => "key_unusable",
            Self::NoneUsable { unusable, .. } => shared_code(unusable),
        }
    }
}

/// Opens a P12 and proves that it can sign now; gives the identity and the file in the form in which the vault stores it, encrypted
/// with a password of `random`. Of several keys and certificates it takes those that are valid, may sign and last longest;
/// [`p12_warnings`] says which.
///
/// # Errors
/// What is wrong with the file or the PIN.
pub fn open_p12(
    p12: &[u8],
    pin: &str,
    random: &[u8; 64],
    now: Timestamp,
) -> Result<(Identity, CertificateFile), P12Refusal> {
    if p12.len() > LARGEST_P12_BYTES {
        return Err(P12Refusal::TooLarge { size_bytes: p12.len() });
    }
    let (identity, file) = CertificateFile::open(p12, pin, now, random).map_err(|error| not_opened(error, pin))?;
    if !identity.has_mac() && !pin.is_empty() {
        return Err(P12Refusal::NoMac);
    }
    identity.prove().map_err(P12Refusal::KeyUnusable)?;
    if identity.choice().usable.is_empty() {
        let certificate = identity.certificate();
        return Err(P12Refusal::NoneUsable {
            not_before: certificate.not_before,
            not_after: certificate.not_after,
            unusable: identity.choice().unusable.clone(),
        });
    }
    Ok((identity, file))
}

fn not_opened(error: P12Error, pin: &str) -> P12Refusal {
    match error {
        P12Error::WrongPassword if pin.trim() != pin => P12Refusal::WrongPin {
            hint: say!(
                "; it starts or ends with a blank or a line break",
                "; empieza o termina con un espacio o un salto de línea"
            ),
        },
        P12Error::WrongPassword => P12Refusal::WrongPin {
            hint: Bilingual::default(),
        },
        error => P12Refusal::DoesNotOpen(error),
    }
}

fn none_usable(unusable: &[Unusable]) -> Bilingual {
    if let [one] = unusable {
        return alone(&one.reason);
    }
    let reasons: Vec<_> = unusable.iter().map(Say::say).collect();
    let reasons = Bilingual::joined(&reasons, "; ");
    say!(
        [reasons],
        "none of the {} certificates with a private key in the file can sign now: {reasons}",
        "ninguno de los {} certificados con clave privada del archivo puede firmar ahora: {reasons}",
        unusable.len()
    )
}

fn alone(reason: &P12Error) -> Bilingual {
    match reason {
        P12Error::Certificate(CertificateError::Expired { not_after, .. }) => {
            say!(
                "the certificate expired at {not_after}; ask its issuer for a new one",
                "el certificado venció el {not_after}; pida uno nuevo a su emisor"
            )
        }
        P12Error::Certificate(CertificateError::NotYetValid { not_before, .. }) => {
            say!(
                "the certificate is not valid before {not_before}; upload it then",
                "el certificado no es válido antes de {not_before}; súbalo entonces"
            )
        }
        other => other.say(),
    }
}

/// The reason that all share, or `none_usable`.
fn shared_code(unusable: &[Unusable]) -> &'static str {
    let mut codes: Vec<_> = unusable.iter().map(|one| one.reason.code()).collect();
    codes.dedup();
    match codes.as_slice() {
        [code] => code,
        _ => "none_usable",
    }
}
