//! Looking a receipt's number up: whether the authority has the document, before anything is sent again.

use ecf::sending::{Call, Finding, Judgement, LookUp, Lost};
use ecf_runtime::telemetry;
use ecf_store::{Receipt, SubmissionJob};
use ecf_taxauth::{
    Estado, Judged, ReceiptQuery, Service, Session, Submission, Submissions, SummaryQuery, TaxAuthError, TokenError,
    where_to_look,
};

use crate::App;
use crate::report::{Happened, Reported, Words, judgement};

type Found = Finding<Words>;

pub(crate) async fn look_up(
    app: &App,
    job: &SubmissionJob,
    session: &Session<'_>,
    receipt: &Receipt,
    why: LookUp<Words>,
) -> Reported {
    let asked = match why {
        LookUp::Lost(Lost::Document) => ask_for_missing(session, receipt).await,
        LookUp::Lost(Lost::Answer) | LookUp::UsedNumber(_) => ask(session, receipt).await,
    };
    let happened = match asked {
        Ok(found) => Happened::Found(why, found),
        Err(TaxAuthError::Held(held) | TaxAuthError::NoToken(TokenError::Held(held))) => {
            Happened::Held(Call::LookUp(why), held.until)
        }
        Err(error) => {
            let chain = telemetry::chain(&error).to_string();
            match why {
                LookUp::Lost(Lost::Answer) => {
                    tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "the look-up failed");
                    app.emit_error(job);
                }
                LookUp::Lost(Lost::Document) => {
                    tracing::warn!(receipt.id = %receipt.public_id, error = %chain, "the look-up of a missing document failed");
                    app.emit_error(job);
                }
                LookUp::UsedNumber(_) => {}
            }
            Happened::Found(why, Finding::Failed(error.retry_after()))
        }
    };
    Ok(happened.into())
}

/// Asks for the receipt's number where this environment keeps it.
async fn ask(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.fiscal.signed else {
        return Ok(Found::Unclear);
    };
    let rnc_emisor = &receipt.fiscal.company_rnc;
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
async fn ask_for_missing(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.fiscal.signed else {
        return Ok(Found::Unclear);
    };
    match session.submissions(&receipt.fiscal.company_rnc, &signed.encf).await? {
        Submissions::Found(found)
            if found
                .iter()
                .any(|one| Some(&one.track_id) == receipt.sending.track_id.as_ref()) =>
        {
            // The document is there. Other bytes under the number do not make it disappear.
            Ok(match state(session, receipt).await? {
                Found::Nothing | Found::OtherBytes => Found::Unclear,
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
        Some(&one.track_id) != receipt.sending.track_id.as_ref()
            && !receipt.sending.earlier_track_ids.contains(&one.track_id)
    });
    if let Some(place) = found.iter().position(|one| one.verdict.is_acceptance()) {
        // Somebody may have used the number with another system: the state shows whose bytes were accepted.
        return Ok(match state(session, receipt).await? {
            Found::Judged(Judgement::Accepted | Judgement::ConditionallyAccepted, ..) => {
                Found::Track(found.swap_remove(place).track_id)
            }
            Found::Nothing => Found::Nothing,
            // What it knows of our bytes is that they came second.
            Found::Judged(..) | Found::OtherBytes => Found::OtherBytes,
            _ => Found::Unclear,
        });
    }
    let is_rejected = |one: &Submission| matches!(one.verdict, Estado::Rejected { .. });
    Ok(match found.pop() {
        // Whose it is shows when it is judged.
        Some(last) if !is_rejected(&last) || !found.iter().all(is_rejected) => Found::Unclear,
        // The earlier receipt may have been sent twice: whose rejection this is cannot be determined, and a copy that was rejected
        // and left its number free does no harm to another.
        Some(_) if !receipt.sending.earlier_track_ids.is_empty() => Found::OtherBytes,
        Some(last) => Found::Track(last.track_id),
        None => Found::Nothing,
    })
}

/// The state of the number, if its bytes are ours.
async fn state(session: &Session<'_>, receipt: &Receipt) -> Result<Found, TaxAuthError> {
    let Some(signed) = &receipt.fiscal.signed else {
        return Ok(Found::Unclear);
    };
    let rnc_comprador = receipt.fiscal.rnc_comprador.as_deref().and_then(|rnc| rnc.parse().ok());
    let query = ReceiptQuery {
        rnc_emisor: &receipt.fiscal.company_rnc,
        encf: &signed.encf,
        rnc_comprador: rnc_comprador.as_ref(),
        codigo_seguridad: &signed.security_code,
    };
    let state = session.receipt_state(query).await?;
    // RSA signatures of the same bytes are the same, so another code means other bytes.
    Ok(match state.codigo_seguridad.as_deref() {
        Some(code) if code != signed.security_code => Found::OtherBytes,
        _ => of_judged(state.judged),
    })
}

fn of_judged(judged: Judged) -> Found {
    match judged.verdict {
        Estado::NotFound => Found::Nothing,
        Estado::InProcess | Estado::Unclear => Found::Unclear,
        _ => {
            let (judgement, answer) = judgement(judged);
            Found::Judged(judgement, answer, None)
        }
    }
}
