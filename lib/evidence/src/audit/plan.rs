//! What an archive will hold, determined before it is built. An earlier archive with the same content is found in the
//! bucket, and an archive above the size limit is refused.

use std::sync::Arc;

use ecf::SANTO_DOMINGO;
use ecf_store::{
    CompanyId, ContentHash, InboxId, Receipt, Scope, StoreError, Table,
    approvals::{Approval, GivenAnswer},
    fiscal_day,
    inbox::InboxItem,
    receipts::Span,
};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use sha2::{Digest, Sha256};
use xmldsig::Identity;

use super::dossier::from_buyer;
use super::index::{self, Row};
use super::{AuditError, Auditor, README};
use crate::design::Prepared;

/// Estimated bytes of one issued and one received receipt in an archive, print included. A receipt with one line takes
/// 28 KB, most of it the fonts of the print.
const RECEIPT_BYTES: u64 = 36 * 1024;
const RECEIVED_BYTES: u64 = 4 * 1024;
const APPROVAL_BYTES: u64 = 4 * 1024;
/// Items of the inbox that are read in one page.
pub(super) const INBOX_PART: usize = 100;
/// Approvals that are read in one page.
const APPROVALS_PART: usize = 100;
/// Upper bound of the ranges that are proposed when an archive is too large.
const MOST_RANGES: usize = 120;

/// The evidence that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveRequest {
    pub scope: Scope,
    /// Filters by the instant of creation, or of receipt.
    pub span: Span,
}

/// An archive above the size limit, and smaller spans that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge {
    pub estimated_bytes: u64,
    /// Together they cover the whole span, unless there are more than 120.
    pub ranges: Vec<Span>,
}

/// What an archive will hold.
#[derive(Debug, Clone)]
pub struct Plan {
    pub request: ArchiveRequest,
    pub rnc: String,
    pub name: String,
    pub receipts: u64,
    pub received: u64,
    pub approvals: u64,
    /// The hash of everything that the archive will say.
    pub content: ContentHash,
    /// Days with receipts.
    pub(super) days: Vec<Date>,
    pub(super) signer: Option<Arc<Identity>>,
    pub(super) heading: Heading,
    pub(super) design: Prepared,
}

/// The hash state of the data that precede the receipts.
#[derive(Debug, Clone)]
pub(super) struct Heading(Sha256);

/// A receipt that the company received, and the company's answer.
pub(super) struct Received {
    pub(super) item: InboxItem,
    pub(super) answer: Option<GivenAnswer>,
}

/// The hash state while records are added.
pub(super) struct Content(Sha256);

impl Heading {
    pub(super) fn content(&self) -> Content {
        Content(self.0.clone())
    }
}

impl Content {
    pub(super) fn receipt(&mut self, receipt: &Receipt) {
        let signed = receipt.fiscal.signed.as_ref();
        let documents = signed.map(|signed| signed.signed_xml).into_iter();
        let documents = documents.chain(signed.and_then(|signed| signed.rfce));
        let documents = documents.chain(from_buyer(receipt).map(|(_, hash)| hash));
        let mut parts = vec![b"issued".to_vec()];
        parts.extend(Row::issued(receipt, None).cells().map(<[u8]>::to_vec));
        parts.extend(documents.map(|hash| hash.as_bytes().to_vec()));
        parts.push(receipt.taxauth_response.clone().unwrap_or_default().into_bytes());
        self.parts(&parts);
    }

    pub(super) fn item(&mut self, Received { item, answer }: &Received) {
        let mut parts = vec![b"received".to_vec()];
        parts.extend(Row::received(item, answer.as_ref(), "").cells().map(<[u8]>::to_vec));
        let answer = answer.map(|answer| answer.acecf);
        let documents = [item.xml, item.arecf].into_iter().chain(answer);
        parts.extend(documents.map(|hash| hash.as_bytes().to_vec()));
        self.parts(&parts);
    }

    pub(super) fn approval(&mut self, approval: &Approval) {
        let mut parts = vec![b"approval".to_vec()];
        parts.extend(Row::approval(approval, "").cells().map(<[u8]>::to_vec));
        parts.push(approval.acecf.as_bytes().to_vec());
        parts.push(approval.authority_answer.clone().unwrap_or_default().into_bytes());
        self.parts(&parts);
    }

    pub(super) fn hash(self) -> ContentHash {
        ContentHash::from_bytes(self.0.finalize().into())
    }

    fn parts(&mut self, parts: &[Vec<u8>]) {
        let parts = parts.iter().map(Vec::as_slice);
        self.0.update(ContentHash::of_parts(parts).as_bytes());
    }
}

impl Auditor {
    /// Smaller spans that fit, when the estimate exceeds `limit_bytes`. Reads only counts.
    ///
    /// # Errors
    /// Failures of the store, or an unknown company.
    pub async fn too_large(
        &self,
        request: &ArchiveRequest,
        limit_bytes: u64,
        now: Timestamp,
    ) -> Result<Option<TooLarge>, AuditError> {
        let (_, days) = self.days(request, now).await?;
        let counted = self.counted(request, &days).await?;
        let estimated_bytes = counted.iter().map(|(_, bytes)| bytes).sum();
        if estimated_bytes <= limit_bytes {
            return Ok(None);
        }
        let ranges = split(&request.span, &counted, limit_bytes);
        Ok(Some(TooLarge {
            estimated_bytes,
            ranges,
        }))
    }

    /// Reads the records, but no document.
    ///
    /// # Errors
    /// Failures of the store, an unknown company, or a certificate that cannot be opened.
    pub async fn plan(&self, request: ArchiveRequest, now: Timestamp) -> Result<Plan, AuditError> {
        let (company, all_days) = self.days(&request, now).await?;
        let signer = self.signer(&request.scope.company, now).await?;
        let fingerprint = signer.as_ref().map(|signer| signer.certificate().sha256_fingerprint);
        let instant = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
        let hosts = self.files.stamp_hosts();
        let design = self.files.design(&request.scope.company).await?;
        let heading = ContentHash::of_parts(
            [
                "audit/2",
                ecf_ri::EDITION,
                README,
                request.scope.environment.as_str(),
                company.rnc.as_str(),
                &company.name,
                &instant(request.span.from),
                &instant(request.span.to),
                &hosts.ecf,
                &hosts.fc,
            ]
            .map(str::as_bytes)
            .into_iter()
            .chain([design.hash.as_bytes().as_slice()])
            .chain(fingerprint.as_ref().map(<[u8; 32]>::as_slice)),
        );
        let heading = Heading(Sha256::new_with_prefix(heading.as_bytes()));
        let mut content = heading.content();
        let (mut days, mut receipts, mut received, mut approvals) = (Vec::new(), 0, 0, 0);
        for day in all_days {
            let before = receipts;
            let mut walk = Walk::of_day(&self.table, &request, day);
            while let Some(part) = walk.next().await? {
                receipts += part.len() as u64;
                part.iter().for_each(|receipt| content.receipt(receipt));
            }
            if receipts > before {
                days.push(day);
            }
        }
        let mut walk = Inbox::of(&self.table, &request);
        while let Some(part) = walk.next().await? {
            received += part.len() as u64;
            part.iter().for_each(|item| content.item(item));
        }
        let mut walk = Approvals::of(&self.table, &request);
        while let Some(part) = walk.next().await? {
            approvals += part.len() as u64;
            part.iter().for_each(|approval| content.approval(approval));
        }
        Ok(Plan {
            request,
            rnc: company.rnc.to_string(),
            name: index::visible(&company.name),
            receipts,
            received,
            approvals,
            content: content.hash(),
            days,
            signer,
            heading,
            design,
        })
    }

    /// The company, and every day of the span on which it may have receipts.
    async fn days(
        &self,
        request: &ArchiveRequest,
        now: Timestamp,
    ) -> Result<(ecf_store::companies::Company, Vec<Date>), AuditError> {
        let company = self.table.company(&request.scope.company).await?;
        let company = company.ok_or(AuditError::NoCompany)?;
        let first = fiscal_day(company.created_at);
        let first = request.span.from.map_or(first, |from| fiscal_day(from).max(first));
        // The clock of another process may be ahead of this one.
        let last = fiscal_day(now) + 1.day();
        let last = request.span.to.map_or(last, |to| fiscal_day(to).min(last));
        let days = std::iter::successors(Some(first), |day| day.tomorrow().ok());
        Ok((company, days.take_while(|day| *day <= last).collect()))
    }

    /// The estimated bytes of each day with receipts.
    async fn counted(&self, request: &ArchiveRequest, days: &[Date]) -> Result<Vec<(Date, u64)>, AuditError> {
        let ArchiveRequest { scope, span } = request;
        let (Some(first), Some(last)) = (days.first(), days.last()) else {
            return Ok(Vec::new());
        };
        let counters = self.table.day_counts(scope, *first, *last).await?;
        let has_inbox = self.table.count_inbox(scope, span).await? > 0;
        let has_approvals = self.table.count_approvals(scope, span).await? > 0;
        let mut counted = Vec::new();
        for day in days {
            let counter = counters.iter().find(|counts| counts.day == *day);
            let is_cut = span.cuts(*day);
            let issued = match counter {
                // A day that the span cuts is counted by its index.
                _ if is_cut => self.table.count_within(scope, span, *day).await? as u64,
                Some(counts) => counts.created.values().sum(),
                None => 0,
            };
            let received = if has_inbox {
                let within = within_day(span, *day);
                self.table.count_inbox(scope, &within).await? as u64
            } else {
                0
            };
            let approvals = if has_approvals {
                let within = within_day(span, *day);
                self.table.count_approvals(scope, &within).await? as u64
            } else {
                0
            };
            let bytes = issued * RECEIPT_BYTES + received * RECEIVED_BYTES + approvals * APPROVAL_BYTES;
            if bytes > 0 {
                counted.push((*day, bytes));
            }
        }
        Ok(counted)
    }

    async fn signer(&self, company: &CompanyId, now: Timestamp) -> Result<Option<Arc<Identity>>, AuditError> {
        // An expired certificate still identifies the company.
        match self.identities.of(company, now).await {
            Ok(signer) => Ok(signer),
            Err(error @ StoreError::Corrupt { .. }) => Err(AuditError::Certificate(error)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The receipts of a day, page by page.
pub(super) struct Walk<'t> {
    table: &'t Table,
    request: ArchiveRequest,
    day: Date,
    /// Where the next page begins; `None`: all pages were read.
    at: Option<Option<String>>,
}

impl<'t> Walk<'t> {
    pub(super) fn of_day(table: &'t Table, request: &ArchiveRequest, day: Date) -> Self {
        Self {
            table,
            request: *request,
            day,
            at: Some(None),
        }
    }

    pub(super) async fn next(&mut self) -> Result<Option<Vec<Receipt>>, StoreError> {
        let Some(after) = self.at.take() else {
            return Ok(None);
        };
        let ArchiveRequest { scope, span } = &self.request;
        let part = self
            .table
            .walk_receipts(scope, span, self.day, after.as_deref())
            .await?;
        self.at = part.next.map(Some);
        Ok(Some(part.receipts))
    }
}

/// The inbox, page by page.
pub(super) struct Inbox<'t> {
    table: &'t Table,
    request: ArchiveRequest,
    at: Option<Option<InboxId>>,
}

impl<'t> Inbox<'t> {
    pub(super) fn of(table: &'t Table, request: &ArchiveRequest) -> Self {
        Self {
            table,
            request: *request,
            at: Some(None),
        }
    }

    pub(super) async fn next(&mut self) -> Result<Option<Vec<Received>>, StoreError> {
        let Some(after) = self.at.take() else {
            return Ok(None);
        };
        let ArchiveRequest { scope, span } = &self.request;
        let part = self.table.walk_inbox(scope, span, after.as_ref(), INBOX_PART).await?;
        if part.len() == INBOX_PART {
            self.at = part.last().map(|last| Some(last.id));
        }
        let numbers = part.iter().map(|item| (item.rnc_emisor.clone(), item.encf));
        let answers = self.table.given_answers(scope, numbers.collect()).await?;
        let received = part.into_iter().zip(answers);
        Ok(Some(received.map(|(item, answer)| Received { item, answer }).collect()))
    }
}

/// The approvals, page by page.
pub(super) struct Approvals<'t> {
    table: &'t Table,
    request: ArchiveRequest,
    /// The item before the next page; `None`: all pages were read.
    at: Option<Option<Approval>>,
}

impl<'t> Approvals<'t> {
    pub(super) fn of(table: &'t Table, request: &ArchiveRequest) -> Self {
        Self {
            table,
            request: *request,
            at: Some(None),
        }
    }

    pub(super) async fn next(&mut self) -> Result<Option<Vec<Approval>>, StoreError> {
        let Some(after) = self.at.take() else {
            return Ok(None);
        };
        let ArchiveRequest { scope, span } = &self.request;
        let walked = self.table.walk_approvals(scope, span, after.as_ref(), APPROVALS_PART);
        let part = walked.await?;
        if part.len() == APPROVALS_PART {
            self.at = part.last().map(|last| Some(last.clone()));
        }
        Ok(Some(part))
    }
}

/// Spans of whole days that fit; a day that is too large itself is cut into even parts.
fn split(span: &Span, counted: &[(Date, u64)], limit_bytes: u64) -> Vec<Span> {
    let mut ranges: Vec<Span> = Vec::new();
    let mut filled = 0;
    for (day, bytes) in counted {
        let of_day = within_day(span, *day);
        if *bytes > limit_bytes {
            ranges.extend(even_parts(&of_day, bytes.div_ceil(limit_bytes)));
            filled = limit_bytes;
        } else {
            match ranges.last_mut() {
                Some(last) if filled + bytes <= limit_bytes => {
                    last.to = of_day.to;
                    filled += bytes;
                }
                _ => {
                    ranges.push(of_day);
                    filled = *bytes;
                }
            }
        }
    }
    ranges.truncate(MOST_RANGES);
    ranges
}

/// The part of the span that lies on the day.
fn within_day(span: &Span, day: Date) -> Span {
    let begins = |day: Date| SANTO_DOMINGO.to_timestamp(day.at(0, 0, 0, 0)).ok();
    let first = begins(day);
    let last = day
        .tomorrow()
        .ok()
        .and_then(begins)
        .map(|next| next - SignedDuration::from_millis(1));
    Span {
        from: first.max(span.from),
        to: match (last, span.to) {
            (Some(last), Some(to)) => Some(last.min(to)),
            (last, to) => last.or(to),
        },
    }
}

fn even_parts(span: &Span, count: u64) -> Vec<Span> {
    let (Some(from), Some(to)) = (span.from, span.to) else {
        return vec![*span];
    };
    let (first, last) = (from.as_millisecond(), to.as_millisecond() + 1);
    let count = i64::try_from(count).unwrap_or(i64::MAX).clamp(1, (last - first).max(1));
    let bound = |place: i64| {
        let millis = i128::from(first) + i128::from(last - first) * i128::from(place) / i128::from(count);
        i64::try_from(millis)
            .ok()
            .and_then(|millis| Timestamp::from_millisecond(millis).ok())
    };
    let part = |place| Span {
        from: bound(place),
        to: bound(place + 1).map(|next| next - SignedDuration::from_millis(1)),
    };
    (0..count).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(bytes: &[u64]) -> Vec<(Date, u64)> {
        let first = "2026-11-01".parse::<Date>().unwrap();
        bytes
            .iter()
            .enumerate()
            .map(|(place, bytes)| (first + i32::try_from(place).unwrap().days(), *bytes))
            .collect()
    }

    fn in_words(ranges: &[Span]) -> Vec<String> {
        let word = |at: Option<Timestamp>| at.map_or("…".to_owned(), |at| at.to_string());
        ranges
            .iter()
            .map(|range| format!("{} {}", word(range.from), word(range.to)))
            .collect()
    }

    #[test]
    fn days_are_put_together_as_long_as_they_fit() {
        let ranges = split(&Span::default(), &days(&[40, 50, 60, 100, 1]), 100);
        assert_eq!(
            in_words(&ranges),
            [
                "2026-11-01T04:00:00Z 2026-11-03T03:59:59.999Z",
                "2026-11-03T04:00:00Z 2026-11-04T03:59:59.999Z",
                "2026-11-04T04:00:00Z 2026-11-05T03:59:59.999Z",
                "2026-11-05T04:00:00Z 2026-11-06T03:59:59.999Z",
            ]
        );
    }

    #[test]
    fn a_day_that_does_not_fit_is_cut_and_the_ends_of_the_span_are_kept() {
        let span = Span {
            from: Some("2026-11-01T12:00:00Z".parse().unwrap()),
            to: Some("2026-11-02T11:00:00Z".parse().unwrap()),
        };
        let ranges = split(&span, &days(&[250, 30]), 100);
        assert_eq!(
            in_words(&ranges),
            [
                "2026-11-01T12:00:00Z 2026-11-01T17:19:59.999Z",
                "2026-11-01T17:20:00Z 2026-11-01T22:39:59.999Z",
                "2026-11-01T22:40:00Z 2026-11-02T03:59:59.999Z",
                "2026-11-02T04:00:00Z 2026-11-02T11:00:00Z",
            ]
        );
    }
}
