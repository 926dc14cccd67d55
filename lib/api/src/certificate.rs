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
//! | `mangled_as_utf8`, `mangled_without_nuls`, `mangled_line_ends` | file | another conversion of text |
//! | `damaged` | file | the structure cannot be read |
//! | `no_mac` | file | a PIN, and no integrity check that it fits |
//! | `unsupported_cipher`, `too_many_iterations` | file | encrypted in a way that is not supported |
//! | `no_key`, `no_certificate`, `key_mismatch`, `not_rsa`, `key_size`, `key_unusable` | file | it cannot sign |
//! | `unreadable_certificate`, `expired`, `not_yet_valid`, `key_usage` | file | its certificate must not sign |
//! | `none_usable` | file | none of its certificates may sign, for different reasons |

use std::sync::Arc;

use ecf::FailReason;
use ecf_store::{CertificateFile, CompanyId, Identities, StoreError};
use jiff::Timestamp;
use serde_json::{Value, json};
use xmldsig::{Certificate, CertificateError, Identity, P12Error, Unusable};

use crate::{ApiError, FieldError};

mod warnings;

pub use warnings::certificate_warnings;

/// The largest file that is kept. A secret holds 64 KB with the file as Base64 in it; real files have a tenth of that.
pub const LARGEST_P12_BYTES: usize = 45 * 1024;

const KIND: &str = "certificate_error";

/// Where in the body a P12 and its PIN stand.
#[derive(Debug, Clone, Copy)]
pub struct P12Fields {
    pub file: &'static str,
    pub pin: &'static str,
}

/// Opens a P12 and proves that it can sign now; gives the identity and the file as the vault is to keep it. Of several keys and certificates
/// it takes those that are valid, may sign and last longest; [`certificate_warnings`] says which.
///
/// # Errors
/// 422 on the file or the PIN, with what is wrong.
pub fn open_certificate(
    p12: &[u8],
    pin: &str,
    fields: P12Fields,
    now: Timestamp,
) -> Result<(Identity, CertificateFile), ApiError> {
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
    let opened = CertificateFile::open(p12, pin, now, &ecf_runtime::random());
    let (identity, file) = opened.map_err(|error| refused(refused_p12(&error, pin, fields)))?;
    if !identity.has_mac() && !pin.is_empty() {
        return Err(in_file("no_mac", NO_MAC.to_owned()));
    }
    identity
        .prove()
        .map_err(|error| in_file("key_unusable", error.to_string()))?;
    if identity.choice().usable.is_empty() {
        return Err(refused(unusable(&identity, fields)));
    }
    Ok((identity, file))
}

/// A file is never refused for it when it is loaded again: it was accepted before.
const NO_MAC: &str = "the file has no integrity check (MAC): nothing shows whether it was altered. Such a file is accepted with an empty \
    PIN only; export it again, for example with: openssl pkcs12 -in old.p12 -nodes -out all.pem && \
    openssl pkcs12 -export -in all.pem -out new.p12";

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
            return Err(ApiError::conflict(FailReason::CertificateUnusable.as_str(), message).caused_by(error));
        }
        found => found?,
    };
    let Some(identity) = found else {
        return Err(ApiError::conflict(
            FailReason::CertificateMissing.as_str(),
            "the company has no certificate yet: upload its P12 first",
        ));
    };
    let certificate = identity.certificate();
    if !certificate.is_valid_at(now) {
        let message = format!(
            "the company's certificate is valid from {} to {}: upload a current one",
            certificate.not_before, certificate.not_after
        );
        return Err(ApiError::conflict(FailReason::CertificateNotValid.as_str(), message));
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

/// Why no certificate of the file may sign now. `ctx` has both dates of the one that comes closest, and each certificate where there are
/// several.
fn unusable(identity: &Identity, fields: P12Fields) -> FieldError {
    let (certificate, all) = (identity.certificate(), &identity.choice().unusable);
    let error = match all.as_slice() {
        [one] => coded(fields.file, one.reason.code(), alone(&one.reason)),
        all => several(all, fields),
    };
    error
        .with_ctx("not_before", certificate.not_before.to_string())
        .with_ctx("not_after", certificate.not_after.to_string())
}

fn alone(reason: &P12Error) -> String {
    match reason {
        P12Error::Certificate(CertificateError::Expired { not_after, .. }) => {
            format!("the certificate expired at {not_after}; ask its issuer for a new one")
        }
        P12Error::Certificate(CertificateError::NotYetValid { not_before, .. }) => {
            format!("the certificate is not valid before {not_before}; upload it then")
        }
        other => other.to_string(),
    }
}

/// Under the reason that all share, or `none_usable`.
fn several(all: &[Unusable], fields: P12Fields) -> FieldError {
    let mut codes: Vec<_> = all.iter().map(|one| one.reason.code()).collect();
    codes.dedup();
    let code = match codes.as_slice() {
        [code] => code,
        _ => "none_usable",
    };
    let reasons: Vec<_> = all.iter().map(ToString::to_string).collect();
    let msg = format!(
        "none of the {} certificates with a private key in the file can sign now: {}",
        all.len(),
        reasons.join("; ")
    );
    let listed: Vec<_> = all.iter().map(listed).collect();
    coded(fields.file, code, msg).with_ctx("certificates", listed)
}

fn listed(unusable: &Unusable) -> Value {
    let certificate = unusable.certificate.as_ref();
    let text = |of: fn(&Certificate) -> String| certificate.map(of);
    json!({
        "subject": text(|certificate| certificate.subject.clone()),
        "not_before": text(|certificate| certificate.not_before.to_string()),
        "not_after": text(|certificate| certificate.not_after.to_string()),
        "code": unusable.reason.code(),
    })
}

fn coded(field: &str, code: &'static str, msg: String) -> FieldError {
    FieldError::new(["body", field], KIND, msg).with_code(code)
}
