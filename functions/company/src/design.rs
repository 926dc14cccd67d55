//! The company's additions to its printed receipts: colour, closing line, logo.

pub(crate) mod logo;

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, Instant, ValidJson, ValidationError};
use ecf_ri::Color;
use ecf_store::designs::{CompanyDesign, DesignChanges};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// Upper bound of the footer, in characters: two lines of a 58 mm roll, one of a letter sheet.
const LONGEST_FOOTER: usize = 200;

/// What the company adds to its printed receipts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DesignView {
    /// Of the title and the head of the table, `#rrggbb`; `null`: a dark grey.
    #[schema(example = "#1f3a5f")]
    color: Option<String>,
    /// A closing line.
    footer: Option<String>,
    /// `null` without one.
    logo: Option<LogoView>,
    #[schema(value_type = Option<String>, format = DateTime)]
    updated_at: Option<Instant>,
}

/// The logo that is printed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogoView {
    #[schema(example = "image/png")]
    content_type: &'static str,
    sha256: String,
    /// The path of the image.
    link: &'static str,
}

impl From<CompanyDesign> for DesignView {
    fn from(design: CompanyDesign) -> Self {
        Self {
            color: design.color,
            footer: design.footer,
            logo: design.logo.map(|logo| LogoView {
                content_type: logo.kind.content_type(),
                sha256: logo.hash.to_string(),
                link: logo::PATH,
            }),
            updated_at: design.updated_at.map(Instant),
        }
    }
}

/// What changes; a field that is left out stays as it is, `null` clears it.
#[derive(Debug, ToSchema)]
#[schema(as = ChangeDesignRequest)]
pub(crate) struct DesignRequest {
    #[schema(value_type = Option<String>, example = "#1f3a5f", pattern = "^#[0-9a-fA-F]{6}$")]
    color: ecf_store::FieldEdit<String>,
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    footer: ecf_store::FieldEdit<String>,
}

impl FromFields for DesignRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let color: Option<Color> = fields.text("color").parse().optional();
        let color = color.map(|color| color.to_string());
        let footer = fields.text("footer").length(1..=LONGEST_FOOTER).optional();
        Some(Self {
            color: fields.edit("color", color),
            footer: fields.edit("footer", footer),
        })
    }
}

/// Diseño de la representación impresa
///
/// What the company adds to its printed receipts.
#[utoipa::path(
    get,
    path = "/api/v1/client/company/design",
    operation_id = "show_design",
    tag = "Empresa",
    responses(
        (status = 200, description = "Colour, closing line and logo", body = DesignView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(State(app): State<App>, caller: Caller) -> Result<Json<DesignView>, ApiError> {
    Ok(Json(app.table.design(caller.company()).await?.into()))
}

/// Cambiar el diseño de la representación impresa
///
/// Changes colour and closing line, field by field. Prints are made with the new design from then on, also of receipts that were printed before.
/// It is the company's, whatever the environment of the key.
#[utoipa::path(
    patch,
    path = "/api/v1/client/company/design",
    operation_id = "change_design",
    tag = "Empresa",
    request_body = DesignRequest,
    responses(
        (status = 200, description = "The design as it is now", body = DesignView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad or unknown field; nothing was changed", body = ValidationError),
    ),
    security(("api_key" = ["full", "highest_environment"])),
)]
pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<DesignRequest>,
) -> Result<Json<DesignView>, ApiError> {
    let changes = DesignChanges {
        color: request.color,
        footer: request.footer,
        ..DesignChanges::default()
    };
    let changed = app
        .table
        .change_design(caller.company(), changes, app.clock.now())
        .await?;
    Ok(Json(changed.into()))
}
