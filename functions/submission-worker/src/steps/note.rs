//! A held note and the receipt that it modifies. Everything that is lost on the way is found by the due index.

use ecf::sending::Invoice;
use ecf_store::{
    Receipt, ReceiptId, StoreError, SubmissionJob,
    receipts::{ModifiedReceipt, NoteCleared},
};
use jiff::SignedDuration;

use crate::App;
use crate::report::{Happened, Learned, Report, Reported};

/// Reads who has the modified number now.
pub(crate) async fn read_invoice(app: &App, note: &Receipt) -> Reported {
    let Some(reference) = note.note else {
        return Ok(Happened::NoInvoiceNamed.into());
    };
    let await_limit = await_limit(app, note).await?;
    let Some(modified) = app.table.modified_receipt(&note.scope, &reference.modifies).await? else {
        return Ok(Happened::InvoiceMissing.into());
    };
    let invoice = Invoice {
        state: modified.receipt.state,
        secuencia_utilizada: modified.receipt.secuencia_utilizada,
        awaited_since: note.created_at.max(modified.receipt.updated_at),
        await_limit,
        covers_note: modified.covers(note)?,
        is_annulled: reference.annuls,
    };
    let learned = Learned::Invoice(Box::new(modified));
    Ok(Report::of(Happened::InvoiceRead(invoice), learned))
}

/// How long the company's notes await the successor of a receipt that was rejected; `None`: the company holds no notes.
async fn await_limit(app: &App, note: &Receipt) -> Result<Option<SignedDuration>, StoreError> {
    let company = app.table.company(&note.scope.company).await?;
    let settings = company.map(|company| company.settings).unwrap_or_default();
    let hours = SignedDuration::from_hours(settings.hold_notes_hours.into());
    Ok(settings.hold_notes.then_some(hours))
}

/// Looks for another credit note on the modified receipt that has no verdict.
pub(crate) async fn find_open_credit(app: &App, note: &Receipt, modified: &ModifiedReceipt) -> Reported {
    let open = app.table.open_credit(&note.scope, modified, &note.public_id).await?;
    Ok(match open {
        Some(credit) => Report::of(Happened::OpenCredit, Learned::OpenCredit(credit)),
        None => Happened::NoOpenCredit.into(),
    })
}

/// Leaves the note's id at the receipt whose verdict it awaits: the worker that records the verdict enqueues the note.
pub(crate) async fn await_verdict(app: &App, job: &SubmissionJob, awaited: &ReceiptId) -> Reported {
    let is_awaited = app.table.await_verdict(&job.scope(), awaited, &job.receipt()).await?;
    let happened = if is_awaited {
        Happened::Finished
    } else {
        Happened::InvoiceChanged
    };
    Ok(happened.into())
}

/// Lets the note go to its send.
pub(crate) async fn clear(app: &App, note: &Receipt, modified: &ModifiedReceipt) -> Reported {
    let now = app.clock.now();
    let happened = match app.table.clear_note(&note.scope, note, modified, now).await? {
        NoteCleared::NotCovered => Happened::InvoiceChanged,
        NoteCleared::Now(_) | NoteCleared::Already(_) | NoteCleared::Missing => Happened::NoteCleared,
    };
    Ok(happened.into())
}
