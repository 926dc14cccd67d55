//! Sending: claim, load the frozen bytes, hand them over, write down what came of it.

use ecf_runtime::Outcome;
use ecf_store::{ArtifactKind, Claim, Receipt, StoreError, SubmissionJob};
use ecf_taxauth::{Answer, Sent, Session, TaxAuthError, TokenError, Upload};
use jiff::SignedDuration;
use xmldsig::Identity;

use crate::{App, first_poll, look_up, next, schedule, verdict};

/// How long a send may take at most: the worker's time limit and a margin. After it the outcome counts as unknown.
pub(crate) const LEASE: SignedDuration = SignedDuration::from_secs(90);

/// Sends a receipt that nobody has sent.
pub(crate) async fn send(app: &App, job: &SubmissionJob) -> Result<Outcome<SubmissionJob>, StoreError> {
    let (scope, id) = (job.scope(), job.receipt());
    let now = app.clock.now();
    match app.table.claim_send(&scope, &id, now, LEASE).await? {
        Claim::Claimed(receipt) => hand_over(app, job, &receipt).await,
        Claim::LeaseExpired(receipt) => look_up::look_up(app, job, &receipt).await,
        // Somebody is on it; if they die, their lease runs out.
        Claim::Leased(receipt) => Ok(again_after_lease(job, &receipt, now)),
        // Submitted already: the question for its verdict may have been lost.
        Claim::NotSendable(receipt) if receipt.track_id.is_some() && !receipt.state.is_final() => Ok(Outcome::Again {
            job: first_poll(&receipt),
            after: schedule::poll(0),
        }),
        Claim::NotSendable(_) => Ok(Outcome::Done),
        Claim::Missing => Ok(Outcome::GiveUp {
            reason: "the receipt does not exist".to_owned(),
        }),
    }
}

/// Hands a claimed receipt over.
pub(crate) async fn hand_over(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let now = app.clock.now();
    let Some(identity) = app.identities.of(&receipt.scope.company, now).await? else {
        let message = "the company has no certificate: upload its P12, then retry";
        return fail(app, receipt, "certificate_missing", message).await;
    };
    let Some(upload) = upload(app, receipt).await? else {
        return fail(
            app,
            receipt,
            "signed_xml_missing",
            "the signed document is not in the bucket",
        )
        .await;
    };
    let session = app.tokens.session(receipt.scope.environment, &identity);
    let sent = if receipt.is_sent_as_summary() {
        session.send_summary(&upload).await.map(Handed::Judged)
    } else {
        session.send_receipt(&upload).await.map(Handed::Received)
    };
    match sent {
        Ok(Handed::Received(Sent::Track { track_id, .. })) => {
            app.table
                .record_submitted(&receipt.scope, &receipt.public_id, &track_id, app.clock.now())
                .await?;
            Ok(Outcome::Again {
                job: first_poll(receipt),
                after: schedule::poll(0),
            })
        }
        Ok(Handed::Received(Sent::Refused(answer))) => refused(app, job, receipt, &answer).await,
        Ok(Handed::Judged(judged)) => verdict::record(app, job, receipt, &judged, None).await,
        Err(error) => failed(app, job, receipt, error).await,
    }
}

enum Handed {
    Received(Sent),
    Judged(ecf_taxauth::Judged),
}

async fn upload(app: &App, receipt: &Receipt) -> Result<Option<Upload>, StoreError> {
    let Some(signed) = &receipt.signed else { return Ok(None) };
    let (kind, hash) = match &signed.rfce {
        Some(rfce) => (ArtifactKind::Rfce, rfce),
        None => (ArtifactKind::SignedXml, &signed.signed_xml),
    };
    let bytes = app
        .artifacts
        .get(&receipt.scope, receipt.created_at, &receipt.public_id, kind, hash)
        .await?;
    Ok(bytes.map(|bytes| Upload::receipt(&receipt.company_rnc, &signed.encf, bytes.to_vec())))
}

/// The authority did not take the document and says why: its words stay, and the receipt waits for a person.
///
/// "Already used" is the exception: an earlier copy may be ours, so the number is looked up first.
async fn refused(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
    answer: &Answer,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    if answer.says_already_used() {
        return look_up::of_used_number(app, job, receipt, answer).await;
    }
    let code = answer.error_code().unwrap_or("refused").to_owned();
    let words = answer
        .words()
        .unwrap_or_else(|| "the tax authority refused the document without a word".to_owned());
    fail(app, receipt, &code, &words).await
}

async fn failed(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
    error: TaxAuthError,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let chain = ecf_runtime::telemetry::chain(&error).to_string();
    if !error.nothing_was_taken() {
        tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "the outcome of a send is unknown; looking it up");
        let now = app.clock.now();
        app.table
            .record_answer_lost(&receipt.scope, &receipt.public_id, receipt.send_attempt, now)
            .await?;
        return Ok(Outcome::Again {
            job: next(job),
            after: schedule::after_failure(job.attempt()),
        });
    }
    let answer = match &error {
        TaxAuthError::Refused { answer, .. } | TaxAuthError::NoToken(TokenError::Refused(answer)) => Some(answer),
        _ => None,
    };
    if let Some(answer) = answer {
        return refused(app, job, receipt, answer).await;
    }
    tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "not sent; trying again");
    app.table
        .release_send(&receipt.scope, &receipt.public_id, receipt.send_attempt)
        .await?;
    Ok(later(job, error.retry_after()))
}

/// The next attempt from the queue, or the due index once there were many.
pub(crate) fn later(job: &SubmissionJob, retry_after: Option<std::time::Duration>) -> Outcome<SubmissionJob> {
    if job.attempt() >= schedule::ATTEMPTS_IN_QUEUE {
        return Outcome::Done;
    }
    let after = schedule::after_failure(job.attempt()).max(retry_after.unwrap_or_default());
    Outcome::Again { job: next(job), after }
}

pub(crate) fn again_after_lease(
    job: &SubmissionJob,
    receipt: &Receipt,
    now: jiff::Timestamp,
) -> Outcome<SubmissionJob> {
    Outcome::Again {
        job: next(job),
        after: wait_for_lease(receipt, now),
    }
}

fn wait_for_lease(receipt: &Receipt, now: jiff::Timestamp) -> std::time::Duration {
    let left = receipt.lease_until.map_or(LEASE, |until| until.duration_since(now));
    std::time::Duration::try_from(left).unwrap_or_default() + std::time::Duration::from_secs(1)
}

/// Ends the way with a reason that the caller can read.
pub(crate) async fn fail(
    app: &App,
    receipt: &Receipt,
    code: &str,
    message: &str,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    app.table
        .record_failed(&receipt.scope, &receipt.public_id, code, message, app.clock.now())
        .await?;
    tracing::error!(receipt.id = %receipt.public_id, code, "a receipt failed and waits for a person");
    Ok(Outcome::Done)
}

/// A session for questions about this receipt.
pub(crate) fn session<'a>(app: &'a App, receipt: &Receipt, identity: &'a Identity) -> Session<'a> {
    app.tokens.session(receipt.scope.environment, identity)
}
