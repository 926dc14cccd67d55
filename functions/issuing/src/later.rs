//! Issues a stored receipt: at its scheduled time, or when the company's certificate can be read again.
//!
//! Every step is safe to run twice. The document is validated again, as of now. The record takes number and signature
//! only while it still awaits them, in one transaction with the lock: of two workers one wins, and a cancellation in
//! between wins over both. Housekeeping finds a number that an attempt took without locking it. A document that does
//! not pass any more ends as `failed`, with advice for the caller.

use ecf::{FailReason, Numbered, ReceiptState};
use ecf_api::ApiError;
use ecf_issuance::{StoredRequest, note};
use ecf_language::say;
use ecf_runtime::{Message, Outcome};
use ecf_store::{
    ArtifactKind, IssuingJob, Receipt, ReceiptJob, StoreError,
    receipts::{AsSigned, Failure, Signed, SignedLater},
    waits,
};
use jiff::Timestamp;

use crate::App;
use crate::check::check;
use crate::issuer::Issuer;
use crate::record::{particulars, report_issued, send};
use crate::signing::{Record, Signer, Unsigned, count_number, signer, with_a_number};
use crate::stored::restored;

/// Runs one job.
pub async fn handle(app: &App, job: IssuingJob, _message: Message) -> Outcome<IssuingJob> {
    issue_stored(app, &job).await.unwrap_or_else(|error| {
        let IssuingJob::Issue(ReceiptJob { receipt, .. }) = &job;
        tracing::warn!(receipt.id = %receipt, error = %ecf_runtime::telemetry::chain(&error), "the store failed; the job is retried");
        again(job)
    })
}

async fn issue_stored(app: &App, IssuingJob::Issue(job): &IssuingJob) -> Result<Outcome<IssuingJob>, StoreError> {
    let Some(receipt) = app.table.receipt(&job.scope, &job.receipt).await? else {
        return Ok(missing());
    };
    let now = app.clock.now();
    match receipt.state {
        ReceiptState::Received | ReceiptState::Validated => {}
        ReceiptState::Deferred if receipt.scheduled_for.is_none_or(|due| due <= now) => {}
        // An earlier run signed it and crashed before it enqueued the submission.
        ReceiptState::Signed if receipt.sending.attempts == 0 => return sent(app, &receipt).await,
        _ => return Ok(Outcome::Done),
    }
    match number_sign_and_store(app, &receipt, now).await {
        Ok(SignedLater::Now(receipt)) => {
            report_issued(app, &receipt);
            sent(app, &receipt).await
        }
        Ok(SignedLater::NotSignable(_)) => Ok(Outcome::Done),
        Ok(SignedLater::NumberTaken) => fail(app, &receipt, number_taken()).await,
        Ok(SignedLater::Missing) => Ok(missing()),
        Err(error) if error.status().is_server_error() => {
            let (code, message) = error.summary();
            tracing::warn!(receipt.id = %receipt.public_id, code, message, error = ?error, "the receipt was not issued; the job is retried");
            Ok(again(IssuingJob::Issue(*job)))
        }
        Err(error) => fail(app, &receipt, error).await,
    }
}

/// All steps of `POST /api/v1/ecf`, for an existing record.
async fn number_sign_and_store(app: &App, receipt: &Receipt, now: Timestamp) -> Result<SignedLater, ApiError> {
    let (scope, id) = (&receipt.scope, &receipt.public_id);
    let stored = match &receipt.payload {
        Some(hash) => {
            let kind = ArtifactKind::Payload;
            app.artifacts.get(scope, receipt.created_at, id, kind, hash).await?
        }
        None => None,
    };
    let stored = stored.ok_or_else(unreadable)?;
    let stored = StoredRequest::read(&stored).map_err(|error| unreadable().caused_by(error))?;
    let summary = stored.summary.clone();
    let (request, query) = restored(receipt, stored);
    let settings = app.settings(&scope.company).await?;
    let ecf = check(&Issuer::from(receipt), &request, &query, &settings, now)?.ecf;
    // A note reserved its amount when it was stored, and its invoice is checked again before sending. A note whose
    // invoice was unknown here at that time has reserved nothing.
    if receipt.note.is_none()
        && note::judge(
            &app.table,
            scope,
            ecf.document(),
            ecf.receipt_type(),
            settings.hold_notes,
        )
        .await?
        .is_some()
    {
        return Err(ApiError::conflict(
            FailReason::NoteNotKept.as_str(),
            say!(
                "the receipt that it modifies was issued here after the note was kept, so the note does not count \
                 there",
                "el comprobante que modifica se emitió aquí después de guardar la nota, así que la nota no cuenta en \
                 él"
            ),
        ));
    }
    let identity = match signer(app, &scope.company, now).await? {
        Signer::Here(identity) => identity,
        Signer::OutOfReach(error) => return Err(error.into()),
    };
    let document = Unsigned {
        scope,
        id,
        created_at: Some(receipt.created_at),
        ecf: &ecf,
        summary: summary.as_ref(),
        identity: &identity,
    };
    let (outcome, counts_in) = with_a_number(app, &document, &StoredRecord { app, receipt }).await?;
    if let SignedLater::Now(receipt) = &outcome {
        count_number(app, receipt, counts_in.as_deref()).await;
    }
    Ok(outcome)
}

/// The record of a receipt that was stored without a number.
struct StoredRecord<'r> {
    app: &'r App,
    receipt: &'r Receipt,
}

impl Record for StoredRecord<'_> {
    type Written = SignedLater;

    async fn write(&self, numbered: Numbered, signed: Signed, now: Timestamp) -> Result<SignedLater, ApiError> {
        let Receipt { scope, public_id, .. } = self.receipt;
        let (monto_total, taken) = (numbered.monto_total().to_string(), &self.receipt.fiscal.monto_total);
        if self.receipt.note.is_some() && monto_total != *taken {
            return Err(ApiError::conflict(
                FailReason::NoteChanged.as_str(),
                say!(
                    "the note comes to {monto_total} now and has taken {taken} from its invoice",
                    "la nota suma ahora {monto_total} y tomó {taken} de su factura"
                ),
            ));
        }
        let table = &self.app.table;
        let amounts = AsSigned {
            monto_total: &monto_total,
            particulars: &particulars(&numbered),
        };
        Ok(table.sign_receipt(scope, public_id, &signed, amounts, now).await?)
    }
}

async fn sent(app: &App, receipt: &Receipt) -> Result<Outcome<IssuingJob>, StoreError> {
    send(app, receipt).await?;
    Ok(Outcome::Done)
}

/// Records `failed` with a reason on which the caller can act.
async fn fail(app: &App, receipt: &Receipt, error: ApiError) -> Result<Outcome<IssuingJob>, StoreError> {
    let (code, message) = error.summary();
    let message = format!("{message}; {}", remedy(&code));
    let failure = Failure {
        code: &code,
        message: &message,
        taxauth_response: None,
    };
    app.table
        .record_failed(&receipt.scope, receipt, failure, app.clock.now())
        .await?;
    tracing::error!(receipt.id = %receipt.public_id, code, "a stored receipt could not be issued");
    Ok(Outcome::Done)
}

/// The advice for the caller.
fn remedy(code: &str) -> &'static str {
    match code.parse() {
        Ok(FailReason::CertificateMissing | FailReason::CertificateNotValid | FailReason::CertificateUnusable) => {
            "then send it with a new idempotency_key, or have this receipt retried"
        }
        Ok(FailReason::NoRange | FailReason::RangeExhausted | FailReason::RangeExpired) => {
            "open a range, then send it with a new idempotency_key, or have this receipt retried"
        }
        Ok(FailReason::EncfAlreadyUsed | FailReason::EncfOutsideRanges | FailReason::EncfExpired) => {
            "send it with another eNCF and a new idempotency_key"
        }
        _ => "correct the document and send it with a new idempotency_key",
    }
}

fn number_taken() -> ApiError {
    let code = FailReason::EncfAlreadyUsed.as_str();
    ApiError::conflict(
        code,
        say!(
            "another receipt has this eNCF by now",
            "otro comprobante ya tiene este eNCF"
        ),
    )
}

fn unreadable() -> ApiError {
    let code = FailReason::PayloadUnreadable.as_str();
    ApiError::conflict(
        code,
        say!(
            "the stored request cannot be read back",
            "no se puede leer la petición guardada"
        ),
    )
}

fn missing() -> Outcome<IssuingJob> {
    Outcome::GiveUp {
        reason: "the receipt does not exist".to_owned(),
    }
}

fn again(mut job: IssuingJob) -> Outcome<IssuingJob> {
    let IssuingJob::Issue(ReceiptJob { attempt, .. }) = &mut job;
    let Some(after) = waits::STEP.after(*attempt) else {
        return Outcome::Done;
    };
    *attempt += 1;
    Outcome::Again { job, after }
}
