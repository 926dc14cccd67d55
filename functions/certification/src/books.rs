//! The workbooks of a run, read and judged.
//!
//! They are judged as of the day on which the run began, so a workbook that could be sent on that day remains usable. A
//! process reads each workbook once.

use std::num::NonZeroUsize;
use std::sync::Arc;

use ecf::{Fecha, Rnc};
use ecf_store::{
    ArtifactKind, Artifacts, ContentHash, Recent, RunId, Scope, StoreError,
    runs::{Run, RunKind},
};
use ecf_workbook::run::{Entry, RowState, Which};
use ecf_workbook::simulation::{Data, Planned, Unusable, plan};
use ecf_workbook::{Approvals, Criteria, Findings, Phase, Suite};
use jiff::{SignedDuration, Timestamp};

/// Upper bound of the runs whose workbooks a process holds in memory; a workbook takes a few megabytes.
const MOST_RUNS: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");
const LIFE: SignedDuration = SignedDuration::from_hours(1);

/// The workbooks that were read last.
#[derive(Clone)]
pub(crate) struct Books {
    read: Recent<RunId, Arc<Book>>,
}

impl Default for Books {
    fn default() -> Self {
        Self {
            read: Recent::new(MOST_RUNS, LIFE),
        }
    }
}

/// Where the documents of a run come from.
#[derive(Debug)]
pub(crate) enum Content {
    /// The workbooks.
    Data { suite: Suite, approvals: Option<Approvals> },
    /// The company's own data.
    Simulation(Vec<Planned>),
}

/// The documents of a run.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) content: Content,
    /// All documents in the order of sending, each with its row.
    documents: Vec<Document>,
}

/// One document of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document {
    pub(crate) phase: Phase,
    pub(crate) which: Which,
    /// The row in its sheet, as the spreadsheet counts; the place in a simulation, from 1.
    pub(crate) row: u32,
    pub(crate) awaits: Option<Which>,
}

impl Document {
    /// The name of the kind in responses and events.
    pub(crate) fn kind(&self) -> &'static str {
        match self.phase {
            Phase::Receipts | Phase::Notes => "ecf",
            Phase::Summaries if self.which.receipt_type().is_note() => "ecf",
            Phase::Summaries => "rfce",
            Phase::Uploads => "upload",
            Phase::Approvals => "acecf",
        }
    }
}

impl Book {
    /// Combines both workbooks.
    pub(crate) fn new(suite: Suite, approvals: Option<Approvals>) -> Self {
        let mut documents: Vec<Document> = suite
            .order()
            .into_iter()
            .map(|step| Document {
                phase: step.phase,
                which: Which::Prescribed(step.encf),
                row: step.row,
                awaits: step.awaits.map(Which::Prescribed),
            })
            .collect();
        let approvals_of = approvals.iter().flat_map(|book| &book.approvals);
        documents.extend(approvals_of.map(|approval| Document {
            phase: Phase::Approvals,
            which: Which::Prescribed(approval.encf()),
            row: approval.row(),
            awaits: None,
        }));
        Self {
            content: Content::Data { suite, approvals },
            documents,
        }
    }

    /// The receipts of a simulation.
    ///
    /// # Errors
    /// Why the data cannot be used.
    pub(crate) fn simulated(data: &Data, criteria: &Criteria) -> Result<Self, Unusable> {
        let plan = plan(data, criteria.environment, criteria.today)?;
        let count = |place: usize| u32::try_from(place + 1).unwrap_or(u32::MAX);
        let which = |place: usize| Which::Simulated(count(place), plan[place].receipt_type);
        let document = |(place, one): (usize, &Planned)| {
            // A person uploads the full invoice of a summary, which is the same receipt.
            let place = one.invoice_of.unwrap_or(place);
            Document {
                phase: one.phase,
                which: which(place),
                row: count(place),
                awaits: one.modifies.or(one.invoice_of).map(which),
            }
        };
        let documents = plan.iter().enumerate().map(document).collect();
        Ok(Self {
            content: Content::Simulation(plan),
            documents,
        })
    }

    /// The documents in the order of sending.
    pub(crate) fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The entries of a run, all of them waiting.
    pub(crate) fn entries(&self, run: &Run) -> Vec<Entry> {
        let tries = |place: usize| {
            let place = u32::try_from(place).ok()?;
            run.progress.tries.get(&place).copied()
        };
        let documents = self.documents.iter().enumerate();
        documents
            .map(|(place, document)| Entry {
                phase: document.phase,
                which: document.which,
                tries: tries(place).unwrap_or_default(),
                state: RowState::Waiting,
                is_numbered: false,
            })
            .collect()
    }
}

/// The criteria of a run that began at this instant.
pub(crate) fn criteria(scope: &Scope, rnc: &Rnc, begun_at: Timestamp) -> Criteria {
    Criteria {
        company: Some(rnc.clone()),
        environment: scope.environment,
        today: Fecha::at(begun_at),
    }
}

impl Books {
    /// Caches the workbooks of a run that begins.
    pub(crate) fn insert(&self, run: RunId, book: Book, now: Timestamp) -> Arc<Book> {
        let book = Arc::new(book);
        self.read.insert(run, book.clone(), now);
        book
    }

    /// The workbooks of a run.
    ///
    /// # Errors
    /// Fails when S3 fails, or when a workbook is missing or cannot be read any more.
    pub(crate) async fn of(
        &self,
        artifacts: &Artifacts,
        scope: &Scope,
        rnc: &Rnc,
        run: &Run,
        now: Timestamp,
    ) -> Result<Arc<Book>, StoreError> {
        if let Some(book) = self.read.get(&run.id, now) {
            return Ok(book);
        }
        let operation = "read workbook";
        let stored = async |hash: &ContentHash| {
            let kind = ArtifactKind::Workbook;
            let bytes = artifacts.message(scope, run.begun_at, &run.id, kind, hash).await?;
            bytes.ok_or_else(|| StoreError::unexpected(operation, "the workbook is not in the bucket"))
        };
        let receipts = stored(&run.receipts).await?;
        let approvals = match &run.approvals {
            Some(hash) => Some(stored(hash).await?),
            None => None,
        };
        let criteria = criteria(scope, rnc, run.begun_at);
        if run.kind == RunKind::Simulation {
            let data = serde_json::from_slice(&receipts).map_err(|error| StoreError::unexpected(operation, error))?;
            let book = Book::simulated(&data, &criteria)
                .map_err(|unusable| StoreError::unexpected(operation, format!("{unusable:?}")))?;
            return Ok(self.insert(run.id, book, now));
        }
        let book = read(&receipts, approvals.as_deref(), &criteria)
            .map_err(|(_, findings)| StoreError::unexpected(operation, first(&findings)))?;
        Ok(self.insert(run.id, book, now))
    }
}

/// Reads both workbooks; an error names the part of the form.
pub(crate) fn read(
    receipts: &[u8],
    approvals: Option<&[u8]>,
    criteria: &Criteria,
) -> Result<Book, (&'static str, Findings)> {
    let suite = ecf_workbook::receipts(receipts, criteria).map_err(|findings| ("workbook", findings))?;
    let approvals = approvals
        .map(|bytes| ecf_workbook::approvals(bytes, criteria))
        .transpose()
        .map_err(|findings| ("approvals", findings))?;
    Ok(Book::new(suite, approvals))
}

fn first(findings: &Findings) -> String {
    let first = findings.list.first();
    first.map_or_else(String::new, |finding| {
        format!("{}: {}", finding.code, finding.message.en)
    })
}
