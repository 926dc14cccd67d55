//! `GET /api/v1/client/documents/{id}`.

use axum::Json;
use axum::extract::State;
use ecf::{Document, Node};
use ecf_api::{
    ApiError, Caller, CodedError, Fields, FromFields, FullDocumentView, PathId, ValidQuery, ValidationError, Wait,
};
use ecf_store::{ArtifactKind, Receipt, ReceiptId};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::history::StepView;

/// Upper bound of the stored document whose content is shown: the answer has to fit into what a function may answer.
const LARGEST_SHOWN_BYTES: usize = 4 * 1024 * 1024;

/// What is shown of a receipt, and when.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowQuery {
    /// `true` also shows the content of the document, as `payload`.
    #[param(required = false, default = false)]
    payload: bool,
    #[param(ignore)]
    wait: Wait,
}

impl FromFields for ShowQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let payload = fields.boolean("payload").or(false);
        let wait = Wait::read(fields)?;
        Some(Self { payload, wait })
    }
}

/// A receipt with the tax authority's answer, its files, its history and its content.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DetailView {
    #[serde(flatten)]
    document: FullDocumentView,
    /// What happened to the receipt, in order of time: the steps whose instant is stored.
    history: Vec<StepView>,
    /// With `payload=true`: buyer, lines and totals by the tax authority's element names, as `payload` of `POST /api/v1/ecf` takes
    /// them. From the signed document, and before the signature from the request. `null` for a document above 4 MB, whose file has
    /// the content.
    #[schema(value_type = Option<Object>)]
    payload: Option<Node>,
}

/// Consultar un documento
///
/// A receipt with the tax authority's answer, its files and its history. `payload=true` adds its content, with which a rejected or
/// failed receipt can be corrected and issued again.
#[utoipa::path(
    get,
    path = "/api/v1/client/documents/{public_id}",
    operation_id = "show_document",
    tag = "Documentos",
    params(("public_id" = String, Path, description = "The receipt's id"), ShowQuery, Wait),
    responses(
        (status = 200, description = "The receipt with its current state, the authority's answer, its files and its history", body = DetailView),
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
    ValidQuery(query): ValidQuery<ShowQuery>,
) -> Result<Json<DetailView>, ApiError> {
    let receipt = app.receipt(&caller.scope, &id).await?;
    let receipt = query.wait.for_end(&app.table, &receipt).await.unwrap_or(receipt);
    let payload = if query.payload {
        content(&app, &receipt).await?
    } else {
        None
    };
    Ok(Json(DetailView {
        document: FullDocumentView::of(&receipt, &app.stamp_hosts, app.retention_years),
        history: StepView::all_of(&receipt),
        payload,
    }))
}

/// The content of the signed document, or of the stored request.
async fn content(app: &App, receipt: &Receipt) -> Result<Option<Node>, ApiError> {
    let (kind, hash) = match (&receipt.fiscal.signed, &receipt.payload) {
        (Some(signed), _) => (ArtifactKind::SignedXml, signed.signed_xml),
        (None, Some(payload)) => (ArtifactKind::Payload, *payload),
        (None, None) => return Ok(None),
    };
    let (scope, created_at, id) = (&receipt.scope, receipt.created_at, &receipt.public_id);
    let stored = app.files.artifacts().get(scope, created_at, id, kind, &hash).await?;
    // `error_code` of the receipt says it when a stored request cannot be read.
    let Some(stored) = stored.filter(|stored| stored.len() <= LARGEST_SHOWN_BYTES) else {
        return Ok(None);
    };
    match kind {
        ArtifactKind::SignedXml => Document::payload_from_xml(&stored)
            .map(Some)
            .map_err(ApiError::internal),
        _ => {
            let request = Node::parse(&stored).map_err(ApiError::internal)?;
            Ok(request.get("payload").cloned())
        }
    }
}
