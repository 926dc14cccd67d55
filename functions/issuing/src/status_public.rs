//! `GET /api/v1/ecf/status-public/{external_id}`.

use axum::Json;
use axum::extract::{Path, State};
use ecf::Rnc;
use ecf_api::{ApiError, Caller, CodedError, DocumentView, Fields, FromFields, ValidQuery, ValidationError};
use utoipa::IntoParams;

use crate::App;

/// Upper bound of the caller's own id, in characters.
const LONGEST_ID: usize = 100;

/// Whose receipt it is said to be.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatusQuery {
    /// The RNC of the key's company; another one finds nothing.
    #[param(value_type = String)]
    company_rnc: Rnc,
}

impl FromFields for StatusQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            company_rnc: fields.parsed("company_rnc").required()?,
        })
    }
}

/// Consultar un comprobante por su id externo
///
/// The newest receipt with the caller's own id, by the key's company alone.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/status-public/{external_id}",
    operation_id = "status_public",
    tag = "Comprobantes",
    params(
        ("external_id" = String, Path, description = "The `external_id` that the receipt was issued with"),
        StatusQuery,
    ),
    responses(
        (status = 200, description = "The receipt with its current state", body = DocumentView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn status_public(
    State(app): State<App>,
    caller: Caller,
    Path(external_id): Path<String>,
    ValidQuery(query): ValidQuery<StatusQuery>,
) -> Result<Json<DocumentView>, ApiError> {
    if query.company_rnc != caller.rnc || external_id.chars().count() > LONGEST_ID {
        return Err(ApiError::not_found());
    }
    let receipt = app.table.receipt_by_external_id(&caller.scope, &external_id).await?;
    let receipt = receipt.ok_or_else(ApiError::not_found)?;
    Ok(Json(app.view(&receipt)))
}
