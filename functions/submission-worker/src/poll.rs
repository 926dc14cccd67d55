//! Asking for the verdict of a receipt that was handed over.

use ecf_runtime::Outcome;
use ecf_store::{LONGEST_DELAY, Receipt, StoreError, SubmissionJob};
use ecf_taxauth::{Judged, ResultQuery, Session, TaxAuthError, Verdict};

use crate::{App, hold, later, not_found, schedule, send, verdict};

/// Asks once; without a verdict, asks again after a growing wait.
pub(crate) async fn poll(app: &App, job: &SubmissionJob) -> Result<Outcome<SubmissionJob>, StoreError> {
    let Some(receipt) = app.table.receipt(&job.scope(), &job.receipt()).await? else {
        return Ok(send::missing());
    };
    let Some(track_id) = receipt.track_id.as_deref().filter(|_| !receipt.state.is_final()) else {
        return Ok(Outcome::Done);
    };
    let Some(identity) = app.identities.of(&receipt.scope.company, app.clock.now()).await? else {
        tracing::error!(receipt.id = %receipt.public_id, "the company has no certificate to ask for the verdict with");
        return Ok(schedule::poll_again(job));
    };
    let session = app
        .tokens
        .session(receipt.scope.environment, &identity)
        .of_company(&receipt.scope.company);
    match result(&session, &receipt, track_id).await {
        Ok(judged) if judged.verdict.is_final() => verdict::record(app, job, &session, &receipt, &judged).await,
        // Boxed: it is rare, and would make every job's future larger.
        Ok(judged) if judged.verdict == Verdict::NotFound => {
            Box::pin(not_found::look_up(app, job, &session, &receipt)).await
        }
        Ok(judged) => {
            if judged.verdict == Verdict::InProcess {
                not_found::found_again(app, &receipt).await?;
            }
            Ok(schedule::poll_again(job))
        }
        Err(error) => {
            let chain = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "no verdict yet");
            if let Some(held) = hold::if_closed(app, job).await? {
                return Ok(held);
            }
            app.tell_error(job);
            match (error.retry_after(), schedule::poll_again(job)) {
                (Some(asked), Outcome::Again { job, after }) if asked <= LONGEST_DELAY => Ok(Outcome::Again {
                    job,
                    after: after.max(asked),
                }),
                (Some(asked), _) => later(app, job, Some(asked)).await,
                (None, again) => Ok(again),
            }
        }
    }
}

/// The verdict of a submission of this receipt.
pub(crate) async fn result(session: &Session<'_>, receipt: &Receipt, track_id: &str) -> Result<Judged, TaxAuthError> {
    let submission = ResultQuery {
        track_id,
        rnc_emisor: &receipt.company_rnc,
        encf: receipt.encf(),
    };
    session.result(submission).await
}
