//! The printed representation of a receipt, as a file that is kept.
//!
//! It is made of frozen bytes, so nothing on the receipt says where it is: the name of the object carries all that it was made
//! of. What was made of the same things is found again, and what changes one of them (contingency, a rejection, the company's design, our layouts)
//! leads to another object.

use bytes::Bytes;
use ecf::StampHosts;
use ecf_ri::{Format, Mode, Options, RiError};
use ecf_store::{ArtifactKind, Artifacts, CompanyId, ContentHash, Receipt, Signed, StoreError, Table};

use crate::design::{self, Prepared};

/// On what a receipt is to be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paper {
    pub format: Format,
    /// Made anew, even if it is kept.
    pub refresh: bool,
}

/// Why there is no printed representation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrintError {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("the signed XML of {0} is not in the bucket")]
    Missing(ecf_store::ReceiptId),
    #[error("the receipt cannot be printed")]
    Ri(#[from] RiError),
    #[error("printing broke off")]
    Broken(#[from] tokio::task::JoinError),
}

/// The files of receipts.
#[derive(Debug, Clone)]
pub struct Files {
    table: Table,
    artifacts: Artifacts,
    stamp_hosts: StampHosts,
}

impl Files {
    /// Files in this bucket, printed as the companies in the table want it; stamps point at these hosts.
    pub fn new(table: Table, artifacts: Artifacts, stamp_hosts: StampHosts) -> Self {
        Self {
            table,
            artifacts,
            stamp_hosts,
        }
    }

    pub(crate) async fn design(&self, company: &CompanyId) -> Result<Prepared, StoreError> {
        design::prepare(&self.table, &self.artifacts, company).await
    }

    pub(crate) fn stamp_hosts(&self) -> &StampHosts {
        &self.stamp_hosts
    }

    /// The bucket.
    pub fn artifacts(&self) -> &Artifacts {
        &self.artifacts
    }

    /// The printed representation: the one that is kept, or a new one, which is kept.
    ///
    /// # Errors
    /// Failures of the store, and a document that cannot be printed, which issuing would not have signed.
    pub async fn printed(&self, receipt: &Receipt, signed: &Signed, paper: Paper) -> Result<Bytes, PrintError> {
        let (scope, created_at, id) = (&receipt.scope, receipt.created_at, &receipt.public_id);
        let design = self.design(&scope.company).await?;
        let name = self.name(receipt, signed, paper.format, &design);
        if !paper.refresh
            && let Some(kept) = self.artifacts.printed(scope, created_at, id, &name).await?
        {
            return Ok(kept);
        }
        let xml = self
            .artifacts
            .get(scope, created_at, id, ArtifactKind::SignedXml, &signed.signed_xml);
        let xml = xml.await?.ok_or(PrintError::Missing(*id))?;
        let printed = self.print(receipt, xml, paper.format, &design).await?;
        self.artifacts
            .put_printed(scope, created_at, id, &name, printed.clone())
            .await?;
        Ok(printed)
    }

    /// The name under which [`Files::printed`] keeps it.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn printed_name(
        &self,
        receipt: &Receipt,
        signed: &Signed,
        paper: Paper,
    ) -> Result<ContentHash, StoreError> {
        let design = self.design(&receipt.scope.company).await?;
        Ok(self.name(receipt, signed, paper.format, &design))
    }

    /// Makes it from the signed bytes, beside the tasks that wait for others: it is nothing but computing.
    pub(crate) async fn print(
        &self,
        receipt: &Receipt,
        xml: Bytes,
        format: Format,
        design: &Prepared,
    ) -> Result<Bytes, PrintError> {
        let (environment, mode) = (receipt.scope.environment, mode(receipt));
        let (hosts, design) = (self.stamp_hosts.clone(), design.design.clone());
        let printing = tokio::task::spawn_blocking(move || {
            let options = Options {
                environment,
                hosts: &hosts,
                format,
                mode,
                design: &design,
            };
            ecf_ri::render(&xml, &options)
        });
        Ok(printing.await??.into())
    }

    /// All that it is made of, as the name under which it is kept.
    fn name(&self, receipt: &Receipt, signed: &Signed, format: Format, design: &Prepared) -> ContentHash {
        ContentHash::of_parts([
            b"ri".as_slice(),
            ecf_ri::EDITION.as_bytes(),
            signed.signed_xml.as_bytes(),
            self.stamp_hosts.ecf.as_bytes(),
            self.stamp_hosts.fc.as_bytes(),
            format.as_str().as_bytes(),
            mode(receipt).as_str().as_bytes(),
            design.hash.as_bytes(),
        ])
    }
}

/// What became of the receipt, which only the record knows.
fn mode(receipt: &Receipt) -> Mode {
    Mode::of(receipt.state, receipt.circumstances())
}
