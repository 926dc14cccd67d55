//! The public view of a company's certificates. It never contains the P12 file or its PIN.

use ecf::Environment;
use ecf_store::{CompanyId, certificates::CertificateSummary};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::Instant;

const SECONDS_A_DAY: i64 = 86_400;

/// A certificate of a company.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CertificateView {
    /// The same certificate uploaded again has the same id.
    pub public_id: String,
    /// The name given at the upload, else the subject's.
    pub alias: String,
    /// The API key's environment. One certificate serves all of them.
    pub environment: String,
    pub subject_cn: String,
    pub issuer: String,
    pub serial_number: String,
    pub not_before: Instant,
    pub not_after: Instant,
    /// Whether this is the one that signs.
    pub is_active: bool,
    pub uploaded_at: Instant,
    /// Whole days; below zero once it has expired.
    pub days_until_expiry: i64,
}

impl CertificateView {
    /// The view of a certificate for an API key of this environment.
    pub fn of(
        company: &CompanyId,
        summary: CertificateSummary,
        is_active: bool,
        environment: Environment,
        now: Timestamp,
    ) -> Self {
        Self {
            public_id: summary.id(company).to_string(),
            environment: environment.to_string(),
            not_before: summary.not_before.into(),
            not_after: summary.not_after.into(),
            is_active,
            uploaded_at: summary.stored_at.into(),
            days_until_expiry: days_until(summary.not_after, now),
            alias: summary.alias,
            subject_cn: summary.subject,
            issuer: summary.issuer,
            serial_number: summary.serial,
        }
    }
}

/// The certificate that signs for a company, on its profile.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CompanyCertificateView {
    /// Whether it is valid now.
    pub active: bool,
    /// The API key's environment. One certificate serves all of them.
    pub environment: String,
    pub expires_at: Instant,
    /// Whole days; below zero once it has expired.
    pub days_until_expiry: i64,
    pub subject_cn: String,
    pub serial_number: String,
}

impl CompanyCertificateView {
    /// The view of the active certificate for an API key of this environment.
    pub fn of(summary: &CertificateSummary, environment: Environment, now: Timestamp) -> Self {
        Self {
            active: summary.not_before <= now && now <= summary.not_after,
            environment: environment.to_string(),
            expires_at: summary.not_after.into(),
            days_until_expiry: days_until(summary.not_after, now),
            subject_cn: summary.subject.clone(),
            serial_number: summary.serial.clone(),
        }
    }
}

fn days_until(instant: Timestamp, now: Timestamp) -> i64 {
    instant.duration_since(now).as_secs().div_euclid(SECONDS_A_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole_and_go_below_zero_with_the_first_second_after_the_end() {
        let end: Timestamp = "2026-11-28T12:00:00Z".parse().unwrap();
        for (now, days) in [
            ("2026-11-26T11:59:59Z", 2),
            ("2026-11-27T12:00:00Z", 1),
            ("2026-11-28T12:00:00Z", 0),
            ("2026-11-28T12:00:01Z", -1),
        ] {
            assert_eq!(days_until(end, now.parse().unwrap()), days, "{now}");
        }
    }
}
