//! `GET /api/v1/ecf/states`: the state contract, printed from the table that every state write is checked against.

use axum::Json;
use ecf::{ReceiptState, StateContract};
use ecf_api::{Caller, CodedError, ValidationError};

/// Which states a receipt can have, which are final, and what each may become.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/states",
    tag = "Comprobantes",
    summary = "Contrato de estados",
    responses(
        (status = 200, description = "The state contract", body = Object),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = [])),
)]
pub(crate) async fn states(_caller: Caller) -> Json<StateContract> {
    Json(ReceiptState::contract())
}
