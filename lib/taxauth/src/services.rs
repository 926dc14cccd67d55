//! The authority's services, one file each.
//!
//! A call that hands a document over answers with what became of it, or with an error that says whether it may have
//! been taken ([`TaxAuthError::nothing_was_taken`](crate::TaxAuthError::nothing_was_taken)). A call that asks never
//! fails over an odd success: it is [`Verdict::Unclear`](crate::Verdict::Unclear), to be asked again. Of the directory it is an
//! error: there is no taxpayer of whom neither is true, listed or not.

pub(crate) mod autenticacion;
mod consultadirectorio;
mod consultaestado;
mod consultaresultado;
mod consultarfce;
pub(crate) mod consultatrackids;
mod recepcion;
mod recepcionfc;
mod ruling;

pub use autenticacion::read_grant;
pub use consultaestado::{ReceiptQuery, ReceiptState};
pub use consultaresultado::ResultQuery;
pub use consultarfce::SummaryQuery;
pub use consultatrackids::{Submission, Submissions};
pub use recepcion::Sent;
pub use ruling::Ruling;

use crate::about::Asked;
use crate::answer::Answer;
use crate::client::{Reply, says_not_found};
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::verdict::{Judged, Verdict};

/// The verdict in the reply to a question, "not found" with a 4xx status included.
fn judged(service: Service, asked: Asked<'_>, reply: Result<Reply, TaxAuthError>) -> Result<Judged, TaxAuthError> {
    match reply {
        Ok(reply) => asked.check(service, reply.answer()).map(Judged::of),
        Err(TaxAuthError::Refused { answer, .. }) if is_not_found(&answer) => Ok(Judged {
            verdict: Verdict::NotFound,
            answer: asked.check(service, *answer)?,
        }),
        Err(error) => Err(error),
    }
}

fn is_not_found(answer: &Answer) -> bool {
    match Verdict::of(answer) {
        Verdict::NotFound => true,
        Verdict::Unclear => answer.codigo.is_none() && says_not_found(answer),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
