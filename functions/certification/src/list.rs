//! `GET /api/v1/client/certification/runs`: the runs of a company, newest first.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::views::RunView;

/// The runs, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunsView {
    items: Vec<RunView>,
    total: usize,
}

/// Listar las corridas de certificación
///
/// The runs of the company in the key's environment, newest first, without their rows.
#[utoipa::path(
    get,
    path = "/api/v1/client/certification/runs",
    operation_id = "list_certification_runs",
    tag = "Certificacion",
    responses(
        (status = 200, description = "The runs", body = RunsView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<RunsView>, ApiError> {
    let runs = app.store.table.runs(&caller.scope).await?;
    let items: Vec<_> = runs.iter().map(RunView::of).collect();
    let total = items.len();
    Ok(Json(RunsView { items, total }))
}
