//! Claims: one worker sends a receipt, or looks it up, at a time.
//!
//! What can fail without anything being sent comes before the claim or gives it back, so that a lease without an answer means
//! what it says: the document may have arrived.

use ecf::sending::{Claim, NotClaimed, Then};
use ecf_store::{Receipt, SubmissionJob, receipts::Claim as Claimed, waits::SEND_LEASE};

use crate::App;
use crate::report::{FailCause, Happened, Report, Reported, error_code};

const OUTCOME_UNKNOWN: &str = "the send was lost and this environment has no look-up of e-CF sent in full; an operator decides, since a second send would reset the certification";

pub(crate) async fn claim(app: &App, job: &SubmissionJob, claim: Claim) -> Reported {
    let (scope, id, now) = (job.scope(), job.receipt(), app.clock.now());
    let claimed = match claim {
        Claim::First | Claim::Cleared => app.table.claim_send(&scope, &id, now, SEND_LEASE).await?,
        Claim::LookUp => app.table.claim_lookup(&scope, &id, now, SEND_LEASE).await?,
        Claim::Resend => app.table.claim_resend(&scope, &id, now, SEND_LEASE).await?,
    };
    let (happened, receipt) = match claimed {
        Claimed::Claimed(receipt) => (Happened::Claimed(claim), receipt),
        Claimed::Leased(receipt) => (Happened::Leased, receipt),
        Claimed::LeaseExpired(receipt) => (Happened::NotClaimed(claim, NotClaimed::LeaseExpired), receipt),
        Claimed::AwaitsInvoice(receipt) => (Happened::NotClaimed(claim, NotClaimed::NoteAwaitsInvoice), receipt),
        Claimed::NotSendable(receipt) => (Happened::NotClaimed(claim, NotClaimed::NotSendable), receipt),
        Claimed::Missing => return Ok(Happened::NotClaimed(claim, NotClaimed::Missing).into()),
    };
    Ok(Report::of_receipt(happened, receipt))
}

/// Gives the claim back: nothing was sent.
pub(crate) async fn release(app: &App, receipt: &Receipt, then: Then) -> Reported {
    app.table
        .release_send(&receipt.scope, &receipt.public_id, receipt.sending.attempts)
        .await?;
    Ok(Happened::Released(then).into())
}

/// Ends the claim without waiting for its lease: the document may have arrived.
pub(crate) async fn record_answer_lost(app: &App, receipt: &Receipt, then: Then) -> Reported {
    let (scope, id, now) = (&receipt.scope, &receipt.public_id, app.clock.now());
    app.table
        .record_answer_lost(scope, id, receipt.sending.attempts, now)
        .await?;
    Ok(Happened::AnswerLost(then).into())
}

/// Leaves a receipt whose send may have arrived to the operator, where it cannot be looked up.
pub(crate) async fn record_outcome_unknown(app: &App, receipt: &Receipt) -> Reported {
    let (scope, id, now) = (&receipt.scope, &receipt.public_id, app.clock.now());
    app.table
        .record_outcome_unknown(scope, id, receipt.sending.attempts, OUTCOME_UNKNOWN, now)
        .await?;
    tracing::error!(receipt.id = %id, "the outcome of a send is unknown and cannot be looked up");
    Ok(Happened::Finished.into())
}

/// Logs why a receipt whose send may have arrived cannot be looked up.
pub(crate) fn log_blocked(job: &SubmissionJob, cause: &FailCause) -> Report<'static> {
    tracing::error!(receipt.id = %job.receipt(), code = error_code(cause), "an earlier send cannot be looked up");
    Happened::Logged.into()
}
