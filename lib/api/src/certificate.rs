//! What [`ecf_certificates`] says of a certificate, as an answer.

use ecf::FailReason;
use ecf_certificates::{CannotSign, P12Refusal, P12Warning};
use ecf_language::{Bilingual, Say as _};
use serde_json::{Value, json};

use crate::{ApiError, FieldError};

const KIND: &str = "certificate_error";

/// Where in the body a P12 and its PIN stand.
#[derive(Debug, Clone, Copy)]
pub struct P12Fields {
    pub file: &'static str,
    pub pin: &'static str,
}

impl P12Fields {
    /// 422 of type `certificate_error` on the file or the PIN. `ctx` has the code. Where no certificate may sign, it also has both dates of
    /// the one that comes closest, and each certificate if there are several.
    pub fn refused(self, refusal: &P12Refusal) -> ApiError {
        let field = match refusal {
            P12Refusal::WrongPin { .. } => self.pin,
            _ => self.file,
        };
        let mut error = coded(field, refusal.code(), refusal.say());
        if let P12Refusal::NoneUsable {
            not_before,
            not_after,
            unusable,
        } = refusal
        {
            if unusable.len() > 1 {
                let listed = unusable.iter().map(|one| {
                    let certificate = one.certificate.as_ref();
                    json!({
                        "subject": certificate.map(|certificate| &certificate.subject),
                        "not_before": certificate.map(|certificate| certificate.not_before.to_string()),
                        "not_after": certificate.map(|certificate| certificate.not_after.to_string()),
                        "code": one.reason.code(),
                    })
                });
                error = error.with_ctx("certificates", listed.collect::<Value>());
            }
            error = error
                .with_ctx("not_before", not_before.to_string())
                .with_ctx("not_after", not_after.to_string());
        }
        ApiError::validation(vec![error])
    }

    /// A warning about an accepted file.
    pub fn warned(self, warning: P12Warning) -> FieldError {
        coded(self.file, warning.code, warning.message)
    }
}

fn coded(field: &str, code: &'static str, msg: Bilingual) -> FieldError {
    FieldError::new(["body", field], KIND, msg).with_code(code)
}

/// 409, unless the vault could not be read.
impl From<CannotSign> for ApiError {
    fn from(error: CannotSign) -> Self {
        let message = error.say();
        match error {
            CannotSign::Unusable(error) => {
                ApiError::conflict(FailReason::CertificateUnusable.as_str(), message).caused_by(error)
            }
            CannotSign::Missing => ApiError::conflict(FailReason::CertificateMissing.as_str(), message),
            CannotSign::NotValid { .. } => ApiError::conflict(FailReason::CertificateNotValid.as_str(), message),
            CannotSign::Vault(error) => error.into(),
        }
    }
}
