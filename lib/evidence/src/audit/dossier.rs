//! The part of an archive that belongs to one receipt: its documents, its line in the index, and remarks about missing
//! documents.
//!
//! A new kind of document becomes one more [`Piece`] in [`Auditor::issued`] or [`Auditor::received`]. Approvals have
//! folders of their own ([`Auditor::approval`]), because their receipts may lie outside the archive.

use std::fmt::Display;

use bytes::Bytes;
use ecf::Document;
use ecf_ri::Format;
use ecf_store::{ArtifactKind, ContentHash, Receipt, Scope, StoreError, approvals::Approval, fiscal_day};
use jiff::Timestamp;
use xmldsig::{Certificate, Limits};

use super::index::Row;
use super::plan::Received;
use super::{AuditError, Auditor};
use crate::design::Prepared;

/// Characters of an id that distinguish receipts with the same number.
const SHORT_ID: usize = 10;

/// The part of an archive that belongs to one receipt.
pub(super) struct Dossier {
    pub(super) files: Vec<Piece>,
    /// The modification time of its files.
    pub(super) modified: Timestamp,
    pub(super) row: Row,
    pub(super) remarks: Vec<String>,
    /// The certificate that signed a receipt that the company issued.
    pub(super) certificate: Option<Box<Certificate>>,
}

/// One file of a receipt.
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) bytes: Bytes,
}

impl Auditor {
    /// A receipt that the company issued: signed XML, summary, print, the authority's answer, and the buyer's messages.
    pub(super) async fn issued(self, receipt: Receipt, design: Prepared) -> Result<Dossier, AuditError> {
        let (mut pieces, mut remarks) = (Vec::new(), Vec::new());
        let document = match receipt.encf() {
            Some(encf) => format!("{}{encf}", receipt.fiscal.company_rnc),
            None => receipt.fiscal.company_rnc.to_string(),
        };
        let folder = folder_of(&receipt);
        let mut add = |kind: ArtifactKind, bytes: Bytes| {
            pieces.push(Piece {
                name: format!("{folder}/{}", kind.file_name(&document)),
                bytes,
            });
        };
        let mut signed_xml = None;
        if let Some(signed) = &receipt.fiscal.signed {
            match self
                .document(&receipt, ArtifactKind::SignedXml, &signed.signed_xml)
                .await?
            {
                Ok(xml) => {
                    add(ArtifactKind::SignedXml, xml.clone());
                    match self.files.print(&receipt, xml.clone(), Format::Letter, &design).await {
                        Ok(printed) => add(ArtifactKind::Ri, printed),
                        Err(error) => {
                            tracing::error!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "a receipt cannot be printed");
                            remarks.push("the receipt cannot be printed".to_owned());
                        }
                    }
                    signed_xml = Some(xml);
                }
                Err(remark) => remarks.push(remark),
            }
            if let Some(hash) = &signed.rfce {
                match self.document(&receipt, ArtifactKind::Rfce, hash).await? {
                    Ok(rfce) => add(ArtifactKind::Rfce, rfce),
                    Err(remark) => remarks.push(remark),
                }
            }
        }
        if let Some(response) = &receipt.taxauth_response {
            add(ArtifactKind::TaxauthResponse, Bytes::from(response.clone()));
        }
        for (kind, hash) in from_buyer(&receipt) {
            match self.document(&receipt, kind, &hash).await? {
                Ok(bytes) => add(kind, bytes),
                Err(remark) => remarks.push(remark),
            }
        }
        let row = Row::issued(&receipt, (!pieces.is_empty()).then_some(&folder));
        let verifying = tokio::task::spawn_blocking(move || {
            let verified = xmldsig::verify(&signed_xml?, &Limits::default()).ok()?;
            Some((Box::new(verified.certificate), name_of_buyer(&verified.document)))
        });
        let (certificate, buyer) = verifying.await?.unzip();
        if receipt.fiscal.signed.is_some() && certificate.is_none() && remarks.is_empty() {
            remarks.push("the signature does not hold".to_owned());
        }
        Ok(Dossier {
            files: pieces,
            modified: receipt.created_at,
            row: row.with_name(buyer.flatten()),
            remarks,
            certificate,
        })
    }

    /// A receipt that the company received: the document, the acknowledgement that was returned, and the company's
    /// approval or rejection.
    pub(super) async fn received(self, scope: Scope, received: Received) -> Result<Dossier, AuditError> {
        let Received { item, answer } = received;
        let (mut pieces, mut remarks) = (Vec::new(), Vec::new());
        let artifacts = self.files.artifacts();
        let document = format!("{}{}", item.rnc_emisor, item.encf);
        let id = item.id.to_string();
        let folder = format!(
            "received/{}/{document}-{}",
            fiscal_day(item.received_at),
            &id[id.len() - SHORT_ID..]
        );
        let mut add = |kind: ArtifactKind, found: Result<Option<Bytes>, StoreError>| {
            match as_kept(kind, &item.id, found)? {
                Ok(bytes) => pieces.push(Piece {
                    name: format!("{folder}/{}", kind.file_name(&document)),
                    bytes,
                }),
                Err(remark) => remarks.push(remark),
            }
            Ok::<_, AuditError>(())
        };
        for (kind, hash) in [
            (ArtifactKind::ReceivedXml, &item.xml),
            (ArtifactKind::Arecf, &item.arecf),
        ] {
            let found = artifacts.received(&scope, item.received_at, &item.id, kind, hash);
            add(kind, found.await)?;
        }
        if let Some(answer) = &answer {
            let (at, id, kind) = (answer.created_at, &answer.approval, ArtifactKind::Acecf);
            add(kind, artifacts.message(&scope, at, id, kind, &answer.acecf).await)?;
        }
        let row = Row::received(&item, answer.as_ref(), &folder);
        Ok(Dossier {
            files: pieces,
            modified: item.received_at,
            row,
            remarks,
            certificate: None,
        })
    }

    /// An approval or rejection: the signed message, and what the authority answered to it.
    pub(super) async fn approval(self, scope: Scope, approval: Approval) -> Result<Dossier, AuditError> {
        let (mut pieces, mut remarks) = (Vec::new(), Vec::new());
        let document = format!("{}{}", approval.rnc_emisor, approval.encf);
        let id = approval.id.to_string();
        let day = fiscal_day(approval.created_at);
        let folder = format!("approvals/{day}/{document}-{}", &id[..SHORT_ID]);
        let name = |kind: ArtifactKind| format!("{folder}/{}", kind.file_name(&document));
        let kind = ArtifactKind::Acecf;
        let artifacts = self.files.artifacts();
        let found = artifacts.message(&scope, approval.created_at, &approval.id, kind, &approval.acecf);
        let found = found.await;
        match as_kept(kind, &approval.id, found)? {
            Ok(bytes) => pieces.push(Piece {
                name: name(kind),
                bytes,
            }),
            Err(remark) => remarks.push(remark),
        }
        if let Some(answer) = &approval.authority_answer {
            pieces.push(Piece {
                name: name(ArtifactKind::TaxauthResponse),
                bytes: Bytes::from(answer.clone()),
            });
        }
        let row = Row::approval(&approval, &folder);
        Ok(Dossier {
            files: pieces,
            modified: approval.created_at,
            row,
            remarks,
            certificate: None,
        })
    }

    async fn document(
        &self,
        receipt: &Receipt,
        kind: ArtifactKind,
        hash: &ContentHash,
    ) -> Result<Result<Bytes, String>, AuditError> {
        let (scope, id) = (&receipt.scope, &receipt.public_id);
        let artifacts = self.files.artifacts();
        let found = artifacts.get(scope, receipt.created_at, id, kind, hash).await;
        as_kept(kind, id, found)
    }
}

/// The buyer's name, as written in the receipt.
fn name_of_buyer(document: &[u8]) -> Option<String> {
    let received = Document::from_xml(document).ok()?;
    let name = received.document.encabezado.comprador.razon_social_comprador?;
    Some(name.to_string())
}

/// The stored document, or a remark for the index when it is missing or altered. Both cases are also logged as errors
/// for operators.
fn as_kept(
    kind: ArtifactKind,
    id: &dyn Display,
    found: Result<Option<Bytes>, StoreError>,
) -> Result<Result<Bytes, String>, AuditError> {
    let kind = kind.as_str();
    match found {
        Ok(Some(bytes)) => Ok(Ok(bytes)),
        Ok(None) => {
            tracing::error!(receipt.id = %id, kind, "a document is not in the bucket");
            Ok(Err(format!("the {kind} is not in the bucket")))
        }
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::error!(receipt.id = %id, kind, error = %ecf_runtime::telemetry::chain(&error), "a document in the bucket was altered");
            Ok(Err(format!(
                "the {kind} in the bucket is not the one that was kept: it was altered"
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// The buyer's acknowledgement, and the buyer's approval or rejection.
pub(super) fn from_buyer(receipt: &Receipt) -> impl Iterator<Item = (ArtifactKind, ContentHash)> {
    let delivery = receipt.buyer.delivery.as_ref();
    let arecf = delivery
        .and_then(|delivery| delivery.arecf)
        .map(|hash| (ArtifactKind::Arecf, hash));
    let acecf = receipt
        .buyer
        .answer
        .as_ref()
        .map(|answer| (ArtifactKind::Acecf, answer.acecf));
    arecf.into_iter().chain(acecf)
}

/// Day, number and the beginning of the id: a number that a rejection freed may have had several receipts.
fn folder_of(receipt: &Receipt) -> String {
    let id = receipt.public_id.to_string();
    let number = receipt.encf().map_or("unnumbered".to_owned(), ToString::to_string);
    format!("issued/{}/{number}-{}", receipt.day(), &id[..SHORT_ID])
}
