//! `GET /api/v1/ecf/{id}/xml` and `/rfce`: what was signed, byte for byte.

use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Download, PathId, ValidationError, artifact};
use ecf_store::{ArtifactKind, ReceiptId};

use crate::App;

/// The signed XML.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/{public_id}/xml",
    operation_id = "download_xml",
    tag = "Comprobantes",
    summary = "Descargar el XML firmado",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The XML as it was signed", content((Vec<u8> = "application/xml"))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, of another company or environment, or `artifact_not_applicable`: withdrawn unsigned", body = CodedError),
        (status = 409, description = "`artifact_not_ready`: not signed yet", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = [])),
)]
pub(crate) async fn xml(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Download, ApiError> {
    file(&app, &caller, &id, ArtifactKind::SignedXml).await
}

/// The signed summary of a type 32 below RD$250,000.00.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/{public_id}/rfce",
    operation_id = "download_rfce",
    tag = "Comprobantes",
    summary = "Descargar el resumen (RFCE) firmado",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The summary as it was signed", content((Vec<u8> = "application/xml"))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, of another company or environment, or `artifact_not_applicable`: not a type 32 below RD$250,000.00", body = CodedError),
        (status = 409, description = "`artifact_not_ready`: not signed yet", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = [])),
)]
pub(crate) async fn rfce(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Download, ApiError> {
    file(&app, &caller, &id, ArtifactKind::Rfce).await
}

async fn file(app: &App, caller: &Caller, id: &ReceiptId, kind: ArtifactKind) -> Result<Download, ApiError> {
    let receipt = app.table.receipt(&caller.scope, id).await?;
    let receipt = receipt.ok_or_else(ApiError::not_found)?;
    artifact(&app.artifacts, &receipt, kind).await
}
