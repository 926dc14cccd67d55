//! Notes wait for the receipt that they modify: the authority rejects one that comes before the verdict (614).
//!
//! A note that was issued early is held: no claim takes it. Whoever gets its job looks at who has the modified number now.
//! Accepted: the note goes. Without a verdict: the note's id is left there, and the worker that writes the verdict queues the
//! note. Rejected with the number left free, or failed: another receipt may come to be valid under the number, for as long
//! as the company waits. Everything that is lost on the way is found by the due index.

use ecf::ReceiptState;
use ecf_runtime::Outcome;
use ecf_store::{Cleared, Failure, ModifiedReceipt, Receipt, ReceiptId, ReceiptJob, StoreError, SubmissionJob};
use jiff::{SignedDuration, Timestamp};

use crate::{App, later, send};

/// How often a note looks whether a rejected receipt has a successor.
const NEXT_LOOK: SignedDuration = SignedDuration::from_mins(30);
/// How often what was read may have changed before the job comes again.
const ROUNDS: u32 = 4;

/// What becomes of a held note.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Send,
    /// After the verdict on this receipt.
    After(ReceiptId),
    /// When there is a successor, until then.
    Until(Timestamp),
    Fail {
        code: &'static str,
        why: &'static str,
    },
}

/// Looks after a note that nobody let go yet. `None`: it may be claimed now.
pub(crate) async fn look_after(
    app: &App,
    job: &SubmissionJob,
    note: &Receipt,
) -> Result<Option<Outcome<SubmissionJob>>, StoreError> {
    let (scope, id) = (&note.scope, &note.public_id);
    let Some(tie) = note.note else { return Ok(None) };
    let patience = patience(app, note).await?;
    for _ in 0..ROUNDS {
        let now = app.clock.now();
        let Some(modified) = app.table.modified_receipt(scope, &tie.modifies).await? else {
            break;
        };
        let mut way = way(note, &modified, patience, now)?;
        if way == Way::Send
            && tie.annuls
            && patience.is_some()
            && let Some(open) = app.table.open_credit(scope, &modified, id).await?
        {
            // The authority compares an annulment with what it has accepted.
            way = Way::After(open);
        }
        match way {
            Way::Send => match app.table.clear_note(scope, note, &modified, now).await? {
                Cleared::NotCovered => {}
                _ => return Ok(None),
            },
            Way::After(awaited) => {
                if app.table.await_verdict(scope, &awaited, id).await? {
                    return Ok(Some(Outcome::Done));
                }
            }
            Way::Until(end) => {
                app.table.postpone(scope, id, end.min(now + NEXT_LOOK)).await?;
                return Ok(Some(Outcome::Done));
            }
            Way::Fail { code, why } => {
                let message = format!("{} {why}", tie.modifies);
                let failure = Failure {
                    code,
                    message: &message,
                    taxauth_response: None,
                };
                return send::fail(app, note, failure).await.map(Some);
            }
        }
    }
    later(app, job, None).await.map(Some)
}

/// How long the company's notes wait for the successor of a receipt that was rejected; `None`: they wait for nothing.
async fn patience(app: &App, note: &Receipt) -> Result<Option<SignedDuration>, StoreError> {
    let company = app.table.company(&note.scope.company).await?;
    let settings = company.map(|company| company.settings).unwrap_or_default();
    let hours = SignedDuration::from_hours(settings.hold_notes_hours.into());
    Ok(settings.hold_notes.then_some(hours))
}

/// `patience`: how long the company waits for a successor; `None`: it holds no notes back.
fn way(
    note: &Receipt,
    modified: &ModifiedReceipt,
    patience: Option<SignedDuration>,
    now: Timestamp,
) -> Result<Way, StoreError> {
    let original = &modified.receipt;
    if let Some(patience) = patience {
        match original.state {
            ReceiptState::Accepted | ReceiptState::ConditionallyAccepted => {}
            ReceiptState::Rejected if original.secuencia_utilizada != Some(false) => {
                return Ok(void("was rejected by the tax authority and its number is burned"));
            }
            ReceiptState::Rejected | ReceiptState::Failed => {
                let end = note.created_at.max(original.updated_at) + patience;
                return Ok(if now < end {
                    Way::Until(end)
                } else {
                    void("was not accepted by the tax authority, and no other receipt came in its place in time")
                });
            }
            ReceiptState::Cancelled | ReceiptState::Incapacity => return Ok(void("was withdrawn and never sent")),
            _ => return Ok(Way::After(original.public_id)),
        }
    }
    Ok(if modified.covers(note)? {
        Way::Send
    } else {
        Way::Fail {
            code: "modified_receipt_balance",
            why: "has another amount left by now than the note takes: issue the note again",
        }
    })
}

fn void(why: &'static str) -> Way {
    Way::Fail {
        code: "modified_receipt_not_accepted",
        why,
    }
}

/// Queues the notes that waited for this receipt. One that is not queued is found by housekeeping.
pub(crate) async fn wake(app: &App, receipt: &Receipt) {
    for note in &receipt.waiting_notes {
        let job = SubmissionJob::Send(ReceiptJob {
            scope: receipt.scope,
            receipt: *note,
            attempt: 0,
        });
        if let Err(error) = app.queues.send_submission(&job, std::time::Duration::ZERO).await {
            tracing::warn!(receipt.id = %note, error = %ecf_runtime::telemetry::chain(&error), "waiting note not queued; housekeeping will");
        }
    }
}
