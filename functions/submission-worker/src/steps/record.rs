//! Recording the track id, the verdict or the failure. A verdict is one write: the state, the authority's answer and the outbox.

use ecf::sending::FinalVerdict;
use ecf::{Environment, ReceiptState, ReceiptType};
use ecf_runtime::Metric;
use ecf_store::{
    Receipt, StoreError,
    receipts::{Failure, OutboxEntry, Recorded},
};

use crate::App;
use crate::report::{FailCause, Happened, Report, Reported, Words, error_code};

/// The authority has the document, under this identifier.
pub(crate) async fn track(app: &App, receipt: &Receipt, track_id: &str) -> Reported {
    app.table
        .record_submitted(&receipt.scope, &receipt.public_id, track_id, app.clock.now())
        .await?;
    Ok(Happened::TrackRecorded.into())
}

/// Records one final state. The worker that writes it first publishes and counts it; the others find it done.
pub(crate) async fn verdict(app: &App, receipt: &Receipt, verdict: FinalVerdict<Words>) -> Reported {
    let FinalVerdict {
        state,
        secuencia_utilizada,
        answer,
        track_id,
    } = verdict;
    let with_words = state != ReceiptState::Accepted;
    let mut outbox = vec![OutboxEntry::Webhook];
    // The simulation step of the certification takes no number twice (process guide, step 4).
    let leaves_number = state == ReceiptState::Rejected && secuencia_utilizada == Some(false);
    if leaves_number && receipt.scope.environment != Environment::CerteCF {
        outbox.push(OutboxEntry::Number);
    }
    if goes_to_buyer(app, receipt, state).await? {
        outbox.push(OutboxEntry::Exchange);
    }
    let verdict = ecf_store::receipts::Verdict {
        state,
        track_id,
        error_code: answer.error_code().filter(|_| with_words).map(str::to_owned),
        error_message: answer.words().filter(|_| with_words),
        secuencia_utilizada,
        taxauth_response: Some(answer.to_json()),
        outbox,
    };
    let now = app.clock.now();
    let recorded = app
        .table
        .record_verdict(&receipt.scope, &receipt.public_id, verdict, now)
        .await?;
    let receipt = match recorded {
        Recorded::Now(receipt) => receipt,
        Recorded::Already(receipt) if !receipt.state.is_final() => {
            tracing::error!(receipt.id = %receipt.public_id, from = %receipt.state, to = %state, "the table of states does not allow this step");
            return Ok(Happened::Finished.into());
        }
        Recorded::Already(_) | Recorded::Missing => return Ok(Happened::Finished.into()),
    };
    tracing::info!(receipt.id = %receipt.public_id, encf = receipt.encf().map(tracing::field::display), state = %state, "verdict recorded");
    emit(app, &receipt);
    Ok(Report::of_receipt(Happened::VerdictRecorded, receipt))
}

/// Whether the receipt goes to its buyer now. Only a type 45 depends on what the company wants.
async fn goes_to_buyer(app: &App, receipt: &Receipt, state: ReceiptState) -> Result<bool, StoreError> {
    if receipt.fiscal.ecf_type != ReceiptType::E45 {
        return Ok(receipt.goes_to_buyer(state, false));
    }
    let company = app.profiles.of(&receipt.scope.company, app.clock.now()).await?;
    Ok(company.is_some_and(|company| receipt.goes_to_buyer(state, company.settings.deliver_45)))
}

/// Emits the metrics of a verdict, and how long it took.
fn emit(app: &App, receipt: &Receipt) {
    let metric = match receipt.state {
        ReceiptState::Accepted => Metric::ReceiptsAccepted,
        ReceiptState::ConditionallyAccepted => Metric::ReceiptsConditionallyAccepted,
        _ => Metric::ReceiptsRejected,
    };
    let seconds = app.clock.now().duration_since(receipt.created_at).as_secs();
    let seconds = u64::try_from(seconds).unwrap_or(0);
    app.emit(
        receipt.scope.environment,
        &[(metric, 1), (Metric::VerdictSeconds, seconds)],
    );
}

/// Stops the receipt with a reason that the caller can read.
pub(crate) async fn failure(app: &App, receipt: &Receipt, cause: &FailCause) -> Reported {
    let code = error_code(cause);
    let words = cause.answer().and_then(|answer| answer.words());
    let modifies = receipt.note.map(|note| note.modifies.to_string());
    let message = cause.message(words, modifies.as_deref().unwrap_or_default());
    let response = cause.answer().map(|answer| answer.to_json());
    let failure = Failure {
        code,
        message: &message,
        taxauth_response: response.as_deref(),
    };
    let recorded = app
        .table
        .record_failed(&receipt.scope, receipt, failure, app.clock.now())
        .await?;
    tracing::error!(receipt.id = %receipt.public_id, code, "a receipt failed and waits for a person");
    let Recorded::Now(receipt) = recorded else {
        return Ok(Happened::Finished.into());
    };
    app.emit(receipt.scope.environment, &[(Metric::ReceiptsFailed, 1)]);
    Ok(Report::of_receipt(Happened::FailureRecorded, receipt))
}
