//! Summaries of a company's certificates: the active one on the profile, and the history.
//!
//! The certificates themselves are in the vault. Only the company's profile names the active one. The history has one
//! item per certificate, so a file that is uploaded twice is one entry.

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::Rnc;
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    change::Change,
    companies::{COMPANY, UPDATED_AT, VERIFIED},
    condition::{absent, equals, exists},
    item::{Stored, bytes, flag, instant, text},
    keys::{self, PK, SK},
    write::{Part, Transacted},
};
use crate::{
    StoreError,
    ids::{CertificateId, CompanyId},
};

const SHA256: &str = "cert_sha256";
const ALIAS: &str = "cert_alias";
const SUBJECT: &str = "cert_subject";
const ISSUER: &str = "cert_issuer";
const SERIAL: &str = "cert_serial";
const NOT_BEFORE: &str = "cert_not_before";
const NOT_AFTER: &str = "cert_not_after";
const STORED_AT: &str = "cert_stored_at";

/// The public data of a stored certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateSummary {
    pub sha256: [u8; 32],
    /// The name that the company gave it.
    pub alias: String,
    pub subject: String,
    pub issuer: String,
    pub serial: String,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
    pub stored_at: Timestamp,
}

impl CertificateSummary {
    /// The id of the certificate within its company.
    pub fn id(&self, company: &CompanyId) -> CertificateId {
        CertificateId::of(company, &self.sha256)
    }
}

/// The result of activating a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateActivated {
    Done,
    /// Another verified company has the RNC that was to be claimed; nothing was written.
    RncTaken,
    NoCompany,
}

impl Table {
    /// Records that the vault now has this certificate, and adds it to the history. With `claim`, the certificate also
    /// verifies the company, which takes the RNC.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn activate_certificate(
        &self,
        company: &CompanyId,
        summary: &CertificateSummary,
        claim: Option<&Rnc>,
        now: Timestamp,
    ) -> Result<CertificateActivated, StoreError> {
        let mut profile = Change::of(keys::company(company)).set(UPDATED_AT, instant(now));
        for (name, value) in attributes(summary) {
            profile = profile.set(name, value);
        }
        if claim.is_some() {
            profile = profile.set(VERIFIED, flag(true));
        }
        let mut parts = vec![
            Part::Update(profile.when(exists(PK))),
            Part::Update(history(company, summary)),
        ];
        if let Some(rnc) = claim {
            // The company's own claim does not conflict: the answer to an earlier try may have been lost.
            let owner = Change::of(keys::rnc(rnc.as_str()))
                .set(COMPANY, text(company))
                .when(absent(PK).or(equals(COMPANY, text(company))));
            parts.push(Part::Update(owner));
        }
        match self.transact("activate certificate", parts).await? {
            Transacted::Done => Ok(CertificateActivated::Done),
            Transacted::Refused(refusals) if refusals.first().is_some_and(Option::is_some) => {
                Ok(CertificateActivated::NoCompany)
            }
            Transacted::Refused(_) => Ok(CertificateActivated::RncTaken),
        }
    }

    /// Every certificate that the company ever had, newest first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn certificates(&self, company: &CompanyId) -> Result<Vec<CertificateSummary>, StoreError> {
        let query = Query {
            sort: Sort::BeginsWith(SK, keys::CERTIFICATE.to_owned()),
            consistent: true,
            ..Query::of(keys::company_partition(company))
        };
        let items = self.query("list certificates", query).await?;
        let read = |stored: &Stored| read(stored)?.ok_or_else(|| stored.corrupt(SHA256, "is missing"));
        let mut certificates = items.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        certificates.sort_by_key(|certificate| std::cmp::Reverse((certificate.stored_at, certificate.sha256)));
        Ok(certificates)
    }
}

/// The entry in the history; a repeated write updates it.
pub(super) fn history(company: &CompanyId, summary: &CertificateSummary) -> Change {
    let change = Change::of(keys::certificate(company, &summary.id(company)));
    attributes(summary)
        .into_iter()
        .fold(change, |change, (name, value)| change.set(name, value))
}

/// The attributes on a profile and in the history.
pub(super) fn attributes(summary: &CertificateSummary) -> [(&'static str, AttributeValue); 8] {
    [
        (SHA256, bytes(summary.sha256)),
        (ALIAS, text(&summary.alias)),
        (SUBJECT, text(&summary.subject)),
        (ISSUER, text(&summary.issuer)),
        (SERIAL, text(&summary.serial)),
        (NOT_BEFORE, instant(summary.not_before)),
        (NOT_AFTER, instant(summary.not_after)),
        (STORED_AT, instant(summary.stored_at)),
    ]
}

/// The certificate on an item, if it has one.
pub(super) fn read(stored: &Stored) -> Result<Option<CertificateSummary>, StoreError> {
    let Some(sha256) = stored.opt_hash(SHA256)? else {
        return Ok(None);
    };
    let subject = stored.str(SUBJECT)?;
    Ok(Some(CertificateSummary {
        sha256,
        alias: stored.opt_str(ALIAS)?.unwrap_or(subject).to_owned(),
        subject: subject.to_owned(),
        issuer: stored.str(ISSUER)?.to_owned(),
        serial: stored.str(SERIAL)?.to_owned(),
        not_before: stored.instant(NOT_BEFORE)?,
        not_after: stored.instant(NOT_AFTER)?,
        stored_at: stored.instant(STORED_AT)?,
    }))
}
