//! The rows of a run and their state, which is that of their receipts and approvals.

use std::collections::HashMap;

use ecf::{Encf, FailReason, ReceiptState};
use ecf_store::{
    ApprovalId, Receipt, ReceiptId, Scope, StoreError, Table,
    approvals::{Approval, ApprovalWay, TransmissionState},
    receipts::OUTCOME_UNKNOWN,
    runs::{Run, RunState as StoredState, StopCause},
};
use ecf_workbook::Phase;
use ecf_workbook::run::{Cause, Entry, RowState, RunState, Stop, Which};

use crate::books::Book;

/// A row and its record.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) record: Option<Record>,
}

impl Row {
    /// The number of the document. A simulated receipt has one once it is signed.
    pub(crate) fn encf(&self) -> Option<Encf> {
        match (&self.record, self.entry.which) {
            (_, Which::Prescribed(encf)) => Some(encf),
            (Some(Record::Receipt(receipt)), _) => receipt.encf().copied(),
            _ => None,
        }
    }
}

/// A receipt that was not sent and has its number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbered<'r> {
    /// The operator can retry it.
    Failed(&'r Receipt),
    /// Nobody can send it any more: it was withdrawn, or its attempt was abandoned.
    Withdrawn(&'r Receipt),
}

/// The record of a row that was sent, or is about to be.
#[derive(Debug)]
pub(crate) enum Record {
    Receipt(Box<Receipt>),
    Approval(Box<Approval>),
}

/// The receipt of an entry's current try.
pub(crate) fn receipt_id(scope: &Scope, run: &Run, entry: &Entry) -> ReceiptId {
    ReceiptId::of_receipt(scope, &entry.key(&run.id.to_string()))
}

/// The approval of an entry's current try.
pub(crate) fn approval_id(scope: &Scope, run: &Run, entry: &Entry) -> ApprovalId {
    let key = entry.key(&run.id.to_string());
    ApprovalId::of(ApprovalWay::Submit.as_str(), scope, &key)
}

/// The rows in the order of sending.
pub(crate) async fn rows(table: &Table, scope: &Scope, run: &Run, book: &Book) -> Result<Vec<Row>, StoreError> {
    let entries = book.entries(run);
    let of = |phases: fn(Phase) -> bool| entries.iter().filter(move |entry| phases(entry.phase));
    let receipts: Vec<ReceiptId> = of(|phase| !matches!(phase, Phase::Uploads | Phase::Approvals))
        .map(|entry| receipt_id(scope, run, entry))
        .collect();
    let approvals: Vec<ApprovalId> = of(|phase| phase == Phase::Approvals)
        .map(|entry| approval_id(scope, run, entry))
        .collect();
    let receipts = table.receipts_by_ids(scope, &receipts).await?;
    let mut receipts: HashMap<_, _> = receipts
        .into_iter()
        .map(|receipt| (receipt.public_id, receipt))
        .collect();
    let approvals = table.approvals_by_ids(scope, &approvals).await?;
    let mut approvals: HashMap<_, _> = approvals.into_iter().map(|approval| (approval.id, approval)).collect();
    let rows = entries.into_iter().map(|entry| {
        let record = match entry.phase {
            Phase::Uploads => None,
            Phase::Approvals => approvals
                .remove(&approval_id(scope, run, &entry))
                .map(|approval| Record::Approval(Box::new(approval))),
            _ => receipts
                .remove(&receipt_id(scope, run, &entry))
                .map(|receipt| Record::Receipt(Box::new(receipt))),
        };
        let state = record.as_ref().map_or(RowState::Waiting, Record::state);
        let is_numbered = matches!(&record, Some(Record::Receipt(receipt)) if receipt.encf().is_some());
        Row {
            entry: Entry {
                state,
                is_numbered,
                ..entry
            },
            record,
        }
    });
    Ok(rows.collect())
}

/// The row that stopped a run.
pub(crate) fn stopped_at<'r>(run: &Run, rows: &'r [Row]) -> Option<&'r Row> {
    let stop = run.progress.stop.as_ref()?;
    rows.get(usize::try_from(stop.entry).ok()?)
}

/// The row with this document.
pub(crate) fn row_of(rows: &[Row], which: Which) -> Option<&Row> {
    rows.iter()
        .find(|row| row.entry.which == which && row.entry.phase != Phase::Uploads)
}

/// The entries of these rows.
pub(crate) fn entries(rows: &[Row]) -> Vec<Entry> {
    rows.iter().map(|row| row.entry).collect()
}

impl Row {
    /// The receipt that keeps a new one from being sent: it was not sent, and has the number.
    pub(crate) fn numbered(&self) -> Option<Numbered<'_>> {
        let Some(Record::Receipt(receipt)) = &self.record else {
            return None;
        };
        let is_abandoned = receipt.error_code.as_deref() == Some(FailReason::AttemptAbandoned.as_str());
        let is_stuck = self.entry.state == RowState::NotSent && self.entry.is_numbered;
        is_stuck.then_some(match receipt.state {
            ReceiptState::Failed if !is_abandoned => Numbered::Failed(receipt),
            _ => Numbered::Withdrawn(receipt),
        })
    }

    /// Whether the authority accepted the row with an irregularity.
    pub(crate) fn is_conditional(&self) -> bool {
        matches!(&self.record, Some(Record::Receipt(receipt)) if receipt.state == ReceiptState::ConditionallyAccepted)
    }
}

impl Record {
    fn state(&self) -> RowState {
        match self {
            Self::Receipt(receipt) => of_receipt(receipt),
            Self::Approval(approval) => of_approval(approval),
        }
    }
}

/// A conditional acceptance is valid and resets nothing: only a rejection does.
fn of_receipt(receipt: &Receipt) -> RowState {
    match receipt.state {
        ReceiptState::Accepted | ReceiptState::ConditionallyAccepted => RowState::Accepted,
        ReceiptState::Rejected => RowState::Rejected,
        ReceiptState::Failed if receipt.error_code.as_deref() == Some(OUTCOME_UNKNOWN) => RowState::OutcomeUnknown,
        ReceiptState::Failed | ReceiptState::Cancelled | ReceiptState::Incapacity => RowState::NotSent,
        ReceiptState::Received
        | ReceiptState::Deferred
        | ReceiptState::Validated
        | ReceiptState::Signed
        | ReceiptState::Contingency
        | ReceiptState::Submitted => RowState::Sent,
    }
}

/// Only the authority's answer counts: the issuer of the receipts is the authority's own test taxpayer.
fn of_approval(approval: &Approval) -> RowState {
    match approval.authority.state {
        TransmissionState::Pending => RowState::Sent,
        TransmissionState::Taken => RowState::Accepted,
        TransmissionState::Refused => RowState::Rejected,
        TransmissionState::NotListed | TransmissionState::NotNeeded | TransmissionState::GivenUp => RowState::NotSent,
    }
}

/// The name of a row's state in responses and events.
pub(crate) fn name_of(state: RowState) -> &'static str {
    match state {
        RowState::Waiting => "waiting",
        RowState::Sent => "sent",
        RowState::Accepted => "accepted",
        RowState::Rejected => StopCause::Rejected.as_str(),
        RowState::NotSent => StopCause::NotSent.as_str(),
        RowState::OutcomeUnknown => StopCause::OutcomeUnknown.as_str(),
    }
}

/// The state of a stored run.
pub(crate) fn state_of(run: &Run) -> RunState {
    match (run.progress.state, &run.progress.stop) {
        (StoredState::Running, _) => RunState::Running,
        (StoredState::AwaitsUploads, _) => RunState::AwaitsUploads,
        (StoredState::Finished, _) => RunState::Finished,
        (StoredState::Abandoned, _) => RunState::Abandoned,
        (StoredState::Stopped, stop) => {
            let (entry, cause) = stop
                .as_ref()
                .map_or((u32::MAX, StopCause::NotSent), |stop| (stop.entry, stop.cause));
            let cause = match cause {
                StopCause::Rejected => Cause::Rejected,
                StopCause::NotSent => Cause::NotSent,
                StopCause::OutcomeUnknown => Cause::OutcomeUnknown,
            };
            RunState::Stopped(Stop {
                entry: usize::try_from(entry).unwrap_or(usize::MAX),
                cause,
            })
        }
    }
}

/// The stored form of a run's state.
pub(crate) fn stored(state: RunState) -> (StoredState, Option<(u32, StopCause)>) {
    match state {
        RunState::Running => (StoredState::Running, None),
        RunState::AwaitsUploads => (StoredState::AwaitsUploads, None),
        RunState::Finished => (StoredState::Finished, None),
        RunState::Abandoned => (StoredState::Abandoned, None),
        RunState::Stopped(Stop { entry, cause }) => {
            let cause = match cause {
                Cause::Rejected => StopCause::Rejected,
                Cause::NotSent => StopCause::NotSent,
                Cause::OutcomeUnknown => StopCause::OutcomeUnknown,
            };
            (
                StoredState::Stopped,
                Some((u32::try_from(entry).unwrap_or(u32::MAX), cause)),
            )
        }
    }
}
