//! Asking for the verdict of a submitted receipt.

use std::sync::{Arc, OnceLock};

use ecf::sending::{Finding, LookUp, Said};
use ecf_runtime::telemetry;
use ecf_store::{Receipt, StoreError};
use ecf_taxauth::{Judged, ResultQuery, Session, TaxAuthError};
use xmldsig::Identity;

use crate::App;
use crate::report::{Happened, Learned, Report, Words, judgement};

pub(crate) async fn poll<'a>(
    app: &'a App,
    receipt: &Receipt,
    opened: &'a OnceLock<Arc<Identity>>,
) -> Result<Report<'a>, StoreError> {
    let Some(identity) = app.identities.of(&receipt.scope.company, app.clock.now()).await? else {
        tracing::error!(receipt.id = %receipt.public_id, "the company has no certificate to ask for the verdict with");
        return Ok(Happened::NoCertificate.into());
    };
    let session = app.session(&receipt.scope, opened.get_or_init(|| identity));
    let track_id = receipt.sending.track_id.as_deref().unwrap_or_default();
    let happened = match result(&session, receipt, track_id).await {
        Ok(judged) => {
            let (judgement, answer) = judgement(judged);
            Happened::Polled(judgement, answer)
        }
        Err(error) => {
            tracing::warn!(receipt.id = %receipt.public_id, error = %telemetry::chain(&error), "no verdict yet");
            Happened::PollFailed(error.retry_after())
        }
    };
    Ok(Report::of(happened, Learned::Session(session)))
}

/// Asks for the verdict on an earlier copy of the receipt.
pub(crate) async fn poll_earlier(
    session: &Session<'_>,
    receipt: &Receipt,
    said: Said<Words>,
    track_id: String,
) -> Report<'static> {
    let finding = match result(session, receipt, &track_id).await {
        Ok(judged) => {
            let (judgement, answer) = judgement(judged);
            Finding::Judged(judgement, answer, Some(track_id))
        }
        Err(error) => Finding::Failed(error.retry_after()),
    };
    Happened::Found(LookUp::UsedNumber(said), finding).into()
}

/// The verdict of a submission of this receipt.
async fn result(session: &Session<'_>, receipt: &Receipt, track_id: &str) -> Result<Judged, TaxAuthError> {
    let submission = ResultQuery {
        track_id,
        rnc_emisor: &receipt.fiscal.company_rnc,
        encf: receipt.encf(),
    };
    session.result(submission).await
}
