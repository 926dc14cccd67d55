//! Finding out whether the authority has a document whose send was lost, before anything is sent again.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{
    Claim, LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, Receipt, Recorded, StoreError, SubmissionJob, waits::SEND_LEASE,
};
use ecf_taxauth::{
    Judged, ReceiptQuery, Service, Session, Submission, Submissions, SummaryQuery, TaxAuthError, TokenError, Verdict,
    where_to_look,
};

use crate::send::{again_after_lease, hand_over, submitted};
use crate::{App, hold, later, schedule, verdict};

const OUTCOME_UNKNOWN: &str = "the send was lost and this environment has no look-up of e-CF sent in full; an operator decides, since a second send would reset the certification";

/// What the authority says of a receipt's number.
pub(crate) enum Found {
    /// Ours is there, by this track id.
    Track(String),
    /// Ours is there and judged.
    Judged(Judged),
    /// It has no such number, or other bytes under it: ours has not arrived.
    Nothing,
    /// It says neither yet.
    Unclear,
}

/// Looks a receipt up whose lease ran out; after two negative answers a minute apart it is sent again.
pub(crate) async fn look_up(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let (scope, id) = (&receipt.scope, &receipt.public_id);
    let now = app.clock.now();
    let resends = receipt.lookup_negatives >= LOOKUPS_BEFORE_RESEND;
    if !resends && where_to_look(scope.environment, receipt.is_sent_as_summary()).is_none() {
        app.table
            .record_outcome_unknown(scope, id, receipt.send_attempt, OUTCOME_UNKNOWN, now)
            .await?;
        tracing::error!(receipt.id = %id, "the outcome of a send is unknown and cannot be looked up");
        return Ok(Outcome::Done);
    }
    let claim = if resends {
        app.table.claim_resend(scope, id, now, SEND_LEASE).await?
    } else {
        app.table.claim_lookup(scope, id, now, SEND_LEASE).await?
    };
    match claim {
        Claim::Claimed(receipt) if resends => Box::pin(hand_over(app, job, session, &receipt)).await,
        Claim::Claimed(receipt) => Box::pin(ask_once(app, job, session, &receipt)).await,
        Claim::Leased(receipt) => Ok(again_after_lease(job, &receipt, now)),
        _ => later(app, job, None).await,
    }
}

async fn ask_once(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    match Box::pin(ask(session, receipt)).await {
        Ok(Found::Track(track_id)) => submitted(app, receipt, &track_id).await,
        Ok(Found::Judged(judged)) => verdict::record(app, job, session, receipt, &judged).await,
        Ok(Found::Nothing) => negative(app, job, receipt).await,
        Ok(Found::Unclear) => soon(app, job, receipt, None).await,
        Err(TaxAuthError::Held(held) | TaxAuthError::NoToken(TokenError::Held(held))) => {
            app.table
                .record_answer_lost(
                    &receipt.scope,
                    &receipt.public_id,
                    receipt.send_attempt,
                    app.clock.now(),
                )
                .await?;
            hold::until(app, job, held).await
        }
        Err(error) => {
            let chain = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "the look-up failed");
            app.tell_error(job);
            soon(app, job, receipt, error.retry_after()).await
        }
    }
}

async fn negative(app: &App, job: &SubmissionJob, receipt: &Receipt) -> Result<Outcome<SubmissionJob>, StoreError> {
    let recorded = app
        .table
        .record_lookup_negative(
            &receipt.scope,
            &receipt.public_id,
            receipt.send_attempt,
            app.clock.now(),
        )
        .await?;
    let Recorded::Now(receipt) = recorded else {
        return later(app, job, None).await;
    };
    let wait = if receipt.lookup_negatives >= LOOKUPS_BEFORE_RESEND {
        Duration::ZERO
    } else {
        Duration::try_from(LOOKUP_SPACING).unwrap_or_default()
    };
    Ok(schedule::again(
        job,
        schedule::after_failure(job.attempt()).map(|_| wait),
    ))
}

/// Ends our claim, whose outcome is not known, and looks the receipt up soon.
pub(crate) async fn soon(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
    retry_after: Option<Duration>,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let now = app.clock.now();
    app.table
        .record_answer_lost(&receipt.scope, &receipt.public_id, receipt.send_attempt, now)
        .await?;
    later(app, job, retry_after).await
}

/// Asks for the receipt's number where this environment keeps it.
pub(crate) async fn ask(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.signed else {
        return Ok(Found::Unclear);
    };
    let rnc_emisor = &receipt.company_rnc;
    match where_to_look(session.environment(), receipt.is_sent_as_summary()) {
        Some(Service::ConsultaRfce) => {
            let query = SummaryQuery {
                rnc_emisor,
                encf: &signed.encf,
                codigo_seguridad: &signed.security_code,
            };
            Ok(of_judged(session.summary_state(query).await?))
        }
        _ => match session.submissions(rnc_emisor, &signed.encf).await? {
            Submissions::Found(found) => of_submissions(session, receipt, found).await,
            Submissions::None(_) => Ok(Found::Nothing),
            Submissions::Unclear(_) => Ok(Found::Unclear),
        },
    }
}

/// Asks for a number whose track id the authority does not find. The track id may still be in the list of the number.
pub(crate) async fn ask_for_missing(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.signed else {
        return Ok(Found::Unclear);
    };
    match session.submissions(&receipt.company_rnc, &signed.encf).await? {
        Submissions::Found(found) if found.iter().any(|one| Some(&one.track_id) == receipt.track_id.as_ref()) => {
            // The document is there. Other bytes under the number do not make it disappear.
            Ok(match state(session, receipt).await? {
                Found::Nothing => Found::Unclear,
                found => found,
            })
        }
        Submissions::Found(found) => of_submissions(session, receipt, found).await,
        Submissions::None(_) => Ok(Found::Nothing),
        Submissions::Unclear(_) => Ok(Found::Unclear),
    }
}

/// Which of a number's submissions is ours. The one that the receipt knows already is left aside, and so are those of receipts
/// that were rejected under this number before.
async fn of_submissions(
    session: &Session<'_>,
    receipt: &Receipt,
    mut found: Vec<Submission>,
) -> Result<Found, TaxAuthError> {
    found.retain(|one| {
        Some(&one.track_id) != receipt.track_id.as_ref() && !receipt.earlier_track_ids.contains(&one.track_id)
    });
    if let Some(place) = found.iter().position(|one| one.verdict.is_acceptance()) {
        // Somebody may have used the number with another system: the state tells whose bytes were accepted.
        return Ok(match state(session, receipt).await? {
            Found::Judged(judged) if judged.verdict.is_acceptance() => Found::Track(found.swap_remove(place).track_id),
            // What it knows of our bytes is that they came second.
            Found::Judged(_) | Found::Nothing => Found::Nothing,
            _ => Found::Unclear,
        });
    }
    let is_rejected = |one: &Submission| matches!(one.verdict, Verdict::Rejected { .. });
    Ok(match found.pop() {
        // Whose it is shows when it is judged.
        Some(last) if !is_rejected(&last) || !found.iter().all(is_rejected) => Found::Unclear,
        // The earlier receipt may have been sent twice: whose rejection this is cannot be told, and a copy that was rejected
        // and left its number free does no harm to another.
        Some(_) if !receipt.earlier_track_ids.is_empty() => Found::Nothing,
        Some(last) => Found::Track(last.track_id),
        None => Found::Nothing,
    })
}

/// The state of the number, if its bytes are ours.
async fn state(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.signed else {
        return Ok(Found::Unclear);
    };
    let rnc_comprador = receipt.rnc_comprador.as_deref().and_then(|rnc| rnc.parse().ok());
    let query = ReceiptQuery {
        rnc_emisor: &receipt.company_rnc,
        encf: &signed.encf,
        rnc_comprador: rnc_comprador.as_ref(),
        codigo_seguridad: &signed.security_code,
    };
    let state = session.receipt_state(query).await?;
    // RSA signatures of the same bytes are the same, so another code means other bytes.
    Ok(match state.codigo_seguridad.as_deref() {
        Some(code) if code != signed.security_code => Found::Nothing,
        _ => of_judged(state.judged),
    })
}

fn of_judged(judged: Judged) -> Found {
    match judged.verdict {
        Verdict::NotFound => Found::Nothing,
        Verdict::InProcess | Verdict::Unclear => Found::Unclear,
        _ => Found::Judged(judged),
    }
}
