//! `GET /api/v1/client/inbox/{id}/xml` and `/arecf`: the received receipt and our acknowledgement, byte for byte.

use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Download, PathId, ValidationError};
use ecf_store::{ArtifactKind, InboxId};

use crate::App;

/// Descargar el XML recibido
///
/// The receipt as its issuer sent it.
#[utoipa::path(
    get,
    path = "/api/v1/client/inbox/{public_id}/xml",
    operation_id = "download_inbox_xml",
    tag = "Buzon",
    params(("public_id" = String, Path, description = "The receipt's id in the inbox")),
    responses(
        (status = 200, description = "The XML, byte for byte", body = String, content_type = "application/xml"),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn xml(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<InboxId>,
) -> Result<Download, ApiError> {
    download(&app, &caller, &id, ArtifactKind::ReceivedXml).await
}

/// Descargar el acuse de recibo
///
/// The signed acknowledgement that its issuer got.
#[utoipa::path(
    get,
    path = "/api/v1/client/inbox/{public_id}/arecf",
    operation_id = "download_inbox_arecf",
    tag = "Buzon",
    params(("public_id" = String, Path, description = "The receipt's id in the inbox")),
    responses(
        (status = 200, description = "The ARECF, byte for byte", body = String, content_type = "application/xml"),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn arecf(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<InboxId>,
) -> Result<Download, ApiError> {
    download(&app, &caller, &id, ArtifactKind::Arecf).await
}

async fn download(app: &App, caller: &Caller, id: &InboxId, kind: ArtifactKind) -> Result<Download, ApiError> {
    let item = app.table.inbox_item(&caller.scope, id).await?;
    let item = item.ok_or_else(ApiError::not_found)?;
    let hash = if kind == ArtifactKind::Arecf {
        &item.arecf
    } else {
        &item.xml
    };
    let bytes = app
        .artifacts
        .received(&caller.scope, item.received_at, id, kind, hash)
        .await?;
    let bytes = bytes.ok_or_else(|| ApiError::internal(format!("the {} of inbox item {id} is gone", kind.as_str())))?;
    let name = kind.file_name(&format!("{}{}", item.rnc_emisor, item.encf));
    Ok(Download::new(bytes, kind.content_type(), name))
}
