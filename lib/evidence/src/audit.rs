//! The audit archive: a ZIP with all evidence of a span of time, streamed while it is built.
//!
//! [`Auditor::plan`] reads the records and computes a hash of the archive's content. [`Auditor::kept`] finds an earlier
//! archive with that hash in the bucket. Otherwise [`Auditor::stream`] builds the archive for a caller and stores a
//! copy, or [`Auditor::keep`] builds it for the bucket alone.
//!
//! Four receipts are processed concurrently. Manifest and index grow on the disk, so memory grows with the ZIP's
//! directory only. The same content gives the same bytes: no time of creation is written into an archive.
//!
//! | file | what |
//! |---|---|
//! | `plan.rs` | what the archive will hold: records, hash, size |
//! | `dossier.rs` | the files of one receipt |
//! | `index.rs`, `sheet.rs`, `readme.txt` | the parts that people read |
//! | `archive.rs`, `growing.rs` | the ZIP, its manifest and signature |
//! | `out.rs` | the destinations: caller and bucket |

mod archive;
mod dossier;
mod growing;
mod index;
mod out;
mod plan;
mod sheet;

use std::io;

use bytes::Bytes;
use ecf_store::{ContentHash, Exports, Identities, StoreError, Table, exports::StoredExport};
use futures::{Stream, StreamExt as _, future::BoxFuture, stream};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use xmldsig::SignError;
use zip::result::ZipError;

use crate::Files;
use archive::Archive;
use dossier::Dossier;
use growing::Growing;
use out::Out;
use plan::{Approvals, Inbox, Walk};
use sheet::Sheet;

pub use plan::{ArchiveRequest, Plan, TooLarge};

const README: &str = include_str!("audit/readme.txt");
/// Receipts that are read, printed and compressed concurrently.
const AT_ONCE: usize = 4;
/// Chunks that are buffered for a slow caller.
const WAITING: usize = 4;

/// Why an archive could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("there is no such company")]
    NoCompany,
    #[error("the company's certificate does not open")]
    Certificate(#[source] StoreError),
    #[error("the manifest was not signed")]
    Sign(#[from] SignError),
    #[error("the disk failed")]
    Disk(#[from] io::Error),
    #[error("the ZIP was not written")]
    Zip(#[from] ZipError),
    #[error("a task broke off")]
    Broken(#[from] JoinError),
    #[error("the archive is larger than {limit_bytes} bytes, of which it was not known before")]
    TooLarge { limit_bytes: u64 },
    #[error("receipts changed while the archive was made")]
    Changed,
    #[error("nobody waits for the archive any more, and it is not kept")]
    Unwanted,
    #[error("the archive's index has remarks")]
    Remarked,
}

/// An archive that is stored in the bucket.
#[derive(Debug, Clone, Copy)]
pub struct Stored {
    /// The name of its object.
    pub name: ContentHash,
    pub size_bytes: u64,
    /// Whether its index remarks that documents are missing or altered.
    pub has_remarks: bool,
}

/// Builds audit archives.
#[derive(Debug, Clone)]
pub struct Auditor {
    table: Table,
    files: Files,
    exports: Exports,
    identities: Identities,
}

impl Auditor {
    /// An auditor of the records in `table` and the documents in `files`. Archives are stored in `exports` and signed
    /// by the company's certificate in `identities`.
    pub fn new(table: Table, files: Files, exports: Exports, identities: Identities) -> Self {
        Self {
            table,
            files,
            exports,
            identities,
        }
    }

    /// An archive with the planned content that was built before, if there is one.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn stored(&self, plan: &Plan) -> Result<Option<StoredExport>, AuditError> {
        Ok(self.exports.find(&plan.request.scope, &plan.content).await?)
    }

    /// The archive as a stream of chunks, built as the caller reads them. The stream ends with an error when the
    /// archive exceeds `limit_bytes`. When the caller disconnects, the upload to the bucket continues.
    pub fn stream(
        self,
        plan: Plan,
        limit_bytes: u64,
    ) -> impl Stream<Item = Result<Bytes, AuditError>> + Send + 'static {
        // Work starts when the first chunk is polled: a caller that needs only the headers drops the stream.
        let begun = async move {
            let (sender, pieces) = mpsc::channel(WAITING);
            let upload = self.exports.begin(&plan.request.scope, &plan.content);
            let out = Out::to_caller(sender, upload, limit_bytes);
            let making = tokio::spawn(self.boxed(plan, out));
            stream::unfold(Some((pieces, making)), piece)
        };
        stream::once(begun).flatten()
    }

    /// Builds the archive for the bucket alone, without a size limit. An archive with remarks is stored under another
    /// name, so that [`Auditor::kept`] does not find it.
    ///
    /// # Errors
    /// Failures of the store, and [`AuditError::Changed`] when receipts changed while the archive was built.
    pub async fn store(self, plan: Plan) -> Result<Stored, AuditError> {
        let (scope, content) = (plan.request.scope, plan.content);
        let out = Out::to_bucket(self.exports.begin(&scope, &content), Worth::Whole);
        match self.clone().boxed(plan.clone(), out).await {
            Err(AuditError::Remarked) => {
                let name = ContentHash::of(format!("{content} with remarks").as_bytes());
                let out = Out::to_bucket(self.exports.begin(&scope, &name), Worth::Remarked);
                Ok(Stored {
                    name,
                    size_bytes: self.boxed(plan, out).await?,
                    has_remarks: true,
                })
            }
            made => Ok(Stored {
                name: content,
                size_bytes: made?,
                has_remarks: false,
            }),
        }
    }

    fn boxed(self, plan: Plan, out: Out) -> BoxFuture<'static, Result<u64, AuditError>> {
        Box::pin(async move {
            let mut archive = Archive::begin(&plan, out)?;
            match self.fill(&plan, &mut archive).await {
                Ok(filled) => archive.finish(plan.signer.as_deref(), filled).await,
                Err(error) => {
                    archive.abort().await;
                    Err(error)
                }
            }
        })
    }

    /// Writes all entries except the manifest.
    async fn fill(&self, plan: &Plan, archive: &mut Archive) -> Result<Worth, AuditError> {
        let mut content = plan.heading.content();
        let mut filled = Filled::begin()?;
        archive.add("README.txt", None, README.as_bytes()).await?;
        for day in &plan.days {
            let mut walk = Walk::of_day(&self.table, &plan.request, *day);
            while let Some(part) = walk.next().await? {
                part.iter().for_each(|receipt| content.receipt(receipt));
                let dossiers = stream::iter(part).map(|receipt| self.clone().issued(receipt, plan.design.clone()));
                filled.take(archive, dossiers.buffered(AT_ONCE)).await?;
            }
        }
        let mut inbox = Inbox::of(&self.table, &plan.request);
        while let Some(part) = inbox.next().await? {
            part.iter().for_each(|received| content.item(received));
            let scope = plan.request.scope;
            let dossiers = stream::iter(part).map(move |received| self.clone().received(scope, received));
            filled.take(archive, dossiers.buffered(AT_ONCE)).await?;
        }
        let mut approvals = Approvals::of(&self.table, &plan.request);
        while let Some(part) = approvals.next().await? {
            part.iter().for_each(|approval| content.approval(approval));
            let scope = plan.request.scope;
            let dossiers = stream::iter(part).map(move |approval| self.clone().approval(scope, approval));
            filled.take(archive, dossiers.buffered(AT_ONCE)).await?;
        }
        if let Some(signer) = &plan.signer {
            filled.sheet.add_signer(signer.certificate());
        }
        for (name, bytes) in filled.sheet.files() {
            archive.add(&name, None, &bytes).await?;
        }
        archive.add_grown("index.csv", filled.index.finish()?).await?;
        Ok(match content.hash() == plan.content {
            false => Worth::Changed,
            true if filled.has_remarks => Worth::Remarked,
            true => Worth::Whole,
        })
    }
}

/// What accumulates while an archive is filled.
struct Filled {
    index: Growing,
    sheet: Sheet,
    has_remarks: bool,
}

/// How complete an archive is, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// The content differs from the plan, because receipts changed meanwhile.
    Changed,
    /// The content is as planned, but the index has remarks. It is not cached: after a repair, the next request must
    /// build a new archive.
    Remarked,
    /// The content is as planned, without remarks.
    Whole,
}

impl Filled {
    fn begin() -> Result<Self, AuditError> {
        let mut index = Growing::new()?;
        index.write(index::HEADING.as_bytes())?;
        let sheet = Sheet::default();
        Ok(Self {
            index,
            sheet,
            has_remarks: false,
        })
    }

    async fn take(
        &mut self,
        archive: &mut Archive,
        dossiers: impl Stream<Item = Result<Dossier, AuditError>>,
    ) -> Result<(), AuditError> {
        let mut dossiers = std::pin::pin!(dossiers);
        while let Some(dossier) = dossiers.next().await {
            let dossier = dossier?;
            self.index.write(dossier.row.line(&dossier.remarks).as_bytes())?;
            self.has_remarks |= !dossier.remarks.is_empty();
            if let Some(certificate) = dossier.certificate {
                self.sheet.add(*certificate);
            }
            for file in dossier.files {
                archive.add(&file.name, Some(dossier.modified), &file.bytes).await?;
            }
        }
        Ok(())
    }
}

/// The receiver of chunks and the task that builds them; `None` after an error was returned.
type Making = Option<(mpsc::Receiver<Bytes>, JoinHandle<Result<u64, AuditError>>)>;

async fn piece(making: Making) -> Option<(Result<Bytes, AuditError>, Making)> {
    let (mut pieces, making) = making?;
    if let Some(piece) = pieces.recv().await {
        return Some((Ok(piece), Some((pieces, making))));
    }
    let failed = match making.await {
        Ok(Ok(_)) => return None,
        Ok(Err(error)) => error,
        Err(error) => error.into(),
    };
    tracing::error!(error = %failed, "an archive ended early");
    Some((Err(failed), None))
}
