//! Decides whether the company may answer a receipt again.
//!
//! An answer that the tax authority accepted is final. An answer that it rejected, or that could not be delivered to
//! it, may be repeated; a different one may replace it while the issuer has not accepted the first. A new attempt of
//! the certification starts without answers.

use ecf::{Encf, Rnc, catalogue::EstadoAprobacion};
use ecf_api::ApiError;
use ecf_language::say;
use ecf_store::{
    ApprovalId, Scope,
    approvals::{Approval, ApprovalCreated, GivenAnswer, Transmission, TransmissionState},
};
use jiff::Timestamp;

use crate::{App, TIME_LIMIT};

/// The company's earlier answer to a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Before {
    /// The receipt was not answered, or neither the authority nor the issuer has the answer.
    Nothing,
    /// An answer that is not final.
    Replaceable {
        given: GivenAnswer,
        /// The issuer accepted it, so it is not sent to the issuer again.
        issuer_has_it: bool,
    },
    /// The same request, which another invocation stored meanwhile.
    Same(Box<Approval>),
}

/// Finds the earlier answer to a receipt. `id` is the approval that the request would create.
///
/// # Errors
/// 409 `answered_already` when that answer is final or pending, or when the issuer accepted it and the new one differs.
pub(crate) async fn before(
    app: &App,
    scope: &Scope,
    id: &ApprovalId,
    (rnc_emisor, encf): (&Rnc, &Encf),
    estado: EstadoAprobacion,
) -> Result<Before, ApiError> {
    let table = &app.exchange.table;
    let Some(given) = table.given_answer(scope, rnc_emisor, encf).await? else {
        return Ok(Before::Nothing);
    };
    let by = given.approval;
    if by != *id && table.is_of_earlier_attempt(scope, given.created_at).await? {
        return Ok(Before::Replaceable {
            given,
            issuer_has_it: false,
        });
    }
    let earlier = table.approval(scope, &by).await?;
    let earlier =
        earlier.ok_or_else(|| ApiError::internal(format!("approval {by} is gone, and its answer is there")))?;
    if by == *id {
        return Ok(Before::Same(Box::new(earlier)));
    }
    let issuer_has_it = earlier.issuer.state == TransmissionState::Taken;
    match earlier.authority.state {
        TransmissionState::Refused | TransmissionState::GivenUp if issuer_has_it && earlier.estado != estado => {
            Err(issuer_took(&earlier))
        }
        TransmissionState::Refused | TransmissionState::GivenUp => Ok(Before::Replaceable { given, issuer_has_it }),
        TransmissionState::Pending => Err(on_its_way(&by)),
        TransmissionState::Taken | TransmissionState::NotListed | TransmissionState::NotNeeded => Err(answered(&by)),
    }
}

/// Stores the company's answer and makes the first attempt to deliver it.
///
/// # Errors
/// 409 `answered_already` when another answer was stored concurrently.
pub(crate) async fn give(app: &App, scope: &Scope, new: Approval, before: Before) -> Result<Approval, ApiError> {
    let exchange = &app.exchange;
    let (new, created) = match before {
        Before::Nothing => {
            let created = exchange.table.create_approval(scope, &new, true).await?;
            (new, created)
        }
        Before::Replaceable { given, issuer_has_it } => {
            let new = Approval {
                issuer: if issuer_has_it {
                    issuer_knows(&given, new.created_at)
                } else {
                    new.issuer.clone()
                },
                ..new
            };
            let created = exchange.table.replace_answer(scope, &new, &given).await?;
            (new, created)
        }
        Before::Same(existing) => return Ok(*existing),
    };
    match created {
        ApprovalCreated::New => Ok(exchange.send(scope, new, TIME_LIMIT).await?),
        ApprovalCreated::Replay(existing) => Ok(*existing),
        ApprovalCreated::Answered(by) => Err(answered(&by)),
    }
}

fn issuer_knows(given: &GivenAnswer, now: Timestamp) -> Transmission {
    Transmission::not_needed(
        say!(
            "the issuer took the same answer with approval {}",
            "el emisor ya recibió la misma respuesta con la aprobación {}",
            given.approval
        ),
        now,
    )
}

fn answered(by: &ApprovalId) -> ApiError {
    let message = say!(
        "the company answered this receipt before, with approval {by}; an answer is final",
        "la empresa ya respondió este comprobante, con la aprobación {by}; una respuesta es definitiva"
    );
    ApiError::conflict("answered_already", message)
}

fn on_its_way(by: &ApprovalId) -> ApiError {
    let message = say!(
        "the company answered this receipt before, with approval {by}, and the tax authority has not decided about \
         it: see GET /api/v1/ecf/acecf/{by}",
        "la empresa ya respondió este comprobante, con la aprobación {by}, y la DGII aún no decide sobre ella: vea \
         GET /api/v1/ecf/acecf/{by}"
    );
    ApiError::conflict("answered_already", message)
}

fn issuer_took(earlier: &Approval) -> ApiError {
    let (by, estado) = (&earlier.id, earlier.estado.code());
    let message = say!(
        "the tax authority refused approval {by}, but the issuer took its estado {estado}: only the same answer may \
         be given again",
        "la DGII rechazó la aprobación {by}, pero el emisor tomó su estado {estado}: solo se puede dar la misma \
         respuesta otra vez"
    );
    ApiError::conflict("answered_already", message)
}
