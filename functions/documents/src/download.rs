//! `GET /api/v1/client/documents/{id}/artifacts/{type}`.

use axum::extract::{Path, State};
use ecf::Node;
use ecf_api::{ApiError, Caller, CodedError, Download, FieldError, ValidQuery, ValidationError};
use ecf_language::say;
use ecf_store::{ArtifactKind, ReceiptId};

use crate::App;
use crate::artifact_file::{PaperQuery, artifact};

/// Descargar un archivo de un documento
///
/// One file of a receipt, byte for byte, with its SHA-256 as entity tag.
#[utoipa::path(
    get,
    path = "/api/v1/client/documents/{public_id}/artifacts/{artifact_type}",
    operation_id = "download_artifact",
    tag = "Documentos",
    params(
        ("public_id" = String, Path, description = "The receipt's id"),
        (
            "artifact_type" = String, Path, example = "signed-xml",
            pattern = "^(generated-xml|signed-xml|rfce|ri|arecf|acecf|taxauth-response|dgii-response)$",
            description = "`generated-xml`, `signed-xml`, `rfce`, `ri`, `arecf` (the buyer's acknowledgement), `acecf` (what the buyer said of it) or `taxauth-response` (also `dgii-response`)",
        ),
        PaperQuery,
        ("If-None-Match" = Option<String>, Header, description = "Entity tags that the caller has"),
    ),
    responses(
        (
            status = 200, description = "The file",
            content((Vec<u8> = "application/xml"), (Vec<u8> = "application/pdf"), (Object = "application/json")),
        ),
        (status = 303, description = "The file is larger than an answer may be (4.4 MB): `Location` has it for five minutes, without the key"),
        (status = 304, description = "The caller has these bytes already"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, of another company or environment, or `artifact_not_applicable`: this receipt never has it", body = CodedError),
        (status = 409, description = "`artifact_not_ready`: it does not exist yet", body = CodedError),
        (status = 422, description = "No such artifact type; a missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn download(
    State(app): State<App>,
    caller: Caller,
    Path((id, artifact_type)): Path<(String, String)>,
    ValidQuery(paper): ValidQuery<PaperQuery>,
) -> Result<Download, ApiError> {
    let kind = ArtifactKind::from_public_name(&artifact_type).ok_or_else(|| no_such_type(&artifact_type))?;
    let id: ReceiptId = id.parse().map_err(|_| ApiError::not_found())?;
    let receipt = app.receipt(&caller.scope, &id).await?;
    artifact(&app.files, &receipt, kind, paper.into()).await
}

fn no_such_type(given: &str) -> ApiError {
    let expected = ArtifactKind::PUBLIC
        .map(|kind| format!("'{}'", kind.as_str()))
        .join(", ");
    let msg = say!("Input should be one of {expected}", "debe ser uno de {expected}");
    let error = FieldError::new(["path", "artifact_type"], "enum", msg)
        .with_input(&Node::Text(given.into()))
        .with_ctx("expected", expected);
    ApiError::validation(vec![error])
}
