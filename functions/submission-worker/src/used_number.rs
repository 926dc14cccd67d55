//! "Already used" (1209): success when the copy that the authority holds is ours, else a refusal like any other.
//!
//! It comes when a receipt was sent again because its first send was not to be seen for a while.

use ecf_runtime::Outcome;
use ecf_store::{Receipt, StoreError, SubmissionJob};
use ecf_taxauth::{Judged, Session, Verdict, where_to_look};

use crate::look_up::{Found, ask, soon};
use crate::poll::result;
use crate::{App, later, send, verdict};

/// Finds out whose copy used the number. `said` is the verdict that says 1209, or a refusal without a verdict.
pub(crate) async fn of_used_number(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
    said: &Judged,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    // Sent once and refused for being sent: the earlier copy cannot be this receipt's.
    let was_sent_before = receipt.send_attempt > 1;
    if !was_sent_before || where_to_look(session.environment(), receipt.is_sent_as_summary()).is_none() {
        return not_ours(app, receipt, said).await;
    }
    let earlier = match ask(session, receipt).await {
        Ok(Found::Track(track_id)) if receipt.track_id.is_none() => {
            return send::submitted(app, receipt, &track_id).await;
        }
        Ok(Found::Track(track_id)) => match result(session, receipt, &track_id).await {
            Ok(judged) => (judged, Some(track_id)),
            Err(error) => return again(app, job, receipt, error.retry_after()).await,
        },
        Ok(Found::Judged(judged)) => (judged, None),
        Ok(Found::Nothing) => return not_ours(app, receipt, said).await,
        Ok(Found::Unclear) => return again(app, job, receipt, None).await,
        Err(error) => return again(app, job, receipt, error.retry_after()).await,
    };
    let (judged, track_id) = earlier;
    match verdict::final_state(judged.verdict) {
        // A rejection of our earlier copy tells more than that the number is used, if it tells anything.
        Some(_) if !judged.verdict.is_acceptance() && !tells_why(&judged) => not_ours(app, receipt, said).await,
        Some((state, secuencia_utilizada)) => {
            verdict::write(app, receipt, state, secuencia_utilizada, &judged, track_id.as_deref()).await?;
            Ok(Outcome::Done)
        }
        None => again(app, job, receipt, None).await,
    }
}

fn tells_why(rejection: &Judged) -> bool {
    !rejection.answer.mensajes.is_empty() && !rejection.answer.says_already_used()
}

async fn again(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
    retry_after: Option<std::time::Duration>,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    if receipt.track_id.is_some() {
        later(app, job, retry_after).await
    } else {
        soon(app, job, receipt, retry_after).await
    }
}

/// Somebody else's bytes have the number: what the authority said stands.
async fn not_ours(app: &App, receipt: &Receipt, said: &Judged) -> Result<Outcome<SubmissionJob>, StoreError> {
    let Verdict::Rejected { secuencia_utilizada } = said.verdict else {
        return send::fail_refused(app, receipt, &said.answer).await;
    };
    let burned = secuencia_utilizada.or(Some(true));
    verdict::write(app, receipt, ecf::ReceiptState::Rejected, burned, said, None).await?;
    Ok(Outcome::Done)
}
