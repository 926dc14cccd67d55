//! A track id that the authority does not find: for some hours that is its delay, then the number is looked up.
//!
//! Found under another track id, that one is taken. Not found by two look-ups a minute apart, the receipt goes back to its
//! send as if the answer to the send had been lost: the same bytes are sent again. Where no look-up exists nothing is sent
//! again; the alarm about the age of a submitted receipt brings an operator.

use std::time::Duration;

use ecf_runtime::{Metric, Outcome};
use ecf_store::{
    LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, NOT_FOUND_PATIENCE, NotFoundBy, Receipt, Recorded, StoreError, SubmissionJob,
};
use ecf_taxauth::{Session, TaxAuthError, TokenError, where_to_look};

use crate::look_up::{Found, ask_for_missing};
use crate::{App, first_poll, hold, later, schedule, verdict};

/// Looks up the number of a submitted receipt whose track id was not found; before its hours have passed, asks again later.
pub(crate) async fn look_up(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let submitted_at = receipt.submitted_at.unwrap_or(receipt.created_at);
    let has_look_up = where_to_look(session.environment(), receipt.is_sent_as_summary()).is_some();
    if !has_look_up || app.clock.now() < submitted_at + NOT_FOUND_PATIENCE {
        return Ok(schedule::poll_again(job));
    }
    match ask_for_missing(session, receipt).await {
        Ok(Found::Track(track_id)) => take(app, job, receipt, &track_id).await,
        Ok(Found::Judged(judged)) => verdict::record(app, job, session, receipt, &judged).await,
        Ok(Found::Nothing) => negative(app, job, receipt).await,
        Ok(Found::Unclear) => Ok(schedule::poll_again(job)),
        Err(TaxAuthError::Held(held) | TaxAuthError::NoToken(TokenError::Held(held))) => {
            hold::until(app, job, held).await
        }
        Err(error) => {
            let chain = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "the look-up of a missing document failed");
            app.tell_error(job);
            later(app, job, error.retry_after()).await
        }
    }
}

/// Forgets earlier look-ups that found nothing: they must not count towards a later resend.
pub(crate) async fn found_again(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    if receipt.lookup_negatives > 0 {
        app.table
            .record_found_again(&receipt.scope, receipt, app.clock.now())
            .await?;
    }
    Ok(())
}

async fn take(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
    track_id: &str,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let now = app.clock.now();
    match app.table.replace_track(&receipt.scope, receipt, track_id, now).await? {
        Recorded::Now(receipt) => {
            tracing::warn!(receipt.id = %receipt.public_id, track_id, "the document was found under another track id");
            Ok(first_poll(&receipt))
        }
        Recorded::Already(_) | Recorded::Missing => Ok(schedule::poll_again(job)),
    }
}

async fn negative(app: &App, job: &SubmissionJob, receipt: &Receipt) -> Result<Outcome<SubmissionJob>, StoreError> {
    let (scope, now) = (&receipt.scope, app.clock.now());
    let receipt = match app.table.record_not_found(scope, receipt, now).await? {
        Recorded::Now(receipt) => receipt,
        // Within a minute of the last, or another worker went on.
        Recorded::Already(receipt) => receipt,
        Recorded::Missing => return Ok(Outcome::Done),
    };
    if receipt.lookup_negatives < LOOKUPS_BEFORE_RESEND {
        let wait = Duration::try_from(LOOKUP_SPACING).unwrap_or_default();
        return Ok(schedule::again(
            job,
            schedule::after_failure(job.attempt()).map(|_| wait),
        ));
    }
    let returned = app
        .table
        .return_to_send(scope, &receipt, NotFoundBy::LookUps, now)
        .await?;
    let Recorded::Now(receipt) = returned else {
        return Ok(schedule::poll_again(job));
    };
    tracing::error!(
        receipt.id = %receipt.public_id,
        encf = receipt.encf().map(tracing::field::display),
        "the tax authority lost a document that it gave a track id for; the same bytes are sent again"
    );
    app.tell(receipt.scope.environment, &[(Metric::ReceiptsNotFound, 1)]);
    let job = SubmissionJob::Send(receipt.job());
    Ok(Outcome::Again {
        job,
        after: Duration::ZERO,
    })
}
