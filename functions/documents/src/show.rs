//! `GET /api/v1/client/documents/{id}`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, FullDocumentView, PathId, ValidQuery, ValidationError, Wait};
use ecf_store::ReceiptId;

use crate::App;

/// Consultar un documento
///
/// A receipt with the tax authority's answer and its files.
#[utoipa::path(
    get,
    path = "/api/v1/client/documents/{public_id}",
    operation_id = "show_document",
    tag = "Documentos",
    params(("public_id" = String, Path, description = "The receipt's id"), Wait),
    responses(
        (status = 200, description = "The receipt as it stands now, with the authority's answer and its files", body = FullDocumentView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
    ValidQuery(wait): ValidQuery<Wait>,
) -> Result<Json<FullDocumentView>, ApiError> {
    let receipt = app.receipt(&caller.scope, &id).await?;
    let receipt = wait.for_end(&app.table, &receipt).await.unwrap_or(receipt);
    Ok(Json(FullDocumentView::of(
        &receipt,
        &app.stamp_hosts,
        app.retention_years,
    )))
}
