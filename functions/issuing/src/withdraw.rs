//! `POST /api/v1/ecf/{id}/cancel` and `…/mark-incapacity`: withdraws a receipt that was never sent.

use axum::Json;
use axum::extract::State;
use ecf::ReceiptState;
use ecf_api::{ApiError, Caller, CodedError, DocumentView, PathId, ValidationError};
use ecf_language::say;
use ecf_store::{
    Receipt, ReceiptId,
    receipts::{Recorded, Withdrawal},
};

use crate::App;

/// Upper bound of the attempts when the receipt changes concurrently: it is numbered once and claimed once.
const ROUNDS: usize = 3;

/// Cancelar un comprobante no enviado
///
/// Withdraws a receipt that was never sent. A number that it has is not given to another: it is to be annulled. Repeated, it
/// answers with the receipt as it is.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/{public_id}/cancel",
    tag = "Comprobantes",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The receipt, cancelled", body = DocumentView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "Its state does not allow it, or it may have been sent", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Json<DocumentView>, ApiError> {
    withdraw(&app, &caller, &id, Withdrawal::Cancel).await
}

/// Marcar un comprobante por incapacidad técnica
///
/// Gives up a receipt that cannot be issued electronically and was never sent; a paper receipt takes its place. Repeated, it
/// answers with the receipt as it is.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/{public_id}/mark-incapacity",
    tag = "Comprobantes",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The receipt, given up", body = DocumentView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "Its state does not allow it, or it may have been sent", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn mark_incapacity(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Json<DocumentView>, ApiError> {
    withdraw(&app, &caller, &id, Withdrawal::Incapacity).await
}

async fn withdraw(
    app: &App,
    caller: &Caller,
    id: &ReceiptId,
    withdrawal: Withdrawal,
) -> Result<Json<DocumentView>, ApiError> {
    let scope = &caller.scope;
    let mut receipt = app.table.receipt(scope, id).await?.ok_or_else(ApiError::not_found)?;
    for _ in 0..ROUNDS {
        if receipt.state == withdrawal.state() {
            return Ok(Json(app.view(&receipt)));
        }
        if !receipt.state.may_become(withdrawal.state(), receipt.circumstances()) {
            return Err(refused(&receipt, withdrawal));
        }
        match app.table.withdraw(scope, &receipt, withdrawal, app.clock.now()).await? {
            Recorded::Now(withdrawn) => {
                tracing::info!(receipt.id = %id, state = %withdrawn.state, "receipt withdrawn");
                count(app, &withdrawn).await;
                return Ok(Json(app.view(&withdrawn)));
            }
            // It was signed or claimed concurrently: its new state decides.
            Recorded::Already(changed) => receipt = changed,
            Recorded::Missing => return Err(ApiError::not_found()),
        }
    }
    Err(ApiError::unavailable(std::time::Duration::from_secs(1)).caused_by("the receipt kept changing"))
}

/// Counts the final state. The consistency check repairs a lost count.
async fn count(app: &App, receipt: &Receipt) {
    let counted = app
        .table
        .count_verdict(
            &receipt.scope,
            receipt.day(),
            receipt.fiscal.ecf_type,
            receipt.state,
            &receipt.fiscal.monto_total,
        )
        .await;
    if let Err(error) = counted {
        tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "the counters of the day were not updated");
    }
}

fn refused(receipt: &Receipt, withdrawal: Withdrawal) -> ApiError {
    let (state, wanted) = (receipt.state, withdrawal.state());
    if receipt.may_have_been_sent() {
        let message = say!(
            "the receipt is {state} and was sent, or may have been: it cannot become {wanted}; what was sent is \
             corrected by a note",
            "el comprobante está {state} y se envió, o pudo enviarse: no puede pasar a {wanted}; lo enviado se \
             corrige con una nota"
        );
        return ApiError::conflict("already_sent", message);
    }
    let before: Vec<&str> = ReceiptState::ALL
        .into_iter()
        .filter(|state| state.may_become(wanted, receipt.circumstances()))
        .map(ReceiptState::as_str)
        .collect();
    let message = say!(
        "the receipt is {state} and cannot become {wanted}; that is open to {}",
        "el comprobante está {state} y no puede pasar a {wanted}; eso solo es posible desde {}",
        before.join(", ")
    );
    ApiError::conflict("state_does_not_allow", message)
}
