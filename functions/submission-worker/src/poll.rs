//! Asking for the verdict of a receipt that was handed over.

use ecf_runtime::Outcome;
use ecf_store::{StoreError, SubmissionJob};

use crate::{App, next, schedule, send, verdict};

/// Asks once; without a verdict, asks again after a growing wait.
pub(crate) async fn poll(app: &App, job: &SubmissionJob) -> Result<Outcome<SubmissionJob>, StoreError> {
    let Some(receipt) = app.table.receipt(&job.scope(), &job.receipt()).await? else {
        return Ok(Outcome::GiveUp {
            reason: "the receipt does not exist".to_owned(),
        });
    };
    let Some(track_id) = receipt.track_id.as_deref().filter(|_| !receipt.state.is_final()) else {
        return Ok(Outcome::Done);
    };
    let Some(identity) = app.identities.of(&receipt.scope.company, app.clock.now()).await? else {
        tracing::error!(receipt.id = %receipt.public_id, "the company has no certificate to ask for the verdict with");
        return Ok(again(job, None));
    };
    match send::session(app, &receipt, &identity).result(track_id).await {
        Ok(judged) if judged.verdict.is_final() => verdict::record(app, job, &receipt, &judged, Some(track_id)).await,
        Ok(_) => Ok(again(job, None)),
        Err(error) => {
            let chain = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "no verdict yet");
            Ok(again(job, error.retry_after()))
        }
    }
}

fn again(job: &SubmissionJob, retry_after: Option<std::time::Duration>) -> Outcome<SubmissionJob> {
    let attempt = job.attempt().saturating_add(1);
    if attempt >= schedule::ATTEMPTS_IN_QUEUE {
        return Outcome::Done;
    }
    Outcome::Again {
        job: next(job),
        after: schedule::poll(attempt).max(retry_after.unwrap_or_default()),
    }
}
