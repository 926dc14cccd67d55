//! `GET /api/v1/client/documents/{id}/artifacts`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, ArtifactsView, Caller, CodedError, PathId, ValidationError};
use ecf_store::ReceiptId;

use crate::App;

/// Archivos de un documento
///
/// Which files of a receipt can be downloaded, and where.
#[utoipa::path(
    get,
    path = "/api/v1/client/documents/{public_id}/artifacts",
    operation_id = "list_artifacts",
    tag = "Documentos",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The existing files with their paths", body = ArtifactsView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn artifacts(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Json<ArtifactsView>, ApiError> {
    let receipt = app.receipt(&caller.scope, &id).await?;
    Ok(Json(ArtifactsView::of(&receipt, app.retention_years)))
}
