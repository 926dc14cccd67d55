//! `GET /api/v1/ecf/{id}/xml`, `…/rfce` and `…/pdf`: the signed XML, byte for byte, and its print.

use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Download, PathId, ValidQuery, ValidationError};
use ecf_evidence::Paper;
use ecf_store::{ArtifactKind, ReceiptId};

use crate::App;
use crate::artifact_file::{PaperQuery, artifact};

/// Descargar el XML firmado
///
/// The signed XML.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/{public_id}/xml",
    operation_id = "download_xml",
    tag = "Comprobantes",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The XML as it was signed", content((Vec<u8> = "application/xml"))),
        (status = 303, description = "The file is larger than an answer may be (4.4 MB): `Location` has it for five minutes, without the key"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, of another company or environment, or `artifact_not_applicable`: withdrawn unsigned", body = CodedError),
        (status = 409, description = "`artifact_not_ready`: not signed yet", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn xml(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Download, ApiError> {
    file(&app, &caller, &id, ArtifactKind::SignedXml, Paper::default()).await
}

/// Descargar el resumen (RFCE) firmado
///
/// The signed summary of a type 32 below RD$250,000.00.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/{public_id}/rfce",
    operation_id = "download_rfce",
    tag = "Comprobantes",
    params(("public_id" = String, Path, description = "The receipt's id")),
    responses(
        (status = 200, description = "The summary as it was signed", content((Vec<u8> = "application/xml"))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, of another company or environment, or `artifact_not_applicable`: not a type 32 below RD$250,000.00", body = CodedError),
        (status = 409, description = "`artifact_not_ready`: not signed yet", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn rfce(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
) -> Result<Download, ApiError> {
    file(&app, &caller, &id, ArtifactKind::Rfce, Paper::default()).await
}

/// Descargar la representación impresa (RI)
///
/// The printed representation (RI): made when it is asked for first, and kept.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/{public_id}/pdf",
    operation_id = "download_pdf",
    tag = "Comprobantes",
    params(
        ("public_id" = String, Path, description = "The receipt's id"),
        PaperQuery,
    ),
    responses(
        (status = 200, description = "The PDF, with the QR code of the stamp", content((Vec<u8> = "application/pdf"))),
        (status = 303, description = "The file is larger than an answer may be (4.4 MB): `Location` has it for five minutes, without the key"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, of another company or environment, or `artifact_not_applicable`: withdrawn unsigned", body = CodedError),
        (status = 409, description = "`artifact_not_ready`: not signed yet", body = CodedError),
        (status = 422, description = "A bad parameter, or a missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn pdf(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ReceiptId>,
    ValidQuery(paper): ValidQuery<PaperQuery>,
) -> Result<Download, ApiError> {
    file(&app, &caller, &id, ArtifactKind::Ri, paper.into()).await
}

async fn file(
    app: &App,
    caller: &Caller,
    id: &ReceiptId,
    kind: ArtifactKind,
    paper: Paper,
) -> Result<Download, ApiError> {
    let receipt = app.receipt(&caller.scope, id).await?;
    artifact(&app.files, &receipt, kind, paper).await
}
