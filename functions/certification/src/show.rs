//! `GET /api/v1/client/certification/runs/{id}`: a run with the state of every row.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, PathId, ValidationError};
use ecf_store::{RunId, runs::Run};

use crate::App;
use crate::rows::rows;
use crate::views::FullRunView;

/// Consultar una corrida de certificación
///
/// A run with its rows, each with its state, number, track id and explanation, and what comes next.
#[utoipa::path(
    get,
    path = "/api/v1/client/certification/runs/{run_id}",
    operation_id = "certification_run",
    tag = "Certificacion",
    params(("run_id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "The run as it stands", body = FullRunView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "No such run", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<RunId>,
) -> Result<Json<FullRunView>, ApiError> {
    let run = find(&app, &caller, &id).await?;
    Ok(Json(full(&app, &caller, &run).await?))
}

/// The run with this id.
pub(crate) async fn find(app: &App, caller: &Caller, id: &RunId) -> Result<Run, ApiError> {
    let run = app.store.table.run(&caller.scope, id).await?;
    run.ok_or_else(ApiError::not_found)
}

/// The view of a run with its rows.
pub(crate) async fn full(app: &App, caller: &Caller, run: &Run) -> Result<FullRunView, ApiError> {
    let (store, scope, now) = (&app.store, &caller.scope, app.clock.now());
    let book = store.books.of(&store.artifacts, scope, &caller.rnc, run, now).await?;
    let rows = rows(&store.table, scope, run, &book).await?;
    Ok(FullRunView::of(run, &book, &rows))
}
