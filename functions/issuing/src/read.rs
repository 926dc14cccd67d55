//! `GET /api/v1/ecf/{id}`: the current state of a receipt, intermediate states included; optionally once it is final.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, DocumentView, PathId, ValidQuery, ValidationError, Wait};
use ecf_store::ReceiptId;

use crate::App;

/// Consultar un comprobante
///
/// Answers with the caller's receipt; another company's or environment's is not found.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/{public_id}",
    tag = "Comprobantes",
    params(("public_id" = String, Path, description = "The receipt's id"), Wait),
    responses(
        (status = 200, description = "The receipt with its current state", body = DocumentView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn read(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
    ValidQuery(wait): ValidQuery<Wait>,
) -> Result<Json<DocumentView>, ApiError> {
    let receipt = app
        .table
        .receipt(&caller.scope, &id)
        .await?
        .ok_or_else(ApiError::not_found)?;
    let ended = wait.for_end(&app.table, &receipt).await;
    Ok(Json(app.view(&ended.unwrap_or(receipt))))
}
