//! `/api/v1/client/company/design/logo`: the image at the top of printed receipts.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Download, FieldError, ValidationError};
use ecf_language::{Bilingual, Say, say};
use ecf_ri::{Logo, LogoError};
use ecf_store::{
    FieldEdit,
    designs::{DesignChanges, LogoKind, StoredLogo},
};
use http::{HeaderMap, header};

use super::DesignView;
use crate::App;

pub(super) const PATH: &str = "/api/v1/client/company/design/logo";

/// Subir el logo de la representación impresa
///
/// Takes an image as the logo: PNG or JPEG, at most 256 KB and 2,000 pixels on each side. It is decoded whole and tried out in a PDF before it is
/// kept, so that what is taken can be printed.
#[utoipa::path(
    put,
    path = "/api/v1/client/company/design/logo",
    operation_id = "put_logo",
    tag = "Empresa",
    request_body(description = "The image", content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
    responses(
        (status = 200, description = "The design as it is now", body = DesignView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 413, description = "The body exceeds the limit", body = CodedError),
        (status = 415, description = "Neither `image/png` nor `image/jpeg`", body = CodedError),
        (status = 422, description = "A missing key, or an image that is refused; `ctx.code` is `too_large`, `kind`, `pixels` or `unusable`", body = ValidationError),
    ),
    security(("api_key" = ["full", "highest_environment"])),
)]
pub(crate) async fn put(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Json<DesignView>, ApiError> {
    let kind = stated_kind(&headers)?;
    check(kind, bytes.clone()).await?;
    let hash = app
        .artifacts
        .put_logo(caller.company(), kind.content_type(), bytes)
        .await?;
    let changes = DesignChanges {
        logo: FieldEdit::Set(StoredLogo { hash, kind }),
        ..DesignChanges::default()
    };
    let changed = app
        .table
        .change_design(caller.company(), changes, app.clock.now())
        .await?;
    Ok(Json(changed.into()))
}

/// Descargar el logo de la representación impresa
///
/// The logo as it was uploaded.
#[utoipa::path(
    get,
    path = "/api/v1/client/company/design/logo",
    operation_id = "download_logo",
    tag = "Empresa",
    responses(
        (status = 200, description = "The image", content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "`no_logo`", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn download(State(app): State<App>, caller: Caller) -> Result<Download, ApiError> {
    let logo = app.table.design(caller.company()).await?.logo;
    let logo =
        logo.ok_or_else(|| ApiError::missing("no_logo", say!("the company has no logo", "la empresa no tiene logo")))?;
    let bytes = app.artifacts.logo(caller.company(), &logo.hash).await?;
    let bytes = bytes.ok_or_else(|| ApiError::internal("the logo is not in the bucket"))?;
    Ok(Download::new(bytes, logo.kind.content_type(), logo.kind.file_name()))
}

/// Quitar el logo de la representación impresa
///
/// Prints receipts without a logo again. Twice is once.
#[utoipa::path(
    delete,
    path = "/api/v1/client/company/design/logo",
    operation_id = "delete_logo",
    tag = "Empresa",
    responses(
        (status = 200, description = "The design as it is now", body = DesignView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["full", "highest_environment"])),
)]
pub(crate) async fn delete(State(app): State<App>, caller: Caller) -> Result<Json<DesignView>, ApiError> {
    let changes = DesignChanges {
        logo: FieldEdit::Clear,
        ..DesignChanges::default()
    };
    let changed = app
        .table
        .change_design(caller.company(), changes, app.clock.now())
        .await?;
    Ok(Json(changed.into()))
}

fn stated_kind(headers: &HeaderMap) -> Result<LogoKind, ApiError> {
    let stated = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let stated = stated.unwrap_or_default().trim();
    let kind = LogoKind::ALL
        .into_iter()
        .find(|kind| kind.content_type().eq_ignore_ascii_case(stated));
    kind.ok_or_else(|| ApiError::unsupported_media_type("image/png or image/jpeg"))
}

/// Decodes the image on a blocking thread, because it is pure computation.
async fn check(kind: LogoKind, bytes: Bytes) -> Result<(), ApiError> {
    let is_png = bytes.starts_with(b"\x89PNG");
    let read = tokio::task::spawn_blocking(move || Logo::read(&bytes)).await;
    read.map_err(ApiError::internal)?.map_err(refused)?;
    if is_png == (kind == LogoKind::Png) {
        return Ok(());
    }
    let found = if is_png { "image/png" } else { "image/jpeg" };
    let msg = say!(
        "the image is {found}, the content type says {}",
        "la imagen es {found}, el tipo de contenido dice {}",
        kind.content_type()
    );
    Err(ApiError::validation(vec![error_of("kind", msg)]))
}

fn refused(error: LogoError) -> ApiError {
    let code = match &error {
        LogoError::TooLarge { .. } => "too_large",
        LogoError::Kind => "kind",
        LogoError::Pixels { .. } => "pixels",
        _ => "unusable",
    };
    ApiError::validation(vec![error_of(code, error.say())])
}

fn error_of(code: &'static str, msg: Bilingual) -> FieldError {
    FieldError::new(["body"], "image_error", msg).with_code(code)
}
