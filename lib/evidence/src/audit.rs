//! The audit archive: a ZIP with all evidence of a span of time, written while it is made.
//!
//! [`Auditor::plan`] goes through the records and knows the hash of all that the archive will say. An archive of that content is found
//! in the bucket ([`Auditor::kept`]); otherwise [`Auditor::stream`] makes it for a caller and keeps it on the way, or
//! [`Auditor::keep`] makes it for the bucket alone. A few receipts are under way at a time, and
//! manifest and index grow on the disk: memory grows by the ZIP's directory alone. The same content gives the same bytes: nothing in an archive says
//! when it was made.
//!
//! | file | what |
//! |---|---|
//! | `plan.rs` | what there is, its hash, its size |
//! | `dossier.rs` | what the archive holds of one receipt |
//! | `index.rs`, `sheet.rs`, `readme.txt` | what it holds for people |
//! | `archive.rs`, `growing.rs` | the ZIP, its manifest and signature |
//! | `out.rs` | where it goes |

mod archive;
mod dossier;
mod growing;
mod index;
mod out;
mod plan;
mod sheet;

use std::io;

use bytes::Bytes;
use ecf_store::{ContentHash, Exports, Identities, KeptExport, StoreError, Table};
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

pub use plan::{Order, Plan, TooLarge};

const README: &str = include_str!("audit/readme.txt");
/// Receipts that are read, printed and packed at the same time.
const AT_ONCE: usize = 4;
/// Pieces that wait for a slow caller.
const WAITING: usize = 4;

/// Why there is no archive.
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

/// An archive in the bucket.
#[derive(Debug, Clone, Copy)]
pub struct Stored {
    /// What its object is named by.
    pub name: ContentHash,
    pub size_bytes: u64,
    /// Its index remarks documents that are missing or altered.
    pub has_remarks: bool,
}

/// Makes archives.
#[derive(Debug, Clone)]
pub struct Auditor {
    table: Table,
    files: Files,
    exports: Exports,
    identities: Identities,
}

impl Auditor {
    /// Whose records and documents there are, where archives are kept, and who signs them.
    pub fn new(table: Table, files: Files, exports: Exports, identities: Identities) -> Self {
        Self {
            table,
            files,
            exports,
            identities,
        }
    }

    /// The archive of this content, if it was made before.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn kept(&self, plan: &Plan) -> Result<Option<KeptExport>, AuditError> {
        Ok(self.exports.find(&plan.order.scope, &plan.content).await?)
    }

    /// The archive in pieces, made as they are taken. It breaks off with an error when it would be longer than the limit, and goes on into the
    /// bucket when its reader goes.
    pub fn stream(
        self,
        plan: Plan,
        limit_bytes: u64,
    ) -> impl Stream<Item = Result<Bytes, AuditError>> + Send + 'static {
        // Nothing is begun before the first piece is asked for: whoever wants the headers alone drops this.
        let begun = async move {
            let (sender, pieces) = mpsc::channel(WAITING);
            let upload = self.exports.begin(&plan.order.scope, &plan.content);
            let out = Out::to_caller(sender, upload, limit_bytes);
            let making = tokio::spawn(self.boxed(plan, out));
            stream::unfold(Some((pieces, making)), piece)
        };
        stream::once(begun).flatten()
    }

    /// Makes the archive for the bucket alone, of any size. One with remarks gets a name by which [`Auditor::kept`] does not find it.
    ///
    /// # Errors
    /// Failures of the store, and [`AuditError::Changed`] when the receipts were others at the end.
    pub async fn keep(self, plan: Plan) -> Result<Stored, AuditError> {
        let (scope, content) = (plan.order.scope, plan.content);
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

    /// Writes everything but manifest and directory.
    async fn fill(&self, plan: &Plan, archive: &mut Archive) -> Result<Worth, AuditError> {
        let mut content = plan.heading.content();
        let mut filled = Filled::begin()?;
        archive.add("README.txt", None, README.as_bytes()).await?;
        for day in &plan.days {
            let mut walk = Walk::of_day(&self.table, &plan.order, *day);
            while let Some(part) = walk.next().await? {
                part.iter().for_each(|receipt| content.receipt(receipt));
                let dossiers = stream::iter(part).map(|receipt| self.clone().issued(receipt, plan.design.clone()));
                filled.take(archive, dossiers.buffered(AT_ONCE)).await?;
            }
        }
        let mut inbox = Inbox::of(&self.table, &plan.order);
        while let Some(part) = inbox.next().await? {
            part.iter().for_each(|received| content.item(received));
            let scope = plan.order.scope;
            let dossiers = stream::iter(part).map(move |received| self.clone().received(scope, received));
            filled.take(archive, dossiers.buffered(AT_ONCE)).await?;
        }
        let mut approvals = Approvals::of(&self.table, &plan.order);
        while let Some(part) = approvals.next().await? {
            part.iter().for_each(|approval| content.approval(approval));
            let scope = plan.order.scope;
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

/// What comes together while an archive is filled.
struct Filled {
    index: Growing,
    sheet: Sheet,
    has_remarks: bool,
}

/// What a filled archive is worth, from nothing to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// It is not what was planned, because receipts changed meanwhile.
    Changed,
    /// It is what was planned, but for what its index remarks. Who mends that and asks again wants another.
    Remarked,
    /// It is what was planned.
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

/// The pieces that are on their way, and who makes them; nothing after a failure was told.
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
    tracing::error!(error = %failed, "an archive broke off");
    Some((Err(failed), None))
}
