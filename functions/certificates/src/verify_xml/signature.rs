//! The report on a document's signature and signer.

use ecf::Rnc;
use ecf_api::{Instant, Spoken};
use ecf_certificates::Owner;
use ecf_language::Say;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use xmldsig::{Certificate, CheckResult, Report};

/// Characters of the security code.
const CODE_LENGTH: usize = 6;

/// The signature, check by check.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignatureView {
    pub(super) valid: bool,
    /// In the order in which they count.
    checks: Vec<CheckView>,
    /// The beginning of the signature: what is printed under the QR code of an e-CF.
    security_code: Option<String>,
    /// It is right only without the blanks between the elements. The authority reads it that way; others may refuse it.
    whitespace_dropped: bool,
}

/// One check and how it ended.
#[derive(Debug, Serialize, ToSchema)]
struct CheckView {
    /// Stays the same for the same check.
    #[schema(example = "digest")]
    check: &'static str,
    /// `passed`, `failed`, or `not_reached` when something before it failed.
    outcome: &'static str,
    /// Why it failed.
    #[schema(value_type = Option<String>)]
    reason: Option<Spoken>,
}

impl SignatureView {
    pub(super) fn of(report: &Report) -> Self {
        let checks = report.outcomes().map(|(check, outcome)| {
            let (outcome, reason) = match outcome {
                CheckResult::Passed => ("passed", None),
                CheckResult::Failed(error) => ("failed", Some(error.say().into())),
                CheckResult::NotReached => ("not_reached", None),
            };
            CheckView {
                check: check.code(),
                outcome,
                reason,
            }
        });
        Self {
            valid: report.is_valid(),
            checks: checks.collect(),
            security_code: report
                .signature_value
                .as_ref()
                .map(|value| value.chars().take(CODE_LENGTH).collect()),
            whitespace_dropped: report.whitespace_dropped,
        }
    }
}

/// The certificate in the signature.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignerView {
    subject: String,
    subject_serial_number: Option<String>,
    issuer: String,
    serial_number: String,
    not_before: Instant,
    not_after: Instant,
    /// Whether it could sign at the time that the document states, or can now when it states none.
    pub(super) serves: bool,
    /// Why it could not.
    #[schema(value_type = Option<String>)]
    reason: Option<Spoken>,
    valid_now: bool,
    /// Whose it is, seen from the taxpayer who made the document: `taxpayer`, `other` (who needs a delegation at the
    /// authority) or `unstated`. Absent when the document does not say who made it.
    owner: Option<&'static str>,
}

impl SignerView {
    pub(super) fn of(
        certificate: &Certificate,
        issuer: Option<&Rnc>,
        signed_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let usable = certificate.check_usable_at(signed_at.unwrap_or(now));
        Self {
            subject: certificate.subject.clone(),
            subject_serial_number: certificate.subject_serial.clone(),
            issuer: certificate.issuer.clone(),
            serial_number: certificate.serial_number.clone(),
            not_before: certificate.not_before.into(),
            not_after: certificate.not_after.into(),
            serves: usable.is_ok(),
            reason: usable.err().map(|error| error.say().into()),
            valid_now: certificate.is_valid_at(now),
            owner: issuer.map(|rnc| match Owner::of(certificate, rnc, &[]) {
                Owner::Taxpayer => "taxpayer",
                Owner::Delegate(_) | Owner::Other(_) => "other",
                Owner::Unstated => "unstated",
            }),
        }
    }
}
