//! `GET /api/v1/client/inbox/{id}/xml` and `/arecf`: the received receipt and our acknowledgement, byte for byte; `/pdf`: a
//! print of the received receipt.

use axum::extract::State;
use bytes::Bytes;
use ecf_api::{ApiError, Caller, CodedError, Download, Fields, FromFields, PathId, ValidQuery, ValidationError};
use ecf_language::say;
use ecf_ri::{Design, Format, Mode, Options};
use ecf_store::{
    ArtifactKind, InboxId,
    inbox::{AuthorityState, InboxItem},
};
use utoipa::IntoParams;

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

/// How a print is wanted.
#[derive(Debug, Clone, Copy, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PrintQuery {
    /// The paper.
    #[param(required = false, value_type = String, pattern = "^(letter|roll80|roll58)$", default = "letter")]
    format: Format,
}

impl FromFields for PrintQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let papers = Format::ALL.map(|format| (format.as_str(), format));
        let format = fields.choice("format", &papers).or(Format::default());
        Some(Self { format })
    }
}

/// Descargar el impreso de lo recibido
///
/// The received receipt as PDF, made from its signed XML. One that the tax authority rejected, or does not have, says so on every sheet;
/// one of which it has not said anything says that it awaits validation.
#[utoipa::path(
    get,
    path = "/api/v1/client/inbox/{public_id}/pdf",
    operation_id = "download_inbox_pdf",
    tag = "Buzon",
    params(("public_id" = String, Path, description = "The receipt's id in the inbox"), PrintQuery),
    responses(
        (status = 200, description = "The print", body = Vec<u8>, content_type = "application/pdf"),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "The document lacks what a print needs", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn pdf(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<InboxId>,
    ValidQuery(PrintQuery { format }): ValidQuery<PrintQuery>,
) -> Result<Download, ApiError> {
    let item = item(&app, &caller, &id).await?;
    let xml = stored(&app, &caller, &item, ArtifactKind::ReceivedXml).await?;
    let (environment, hosts) = (caller.environment(), app.stamp_hosts.clone());
    let mode = match item.authority {
        Some(AuthorityState::Accepted | AuthorityState::ConditionallyAccepted) => Mode::Accepted,
        Some(AuthorityState::Rejected) => Mode::Rejected,
        Some(AuthorityState::NotFound) => Mode::Unconfirmed,
        Some(AuthorityState::Pending) | None => Mode::Pending,
    };
    let printing = tokio::task::spawn_blocking(move || {
        let options = Options {
            environment,
            hosts: &hosts,
            format,
            mode,
            design: &Design::default(),
        };
        ecf_ri::render(&xml, &options)
    });
    let printed = printing.await.map_err(ApiError::internal)?;
    let printed = printed.map_err(|error| {
        let message = say!(
            "the document lacks what a print needs: read its XML",
            "al documento le falta lo que necesita una impresión: lea su XML"
        );
        ApiError::conflict("not_printable", message).caused_by(error)
    })?;
    let mut document = format!("{}{}", item.rnc_emisor, item.encf);
    if format != Format::default() {
        document = format!("{document}-{format}");
    }
    let kind = ArtifactKind::Ri;
    Ok(Download::new(printed, kind.content_type(), kind.file_name(&document)))
}

async fn download(app: &App, caller: &Caller, id: &InboxId, kind: ArtifactKind) -> Result<Download, ApiError> {
    let item = item(app, caller, id).await?;
    let bytes = stored(app, caller, &item, kind).await?;
    let name = kind.file_name(&format!("{}{}", item.rnc_emisor, item.encf));
    Ok(Download::new(bytes, kind.content_type(), name))
}

async fn item(app: &App, caller: &Caller, id: &InboxId) -> Result<InboxItem, ApiError> {
    let item = app.table.inbox_item(&caller.scope, id).await?;
    item.ok_or_else(ApiError::not_found)
}

async fn stored(app: &App, caller: &Caller, item: &InboxItem, kind: ArtifactKind) -> Result<Bytes, ApiError> {
    let id = &item.id;
    let hash = if kind == ArtifactKind::Arecf {
        &item.arecf
    } else {
        &item.xml
    };
    let bytes = app
        .artifacts
        .received(&caller.scope, item.received_at, id, kind, hash)
        .await?;
    bytes.ok_or_else(|| ApiError::internal(format!("the {} of inbox item {id} is gone", kind.as_str())))
}
