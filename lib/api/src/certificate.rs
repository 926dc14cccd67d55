//! P12 files that callers send: opened, proven and judged in one place, so that every door refuses the same.
//!
//! A refusal is a 422 of type `certificate_error` on the file or the PIN. `ctx.code` says which, and stays:
//!
//! | code | field | what is wrong |
//! |---|---|---|
//! | `wrong_password` | PIN | no form of the PIN opens the file |
//! | `empty_file`, `too_large` | file | nothing in it, or more than can be kept |
//! | `other_format` | file | PEM, Base64, a bare certificate, something else |
//! | `mangled_as_text` | file | the bytes went through a UTF-8 conversion |
//! | `damaged` | file | the structure cannot be read |
//! | `unsupported_cipher`, `too_many_iterations` | file | encrypted in a way that is not supported |
//! | `no_key`, `no_certificate`, `key_mismatch`, `not_rsa`, `key_size`, `key_unusable` | file | it cannot sign |
//! | `unreadable_certificate`, `expired`, `not_yet_valid`, `key_usage` | file | its certificate must not sign |

use std::sync::Arc;

use ecf_store::{CompanyId, Identities, StoreError};
use jiff::Timestamp;
use xmldsig::{Certificate, CertificateError, Identity, P12Error};

use crate::{ApiError, FieldError};

mod owner;
mod trust;

pub use owner::Owner;
pub use trust::{CertificateTrust, Doubt, UnknownCertificateTrust};

/// The largest file that is kept. A secret holds 64 KB with the file as Base64 in it; real files have a tenth of that.
pub const LARGEST_P12_BYTES: usize = 45 * 1024;

const KIND: &str = "certificate_error";

/// Where in the body a P12 and its PIN stand.
#[derive(Debug, Clone, Copy)]
pub struct P12Fields {
    pub file: &'static str,
    pub pin: &'static str,
}

/// Opens a P12 and proves that it can sign now.
///
/// # Errors
/// 422 on the file or the PIN, with what is wrong.
pub fn open_certificate(p12: &[u8], pin: &str, fields: P12Fields, now: Timestamp) -> Result<Identity, ApiError> {
    let refused = |error| ApiError::validation(vec![error]);
    let in_file = |code, msg| refused(coded(fields.file, code, msg));
    if p12.len() > LARGEST_P12_BYTES {
        let msg = format!(
            "the file has {} KB, at most {} KB are taken",
            p12.len().div_ceil(1024),
            LARGEST_P12_BYTES / 1024
        );
        return Err(in_file("too_large", msg));
    }
    let identity = Identity::from_pkcs12(p12, pin).map_err(|error| refused(refused_p12(&error, pin, fields)))?;
    identity
        .prove()
        .map_err(|error| in_file("key_unusable", error.to_string()))?;
    let certificate = identity.certificate();
    certificate
        .check_usable_at(now)
        .map_err(|error| refused(unusable(&error, certificate, fields)))?;
    Ok(identity)
}

/// The identity that signs for a company now.
///
/// # Errors
/// 409 when the company has no certificate, or one that does not open or is not valid now.
pub async fn signing_identity(
    identities: &Identities,
    company: &CompanyId,
    now: Timestamp,
) -> Result<Arc<Identity>, ApiError> {
    usable_identity(identities.of(company, now).await, now)
}

/// The same, for who asked for it already.
///
/// # Errors
/// As [`signing_identity`].
pub fn usable_identity(
    found: Result<Option<Arc<Identity>>, StoreError>,
    now: Timestamp,
) -> Result<Arc<Identity>, ApiError> {
    let found = match found {
        Err(error @ StoreError::Corrupt { .. }) => {
            let message = "the company's certificate does not open any more: upload its P12 again";
            return Err(ApiError::conflict("certificate_unusable", message).caused_by(error));
        }
        found => found?,
    };
    let Some(identity) = found else {
        return Err(ApiError::conflict(
            "certificate_missing",
            "the company has no certificate yet: upload its P12 first",
        ));
    };
    let certificate = identity.certificate();
    if !certificate.is_valid_at(now) {
        let message = format!(
            "the company's certificate is valid from {} to {}: upload a current one",
            certificate.not_before, certificate.not_after
        );
        return Err(ApiError::conflict("certificate_not_valid", message));
    }
    Ok(identity)
}

/// Why a P12 does not open, at its field.
fn refused_p12(error: &P12Error, pin: &str, fields: P12Fields) -> FieldError {
    if !matches!(error, P12Error::WrongPassword) {
        return coded(fields.file, error.code(), error.to_string());
    }
    let mut msg = "wrong PIN: the file does not open with it".to_owned();
    if pin.trim() != pin {
        msg.push_str("; it starts or ends with a blank or a line break");
    }
    coded(fields.pin, error.code(), msg)
}

/// Why a certificate must not sign now, with both its dates.
fn unusable(error: &CertificateError, certificate: &Certificate, fields: P12Fields) -> FieldError {
    let msg = match error {
        CertificateError::Expired { not_after, .. } => {
            format!("the certificate expired at {not_after}; ask its issuer for a new one")
        }
        CertificateError::NotYetValid { not_before, .. } => {
            format!("the certificate is not valid before {not_before}; upload it then")
        }
        other => other.to_string(),
    };
    coded(fields.file, error.code(), msg)
        .with_ctx("not_before", certificate.not_before.to_string())
        .with_ctx("not_after", certificate.not_after.to_string())
}

fn coded(field: &str, code: &'static str, msg: String) -> FieldError {
    FieldError::new(["body", field], KIND, msg).with_code(code)
}
