//! Finding out whether the authority has a document whose send was lost, before anything is sent again.

use ecf::ReceiptState;
use ecf_runtime::Outcome;
use ecf_store::{Claim, LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, Receipt, Recorded, StoreError, SubmissionJob};
use ecf_taxauth::{
    Answer, Judged, ReceiptQuery, Service, Session, Submissions, SummaryQuery, TaxAuthError, Verdict, where_to_look,
};

use crate::send::{LEASE, again_after_lease, fail, hand_over, later, session};
use crate::{App, first_poll, next, schedule, verdict};

/// What the authority says of a number.
enum Found {
    /// Ours is there, by this track id.
    Track(String),
    /// Ours is there and judged.
    Judged(Judged),
    /// It has no such number.
    Nothing,
    /// It says neither; or the number carries other bytes than ours.
    Unclear,
}

/// Looks a receipt up whose lease ran out; after two negative answers a minute apart it is sent again.
pub(crate) async fn look_up(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let (scope, id) = (&receipt.scope, &receipt.public_id);
    let now = app.clock.now();
    if receipt.lookup_negatives >= LOOKUPS_BEFORE_RESEND {
        return match app.table.claim_resend(scope, id, now, LEASE).await? {
            Claim::Claimed(receipt) => hand_over(app, job, &receipt).await,
            Claim::Leased(receipt) => Ok(again_after_lease(job, &receipt, now)),
            _ => Ok(later(job, None)),
        };
    }
    if where_to_look(scope.environment, receipt.is_sent_as_summary()).is_none() {
        let message = "the send was lost and this environment has no look-up; an operator decides, since a second send would reset the certification";
        app.table
            .record_outcome_unknown(scope, id, receipt.send_attempt, message, now)
            .await?;
        tracing::error!(receipt.id = %id, "the outcome of a send is unknown and cannot be looked up");
        return Ok(Outcome::Done);
    }
    let receipt = match app.table.claim_lookup(scope, id, now, LEASE).await? {
        Claim::Claimed(receipt) => receipt,
        Claim::Leased(receipt) => return Ok(again_after_lease(job, &receipt, now)),
        _ => return Ok(later(job, None)),
    };
    let Some(identity) = app.identities.of(&scope.company, now).await? else {
        return fail(
            app,
            &receipt,
            "certificate_missing",
            "the company has no certificate: upload its P12, then retry",
        )
        .await;
    };
    match ask(&session(app, &receipt, &identity), &receipt).await {
        Ok(Found::Track(track_id)) => {
            app.table
                .record_submitted(scope, id, &track_id, app.clock.now())
                .await?;
            Ok(Outcome::Again {
                job: first_poll(&receipt),
                after: schedule::poll(0),
            })
        }
        Ok(Found::Judged(judged)) => verdict::record(app, job, &receipt, &judged, None).await,
        Ok(Found::Nothing) => {
            let recorded = app
                .table
                .record_lookup_negative(scope, id, receipt.send_attempt, app.clock.now())
                .await?;
            let wait = match recorded {
                Recorded::Now(_) => std::time::Duration::try_from(LOOKUP_SPACING).unwrap_or_default(),
                Recorded::Already(_) | Recorded::Missing => return Ok(later(job, None)),
            };
            Ok(Outcome::Again {
                job: next(job),
                after: wait,
            })
        }
        Ok(Found::Unclear) => Ok(again_after_lease(job, &receipt, app.clock.now())),
        Err(error) => {
            let chain = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::warn!(receipt.id = %id, error = %chain, "the look-up failed");
            Ok(again_after_lease(job, &receipt, app.clock.now()))
        }
    }
}

/// "Already used" (1209): success when the copy that the authority holds is ours, else a rejection like any other.
pub(crate) async fn of_used_number(
    app: &App,
    job: &SubmissionJob,
    receipt: &Receipt,
    answer: &Answer,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    let rejection = Judged {
        verdict: Verdict::Rejected {
            secuencia_utilizada: Some(true),
        },
        answer: answer.clone(),
    };
    // Sent once and refused for being sent: the earlier copy cannot be this receipt's.
    let may_be_ours = receipt.send_attempt > 1;
    let looked = where_to_look(receipt.scope.environment, receipt.is_sent_as_summary()).is_some();
    if !may_be_ours || !looked {
        verdict::write(
            app,
            receipt,
            ReceiptState::Rejected,
            Some(true),
            &rejection,
            receipt.track_id.as_deref(),
        )
        .await?;
        return Ok(Outcome::Done);
    }
    let Some(identity) = app.identities.of(&receipt.scope.company, app.clock.now()).await? else {
        return fail(
            app,
            receipt,
            "certificate_missing",
            "the company has no certificate: upload its P12, then retry",
        )
        .await;
    };
    match ask(&session(app, receipt, &identity), receipt).await {
        Ok(Found::Track(track_id)) if receipt.track_id.as_deref() != Some(&track_id) => {
            app.table
                .record_submitted(&receipt.scope, &receipt.public_id, &track_id, app.clock.now())
                .await?;
            Ok(Outcome::Again {
                job: first_poll(receipt),
                after: schedule::poll(0),
            })
        }
        Ok(Found::Judged(judged)) if !judged.answer.says_already_used() => {
            let (state, burned) = verdict::final_state(judged.verdict).unwrap_or((ReceiptState::Rejected, Some(true)));
            verdict::write(app, receipt, state, burned, &judged, None).await?;
            Ok(Outcome::Done)
        }
        Ok(_) => {
            verdict::write(
                app,
                receipt,
                ReceiptState::Rejected,
                Some(true),
                &rejection,
                receipt.track_id.as_deref(),
            )
            .await?;
            Ok(Outcome::Done)
        }
        Err(error) => Ok(later(job, error.retry_after())),
    }
}

async fn ask(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.signed else {
        return Ok(Found::Unclear);
    };
    let rnc_comprador = receipt.rnc_comprador.as_deref().and_then(|rnc| rnc.parse().ok());
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
        Some(Service::ConsultaEstado) => {
            let query = ReceiptQuery {
                rnc_emisor,
                encf: &signed.encf,
                rnc_comprador: rnc_comprador.as_ref(),
                codigo_seguridad: &signed.security_code,
            };
            let state = session.receipt_state(query).await?;
            // The authority tells whose bytes it holds by their code: RSA signatures of the same bytes are the same.
            match state.codigo_seguridad.as_deref() {
                Some(code) if code != signed.security_code => Ok(Found::Unclear),
                _ => Ok(of_judged(state.judged)),
            }
        }
        _ => Ok(match session.submissions(rnc_emisor, &signed.encf).await? {
            Submissions::Found(found) => {
                // A submission that was rejected burned nothing of this receipt's if a later one is still open.
                let best = found
                    .iter()
                    .rev()
                    .find(|one| !matches!(one.verdict, Verdict::Rejected { .. }))
                    .or(found.last());
                best.map_or(Found::Unclear, |one| Found::Track(one.track_id.clone()))
            }
            Submissions::None(_) => Found::Nothing,
            Submissions::Unclear(_) => Found::Unclear,
        }),
    }
}

fn of_judged(judged: Judged) -> Found {
    match judged.verdict {
        Verdict::NotFound => Found::Nothing,
        Verdict::InProcess | Verdict::Unclear => Found::Unclear,
        _ => Found::Judged(judged),
    }
}
