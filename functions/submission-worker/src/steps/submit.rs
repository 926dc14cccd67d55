//! Sending a claimed receipt: the frozen bytes, and what the authority says of them.

use std::time::Duration;

use ecf::sending::Call;
use ecf_runtime::telemetry;
use ecf_store::{ArtifactKind, Receipt, StoreError, SubmissionJob};
use ecf_taxauth::{Answer, Judged, Sent, Session, TaxAuthError, TokenError, Upload};

use crate::App;
use crate::report::{Happened, Reported, judgement};

/// How long a send may take: the worker's time limit, and well within the lease.
const SEND_LIMIT: Duration = Duration::from_secs(60);

enum Response {
    Received(Sent),
    Judged(Judged),
}

pub(crate) async fn submit(app: &App, job: &SubmissionJob, session: &Session<'_>, receipt: &Receipt) -> Reported {
    let upload = match upload(app, receipt).await {
        Ok(Some(upload)) => upload,
        Ok(None) => return Ok(Happened::NoDocument.into()),
        Err(error) => {
            tracing::warn!(receipt.id = %job.receipt(), error = %telemetry::chain(&error), "the store failed; the job is retried");
            return Ok(Happened::DocumentUnreadable.into());
        }
    };
    let sending = async {
        if receipt.is_sent_as_summary() {
            session.send_summary(&upload).await.map(Response::Judged)
        } else {
            session.send_receipt(&upload).await.map(Response::Received)
        }
    };
    let happened = match tokio::time::timeout(SEND_LIMIT, sending).await {
        Ok(Ok(Response::Received(Sent::Track { track_id, .. }))) => Happened::Taken(track_id),
        Ok(Ok(Response::Received(Sent::Refused(answer)))) => refused(Box::new(answer)),
        Ok(Ok(Response::Judged(judged))) => {
            let (judgement, answer) = judgement(judged);
            Happened::SummaryJudged(judgement, answer)
        }
        Ok(Err(error)) => failed(app, job, error),
        Err(_) => Happened::OutcomeUnknown(None),
    };
    Ok(happened.into())
}

async fn upload(app: &App, receipt: &Receipt) -> Result<Option<Upload>, StoreError> {
    let Some(signed) = &receipt.fiscal.signed else {
        return Ok(None);
    };
    let (kind, hash) = match &signed.rfce {
        Some(rfce) => (ArtifactKind::Rfce, rfce),
        None => (ArtifactKind::SignedXml, &signed.signed_xml),
    };
    let bytes = app
        .artifacts
        .get(&receipt.scope, receipt.created_at, &receipt.public_id, kind, hash)
        .await?;
    Ok(bytes.map(|bytes| Upload::receipt(&receipt.fiscal.company_rnc, &signed.encf, bytes.to_vec())))
}

fn refused(answer: Box<Answer>) -> Happened {
    Happened::Refused {
        is_already_used: answer.says_already_used(),
        answer,
    }
}

fn failed(app: &App, job: &SubmissionJob, error: TaxAuthError) -> Happened {
    let chain = telemetry::chain(&error).to_string();
    let retry_after = error.retry_after();
    match error {
        TaxAuthError::Refused { answer, .. } => refused(answer),
        TaxAuthError::Held(held) | TaxAuthError::NoToken(TokenError::Held(held)) => {
            Happened::Held(Call::Send, held.until)
        }
        error if error.nothing_was_taken() => {
            tracing::warn!(receipt.id = %job.receipt(), error = %chain, "the document was not sent; the job is retried");
            app.emit_error(job);
            Happened::NothingTaken(retry_after)
        }
        _ => {
            tracing::warn!(receipt.id = %job.receipt(), error = %chain, "the outcome of a send is unknown; a look-up follows");
            app.emit_error(job);
            Happened::OutcomeUnknown(retry_after)
        }
    }
}
