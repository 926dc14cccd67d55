//! The printed representation of a receipt, as a file that is stored.
//!
//! It is derived from immutable data, so the receipt's record does not refer to it: the object's name is the hash of
//! all inputs. The same inputs find the same object. When an input changes (contingency, a rejection, the company's
//! design, our layouts), the name changes too.

use bytes::Bytes;
use ecf::StampHosts;
use ecf_ri::{Format, Mode, Options, RiError};
use ecf_store::{ArtifactKind, Artifacts, CompanyId, ContentHash, Receipt, StoreError, Table, receipts::Signed};

use crate::design::{self, Prepared};

/// The paper on which a receipt is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paper {
    pub format: Format,
    /// Print again even if a stored print exists.
    pub refresh: bool,
}

/// Why a receipt could not be printed.
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

/// The stored documents and prints of receipts.
#[derive(Debug, Clone)]
pub struct Files {
    table: Table,
    artifacts: Artifacts,
    stamp_hosts: StampHosts,
}

impl Files {
    /// Files in the bucket `artifacts`, printed with the designs in `table`; stamps point to `stamp_hosts`.
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

    /// The stored print, or a new one that is then stored.
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

    /// The name under which [`Files::printed`] stores the print.
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

    /// Prints the signed bytes on a blocking thread, because it is pure computation.
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

    /// The hash of all inputs: the name of the stored print.
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

/// How the print is marked. Only the record states it, not the document.
fn mode(receipt: &Receipt) -> Mode {
    Mode::of(receipt.state, receipt.circumstances())
}
