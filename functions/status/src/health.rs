//! `GET /api/v1/health`: 200 whether the service is well or degraded; the body names the state.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// A store that takes longer counts as failed, whatever its answer.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthView {
    /// `ok` or `degraded`.
    status: &'static str,
    /// Each checked service, `ok` or `failed`.
    checks: BTreeMap<&'static str, &'static str>,
    version: &'static str,
}

/// Salud del servicio
///
/// Checks the services without which no receipt can be issued. No key is needed.
#[utoipa::path(
    get,
    path = "/api/v1/health",
    tag = "Servicio",
    responses((status = 200, description = "Up; `status` is `ok` or `degraded`", body = HealthView)),
    security(()),
)]
pub(crate) async fn health(State(app): State<App>) -> Json<HealthView> {
    let table = match tokio::time::timeout(TIME_LIMIT, app.table.ping()).await {
        Ok(Ok(())) => "ok",
        Ok(Err(error)) => {
            tracing::error!(error = %ecf_runtime::telemetry::chain(&error), "the table does not answer");
            "failed"
        }
        Err(_) => {
            tracing::error!("the table does not answer in time");
            "failed"
        }
    };
    let status = if table == "ok" { "ok" } else { "degraded" };
    Json(HealthView {
        status,
        checks: BTreeMap::from([("table", table)]),
        version: env!("CARGO_PKG_VERSION"),
    })
}
