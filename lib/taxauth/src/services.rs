//! The authority's services, one file each.
//!
//! A call that submits a document returns its outcome, or an error that says whether the document may have been taken
//! ([`TaxAuthError::nothing_was_taken`](crate::TaxAuthError::nothing_was_taken)). A query does not fail on an
//! unexpected success: it returns [`Estado::Unclear`](crate::Estado::Unclear), and the caller asks again. The
//! directory is the exception: a taxpayer is either listed or not, so any other answer is an error.

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
pub use consultaestado::{ReceiptQuery, StateAnswer};
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
use crate::verdict::{Estado, Judged};

/// The verdict in the reply to a query; a refusal that means "not found" counts as an answer.
fn judged(service: Service, asked: Asked<'_>, reply: Result<Reply, TaxAuthError>) -> Result<Judged, TaxAuthError> {
    match reply {
        Ok(reply) => asked.check(service, reply.answer()).map(Judged::of),
        Err(TaxAuthError::Refused { answer, .. }) if is_not_found(&answer) => Ok(Judged {
            verdict: Estado::NotFound,
            answer: asked.check(service, *answer)?,
        }),
        Err(error) => Err(error),
    }
}

fn is_not_found(answer: &Answer) -> bool {
    match Estado::of(answer) {
        Estado::NotFound => true,
        Estado::Unclear => answer.codigo.is_none() && says_not_found(answer),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
