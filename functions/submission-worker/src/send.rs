//! Sending: a token, the claim, the frozen bytes, and writing down what came of it.
//!
//! What can fail without anything being sent comes before the claim (certificate, token) or gives the claim back, so that a
//! lease without an answer means what it says: the document may have arrived.

use std::time::Duration;

use ecf::{Environment, ReceiptState};
use ecf_runtime::{Metric, Outcome};
use ecf_store::{
    ArtifactKind, Claim, Failure, LOOKUPS_BEFORE_RESEND, Receipt, Recorded, StoreError, SubmissionJob,
    waits::SEND_LEASE,
};
use ecf_taxauth::{Answer, Judged, Sent, Session, TaxAuthError, TokenError, Upload, Verdict};

use crate::{App, first_poll, hold, later, look_up, notes, schedule, used_number, verdict};

/// How long a send may take: the worker's time limit, and well within the lease.
const SEND_LIMIT: Duration = Duration::from_secs(60);
/// So many times the authority may refuse a certificate before that is believed: a seed can be late, a delegation new.
const REFUSED_TOKENS: u32 = 3;

const NO_CERTIFICATE: Failure<'static> = Failure {
    code: "certificate_missing",
    message: "the company has no certificate: upload its P12, then retry",
    taxauth_response: None,
};
const ABANDONED: Failure<'static> = Failure {
    code: "attempt_abandoned",
    message: "a new attempt of the certification began before it was sent: send it with a new idempotency_key",
    taxauth_response: None,
};
/// What to do about "Tipo de certificado no admitido", which no retry mends.
const WRONG_KIND: &str = "the certificate is not one for tax procedures (\"para procedimiento tributario\"), is self-signed, or is that of an \
    issuer of certificates instead of the signer's own; upload the right P12, then retry";
const NO_DOCUMENT: Failure<'static> = Failure {
    code: "signed_xml_missing",
    message: "the signed document is not in the bucket",
    taxauth_response: None,
};

/// Sends a receipt that nobody has sent, or finds out what became of an earlier send.
pub(crate) async fn send(app: &App, job: &SubmissionJob) -> Result<Outcome<SubmissionJob>, StoreError> {
    let (scope, id) = (job.scope(), job.receipt());
    if let Some(receipt) = abandoned(app, job).await? {
        return fail(app, &receipt, ABANDONED).await;
    }
    let identity = match app.identities.of(&scope.company, app.clock.now()).await {
        Ok(Some(identity)) => identity,
        Ok(None) => return stop(app, job, NO_CERTIFICATE).await,
        Err(error @ StoreError::Corrupt { .. }) => return stop(app, job, unusable(&error.to_string())).await,
        Err(error) => return Err(error),
    };
    let session = app
        .tokens
        .session(scope.environment, &identity)
        .of_company(&scope.company);
    if let Err(error) = session.authenticate().await {
        return without_token(app, job, error).await;
    }
    let now = app.clock.now();
    let mut claim = app.table.claim_send(&scope, &id, now, SEND_LEASE).await?;
    if let Claim::Held(note) = &claim {
        if let Some(outcome) = notes::look_after(app, job, note).await? {
            return Ok(outcome);
        }
        claim = app.table.claim_send(&scope, &id, now, SEND_LEASE).await?;
    }
    match claim {
        // Boxed, so that an unoptimised build fits into a thread's stack.
        Claim::Claimed(receipt) => Box::pin(hand_over(app, job, &session, &receipt)).await,
        Claim::LeaseExpired(receipt) => Box::pin(look_up::look_up(app, job, &session, &receipt)).await,
        // Somebody is on it; if they die, their lease runs out.
        Claim::Leased(receipt) => Ok(again_after_lease(job, &receipt, now)),
        // Submitted already: the question for its verdict may have been lost.
        Claim::NotSendable(receipt) if receipt.track_id.is_some() && !receipt.state.is_final() => {
            Ok(first_poll(&receipt))
        }
        // Held again: it failed in between, and waits for a person.
        Claim::NotSendable(_) | Claim::Held(_) => Ok(Outcome::Done),
        Claim::Missing => Ok(missing()),
    }
}

/// The receipt, when it is of an earlier attempt of the certification and is about to be sent: its number may go to another one,
/// and the authority must not get it in the new attempt. One whose send may have arrived is looked up first.
async fn abandoned(app: &App, job: &SubmissionJob) -> Result<Option<Receipt>, StoreError> {
    let scope = job.scope();
    if scope.environment != Environment::CerteCF {
        return Ok(None);
    }
    let Some(receipt) = app.table.receipt(&scope, &job.receipt()).await? else {
        return Ok(None);
    };
    let now = app.clock.now();
    let waits = matches!(receipt.state, ReceiptState::Signed | ReceiptState::Contingency)
        && receipt
            .lease_until
            .is_none_or(|until| until <= now && receipt.lookup_negatives >= LOOKUPS_BEFORE_RESEND);
    let is_abandoned = waits && app.table.is_of_earlier_attempt(&scope, receipt.created_at).await?;
    Ok(is_abandoned.then_some(receipt))
}

pub(crate) fn missing() -> Outcome<SubmissionJob> {
    Outcome::GiveUp {
        reason: "the receipt does not exist".to_owned(),
    }
}

/// Nothing was sent, and nothing can be: tried again, unless the authority goes on refusing the certificate.
async fn without_token(
    app: &App,
    job: &SubmissionJob,
    error: TokenError,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let is_patient = job.attempt() < REFUSED_TOKENS;
    match error {
        TokenError::Refused(answer) if !is_patient || answer.refuses_the_kind_of_certificate() => {
            let code = answer.error_code().unwrap_or("certificate_refused");
            let mut message = answer
                .words()
                .unwrap_or_else(|| "the tax authority refused the certificate without a word".to_owned());
            if answer.refuses_the_kind_of_certificate() {
                message = format!("{message}: {WRONG_KIND}");
            }
            let response = answer.to_json();
            let failure = Failure {
                code,
                message: &message,
                taxauth_response: Some(&response),
            };
            stop(app, job, failure).await
        }
        TokenError::Held(held) => hold::until(app, job, held).await,
        TokenError::Identity(error) => stop(app, job, unusable(&error.to_string())).await,
        error => {
            let error = TaxAuthError::NoToken(error);
            let chain = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::warn!(receipt.id = %job.receipt(), error = %chain, "no token; trying again");
            app.tell_error(job);
            later(app, job, error.retry_after()).await
        }
    }
}

fn unusable(message: &str) -> Failure<'_> {
    Failure {
        code: "certificate_unusable",
        message,
        taxauth_response: None,
    }
}

/// Stops a receipt that nobody has sent. One whose send may have arrived goes on waiting for its look-up instead: a retry
/// by a person would not know of it.
async fn stop(app: &App, job: &SubmissionJob, failure: Failure<'_>) -> Result<Outcome<SubmissionJob>, StoreError> {
    let Some(receipt) = app.table.receipt(&job.scope(), &job.receipt()).await? else {
        return Ok(missing());
    };
    match receipt.state {
        ReceiptState::Signed | ReceiptState::Contingency if receipt.lease_until.is_none() => {
            fail(app, &receipt, failure).await
        }
        ReceiptState::Signed | ReceiptState::Contingency => {
            tracing::error!(receipt.id = %receipt.public_id, code = failure.code, "an earlier send cannot be looked up");
            later(app, job, None).await
        }
        _ => Ok(Outcome::Done),
    }
}

/// Hands a claimed receipt over.
pub(crate) async fn hand_over(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let upload = match upload(app, receipt).await {
        Ok(Some(upload)) => upload,
        Ok(None) => return fail(app, receipt, NO_DOCUMENT).await,
        Err(error) => {
            release(app, receipt).await?;
            return Err(error);
        }
    };
    let sending = async {
        if receipt.is_sent_as_summary() {
            session.send_summary(&upload).await.map(Handed::Judged)
        } else {
            session.send_receipt(&upload).await.map(Handed::Received)
        }
    };
    match tokio::time::timeout(SEND_LIMIT, sending).await {
        Ok(Ok(Handed::Received(Sent::Track { track_id, .. }))) => submitted(app, receipt, &track_id).await,
        Ok(Ok(Handed::Received(Sent::Refused(answer)))) => refused(app, job, session, receipt, answer).await,
        Ok(Ok(Handed::Judged(judged))) => verdict::record(app, job, session, receipt, &judged).await,
        Ok(Err(error)) => failed(app, job, session, receipt, error).await,
        Err(_) => look_up::soon(app, job, receipt, None).await,
    }
}

enum Handed {
    Received(Sent),
    Judged(Judged),
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

/// The authority has it: its identifier is kept, and the verdict asked for.
pub(crate) async fn submitted(
    app: &App,
    receipt: &Receipt,
    track_id: &str,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    app.table
        .record_submitted(&receipt.scope, &receipt.public_id, track_id, app.clock.now())
        .await?;
    Ok(first_poll(receipt))
}

/// The authority did not take the document and says why: its words stay, and the receipt waits for a person.
///
/// "Already used" is the exception: an earlier copy may be ours, so the number is looked up first.
async fn refused(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
    answer: Answer,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    if answer.says_already_used() {
        let refusal = Judged {
            verdict: Verdict::Unclear,
            answer,
        };
        return used_number::of_used_number(app, job, session, receipt, &refusal).await;
    }
    fail_refused(app, receipt, &answer).await
}

/// Ends the way of a document that the authority did not take.
pub(crate) async fn fail_refused(
    app: &App,
    receipt: &Receipt,
    answer: &Answer,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let message = answer
        .words()
        .unwrap_or_else(|| "the tax authority refused the document without a word".to_owned());
    let response = answer.to_json();
    let failure = Failure {
        code: answer.error_code().unwrap_or("refused"),
        message: &message,
        taxauth_response: Some(&response),
    };
    fail(app, receipt, failure).await
}

async fn failed(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
    error: TaxAuthError,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let chain = ecf_runtime::telemetry::chain(&error).to_string();
    let retry_after = error.retry_after();
    match error {
        TaxAuthError::Refused { answer, .. } => refused(app, job, session, receipt, *answer).await,
        TaxAuthError::Held(held) | TaxAuthError::NoToken(TokenError::Held(held)) => {
            release(app, receipt).await?;
            hold::until(app, job, held).await
        }
        error if error.nothing_was_taken() => {
            tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "not sent; trying again");
            app.tell_error(job);
            release(app, receipt).await?;
            later(app, job, retry_after).await
        }
        _ => {
            tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "the outcome of a send is unknown; looking it up");
            app.tell_error(job);
            look_up::soon(app, job, receipt, retry_after).await
        }
    }
}

/// Gives the claim back: nothing was sent.
async fn release(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    app.table
        .release_send(&receipt.scope, &receipt.public_id, receipt.send_attempt)
        .await?;
    Ok(())
}

pub(crate) fn again_after_lease(
    job: &SubmissionJob,
    receipt: &Receipt,
    now: jiff::Timestamp,
) -> Outcome<SubmissionJob> {
    let left = receipt
        .lease_until
        .map_or(SEND_LEASE, |until| until.duration_since(now));
    let wait = Duration::try_from(left).unwrap_or_default() + Duration::from_secs(1);
    schedule::again(job, schedule::after_failure(job.attempt()).map(|after| after.max(wait)))
}

/// Ends the way with a reason that the caller can read.
pub(crate) async fn fail(
    app: &App,
    receipt: &Receipt,
    failure: Failure<'_>,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let recorded = app
        .table
        .record_failed(&receipt.scope, receipt, failure, app.clock.now())
        .await?;
    if let Recorded::Now(receipt) = &recorded {
        app.tell(receipt.scope.environment, &[(Metric::ReceiptsFailed, 1)]);
        notes::wake(app, receipt).await;
    }
    tracing::error!(receipt.id = %receipt.public_id, code = failure.code, "a receipt failed and waits for a person");
    Ok(Outcome::Done)
}
