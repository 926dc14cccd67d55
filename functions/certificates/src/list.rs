//! `GET /api/v1/client/certificates`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CertificateView, CodedError, ValidationError};

use crate::App;

/// Listar certificados
///
/// All certificates that the company ever had, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/client/certificates",
    operation_id = "list_certificates",
    tag = "Certificados",
    responses(
        (status = 200, description = "All that there were, newest first; the active one signs in every environment", body = Vec<CertificateView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<Vec<CertificateView>>, ApiError> {
    let now = app.clock.now();
    let company = caller.company();
    let profile = app.table.company(company).await?;
    let active = profile
        .and_then(|profile| profile.certificate)
        .map(|active| active.sha256);
    let certificates = app.table.certificates(company).await?;
    let views = certificates.into_iter().map(|one| {
        let is_active = Some(one.sha256) == active;
        CertificateView::of(company, one, is_active, caller.environment(), now)
    });
    Ok(Json(views.collect()))
}
