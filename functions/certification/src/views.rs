//! A run and its rows in responses.

use ecf::Environment;
use ecf_api::{ExplanationView, FieldError, Instant, Spoken, error_message};
use ecf_language::{Bilingual, say};
use ecf_store::{
    Receipt,
    approvals::Approval,
    runs::{Run, RunKind, RunState, StopCause},
};
use ecf_workbook::run::{self, RowState, Which};
use ecf_workbook::{Finding, Findings, Phase};
use serde::Serialize;
use utoipa::ToSchema;

use crate::books::{Book, Document};
use crate::rows::{Numbered, Record, Row, entries, name_of, row_of, stopped_at};

/// A run of the certification.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunView {
    run_id: String,
    idempotency_key: String,
    /// `data`: the rows of a workbook; `simulation`: receipts from the company's own data.
    #[schema(pattern = "^(data|simulation)$")]
    kind: &'static str,
    #[schema(pattern = "^(running|awaits_uploads|stopped|finished|abandoned)$")]
    status: &'static str,
    begun_at: Instant,
    /// When it was finished or abandoned.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Instant>,
    /// What comes next, in a sentence.
    #[schema(value_type = String)]
    next: Spoken,
}

/// A run with all its rows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FullRunView {
    #[serde(flatten)]
    run: RunView,
    /// The rows that the authority accepted, in percent; 100 when all are.
    #[schema(minimum = 0, maximum = 100)]
    progress: u8,
    counts: CountsView,
    /// Why it stopped; null unless it did.
    stop: Option<StopView>,
    /// In the order of sending; the uploads, which a person does, stand before the approvals.
    rows: Vec<RowView>,
}

/// A run that begins, with what was noticed in its workbooks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BegunView {
    #[serde(flatten)]
    pub(crate) run: FullRunView,
    /// Findings that do not stop the run.
    pub(crate) notices: Vec<FieldError>,
}

/// The number of rows in each state; uploads are not counted.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct CountsView {
    rows: usize,
    waiting: usize,
    sent: usize,
    accepted: usize,
    /// Those among the accepted that have an irregularity; the receipt has the authority's messages.
    conditionally_accepted: usize,
    rejected: usize,
    not_sent: usize,
    outcome_unknown: usize,
}

/// The row that stopped a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StopView {
    /// Its place in `rows`, from 0.
    place: u32,
    #[schema(pattern = "^(rejected|not_sent|outcome_unknown)$")]
    cause: &'static str,
    /// The reason, as far as it is known.
    #[schema(value_type = Option<String>)]
    message: Option<Spoken>,
    /// Whether `continue` sends the row again; `next` says what else goes on.
    can_continue: bool,
}

/// A row of a workbook.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RowView {
    /// What is sent: a receipt, a summary, an approval; an `upload` is done by a person.
    #[schema(pattern = "^(ecf|rfce|upload|acecf)$")]
    document: &'static str,
    /// The row in its sheet, as the spreadsheet counts; the place in a simulation, from 1.
    row: u32,
    /// The type of the receipt.
    #[schema(example = "31")]
    ecf_type: &'static str,
    /// The number; a receipt of a simulation has one once it is signed.
    #[schema(example = "E310000000005")]
    encf: Option<String>,
    #[schema(pattern = "^(waiting|sent|accepted|rejected|not_sent|outcome_unknown)$")]
    row_state: &'static str,
    /// The number that must be accepted before.
    awaits: Option<String>,
    /// The receipt, or the approval, by which the API knows it.
    public_id: Option<String>,
    /// The state of the receipt.
    status: Option<String>,
    track_id: Option<String>,
    error_code: Option<String>,
    #[schema(value_type = Option<String>)]
    error_message: Option<Spoken>,
    /// Our reading of the authority's messages.
    explanations: Vec<ExplanationView>,
}

impl RunView {
    /// The view of a run, without its rows.
    pub(crate) fn of(run: &Run) -> Self {
        Self::with(run, next(run))
    }

    fn with(run: &Run, next: Bilingual) -> Self {
        Self {
            run_id: run.id.to_string(),
            idempotency_key: run.idempotency_key.clone(),
            kind: run.kind.as_str(),
            status: run.progress.state.as_str(),
            begun_at: run.begun_at.into(),
            ended_at: run.ended_at.map(Instant),
            next: next.into(),
        }
    }
}

impl FullRunView {
    /// The view of a run with its rows.
    pub(crate) fn of(run: &Run, book: &Book, rows: &[Row]) -> Self {
        let view = |(row, document)| RowView::of(row, document, rows);
        let rows_view: Vec<RowView> = rows.iter().zip(book.documents()).map(view).collect();
        let is_stopped = run.progress.state == RunState::Stopped;
        let numbered = stopped_at(run, rows).filter(|_| is_stopped).and_then(Row::numbered);
        let stop = run.progress.stop.as_ref().map(|stop| {
            let row = usize::try_from(stop.entry).ok().and_then(|place| rows_view.get(place));
            let of_row = || Some(row?.error_message.clone()?.0);
            let message = stop.words.clone().map(Bilingual::from).or_else(of_row);
            StopView {
                place: stop.entry,
                cause: stop.cause.as_str(),
                // A withdrawn receipt asks to annul its number, which the workbooks of CerteCF use again: `next` decides.
                message: message
                    .filter(|_| !matches!(numbered, Some(Numbered::Withdrawn(_))))
                    .map(Into::into),
                can_continue: is_stopped && stop.cause == StopCause::NotSent && numbered.is_none(),
            }
        });
        Self {
            run: RunView::with(
                run,
                numbered.map_or_else(|| next(run), |numbered| resolve(run, numbered)),
            ),
            progress: run::progress(&entries(rows)),
            counts: CountsView::of(rows),
            stop,
            rows: rows_view,
        }
    }
}

impl CountsView {
    fn of(rows: &[Row]) -> Self {
        let mut counts = Self::default();
        for row in rows.iter().filter(|row| row.entry.phase != Phase::Uploads) {
            counts.rows += 1;
            counts.conditionally_accepted += usize::from(row.is_conditional());
            let count = match row.entry.state {
                RowState::Waiting => &mut counts.waiting,
                RowState::Sent => &mut counts.sent,
                RowState::Accepted => &mut counts.accepted,
                RowState::Rejected => &mut counts.rejected,
                RowState::NotSent => &mut counts.not_sent,
                RowState::OutcomeUnknown => &mut counts.outcome_unknown,
            };
            *count += 1;
        }
        counts
    }
}

impl RowView {
    fn of(row: &Row, document: &Document, rows: &[Row]) -> Self {
        let number = |which: Which| match which {
            Which::Prescribed(encf) => Some(encf.to_string()),
            simulated @ Which::Simulated(..) => Some(row_of(rows, simulated)?.encf()?.to_string()),
        };
        let view = Self {
            document: document.kind(),
            row: document.row,
            ecf_type: document.which.receipt_type().as_str(),
            encf: number(document.which),
            row_state: name_of(row.entry.state),
            awaits: document.awaits.and_then(number),
            public_id: None,
            status: None,
            track_id: None,
            error_code: None,
            error_message: None,
            explanations: Vec::new(),
        };
        match &row.record {
            None => view,
            Some(Record::Receipt(receipt)) => view.with_receipt(receipt),
            Some(Record::Approval(approval)) => view.with_approval(approval),
        }
    }

    fn with_receipt(self, receipt: &Receipt) -> Self {
        Self {
            public_id: Some(receipt.public_id.to_string()),
            status: Some(receipt.state.to_string()),
            track_id: receipt.sending.track_id.clone(),
            error_code: receipt.error_code.clone(),
            error_message: error_message(receipt).map(Spoken),
            explanations: ExplanationView::all_of(receipt),
            ..self
        }
    }

    fn with_approval(self, approval: &Approval) -> Self {
        let words = approval.authority.words.clone();
        Self {
            public_id: Some(approval.id.to_string()),
            status: Some(approval.authority.state.as_str().to_owned()),
            error_message: words.map(Into::into).filter(|_| self.row_state != "accepted"),
            ..self
        }
    }
}

fn next(run: &Run) -> Bilingual {
    match (run.progress.state, run.progress.stop.as_ref().map(|stop| stop.cause)) {
        (RunState::Running, _) => say!(
            "the rows are sent one after the other; nothing is to be done",
            "las filas se envían una tras otra; no hay nada que hacer"
        ),
        (RunState::AwaitsUploads, _) => say!(
            "download the files, upload the full invoices in the certification portal, then confirm the uploads",
            "descargue los archivos, cargue las facturas completas en el portal de certificación y después confirme las cargas"
        ),
        (RunState::Stopped, Some(StopCause::Rejected)) if run.kind == RunKind::Simulation => say!(
            "correct the data and begin a new simulation; the numbers of this one are used up",
            "corrija los datos e inicie otra simulación; los números de esta ya se usaron"
        ),
        (RunState::Stopped, Some(StopCause::Rejected)) => say!(
            "the tax authority resets the step: download new workbooks from the portal and begin a new run with them",
            "la DGII reinicia el paso: descargue los libros nuevos del portal e inicie otra corrida con ellos"
        ),
        (RunState::Stopped, Some(StopCause::OutcomeUnknown)) => say!(
            "the row may have arrived: the operator finds out, then continue the run",
            "la fila pudo haber llegado: el operador lo averigua y después continúe la corrida"
        ),
        (RunState::Stopped, _) => say!(
            "remove the reason that the row was not sent, then continue the run",
            "quite el motivo por el que la fila no se envió y después continúe la corrida"
        ),
        (RunState::Finished, _) if !run.progress.uploaded => say!(
            "every row was accepted: upload the files, if there are any, in the certification portal and go on there",
            "todas las filas fueron aceptadas: cargue los archivos, si los hay, en el portal de certificación y siga allí"
        ),
        (RunState::Finished, _) => say!(
            "every row was accepted: look at the counters of the portal and go to its next step",
            "todas las filas fueron aceptadas: mire los contadores del portal y pase al siguiente paso"
        ),
        (RunState::Abandoned, _) => say!("nothing; a new run may begin", "nada; puede iniciar otra corrida"),
    }
}

/// What comes next when the receipt of the row that stopped the run has its number.
pub(crate) fn resolve(run: &Run, numbered: Numbered<'_>) -> Bilingual {
    let receipt = match numbered {
        Numbered::Failed(receipt) => {
            let id = &receipt.public_id;
            return say!(
                "receipt {id} of the row has its number already: have the operator retry it (retry_failed), then continue the run",
                "el comprobante {id} de la fila ya tiene su número: pida al operador que lo reintente (retry_failed) y después continúe la corrida"
            );
        }
        Numbered::Withdrawn(receipt) => receipt,
    };
    let id = &receipt.public_id;
    let why = say!(
        "receipt {id} of the row was withdrawn, or its attempt was abandoned, and it has its number: ",
        "el comprobante {id} de la fila se retiró, o su intento se abandonó, y ya tiene su número: "
    );
    why.then(&match (run.kind, receipt.scope.environment) {
        (RunKind::Simulation, _) => say!(
            "begin a new simulation, which takes new numbers",
            "inicie otra simulación, que toma números nuevos"
        ),
        (RunKind::Data, Environment::CerteCF) => say!(
            "begin a new run with the same workbooks, whose numbers may repeat, and do not annul the number",
            "inicie otra corrida con los mismos libros: en CerteCF sus números pueden repetirse, así que no anule el número"
        ),
        (RunKind::Data, _) => say!(
            "begin a new run with workbooks of other numbers, because a number is used once outside of CerteCF",
            "inicie otra corrida con libros de otros números, porque fuera de CerteCF un número se usa una vez"
        ),
    })
}

/// The findings in a workbook, as errors of the part of the form that has it.
pub(crate) fn findings(part: &'static str, findings: &Findings) -> Vec<FieldError> {
    findings.list.iter().map(|finding| error(part, finding)).collect()
}

fn error(part: &'static str, finding: &Finding) -> FieldError {
    let error = FieldError::new(["body", part], "value_error", (*finding.message).clone()).with_code(finding.code);
    let places = [
        ("sheet", &finding.sheet),
        ("column", &finding.column),
        ("header", &finding.header),
        ("cell", &finding.cell),
    ];
    let error = places.into_iter().fold(error, |error, (name, value)| match value {
        Some(value) => error.with_ctx(name, value.as_ref()),
        None => error,
    });
    match finding.row {
        Some(row) => error.with_ctx("row", row),
        None => error,
    }
}
