//! A company's receipts as documents: search, the complete record, and its files.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/documents` | [`list`]: newest first, filtered, with the total |
//! | `GET /api/v1/client/documents/{id}` | [`show`]: the complete record |
//! | `GET /api/v1/client/documents/{id}/artifacts` | [`artifacts`]: the available files |
//! | `GET /api/v1/client/documents/{id}/artifacts/{type}` | [`download`]: one of them |
//! | `GET /api/v1/ecf/{id}/xml`, `…/rfce`, `…/pdf` | [`files`]: the signed XML, and its print |
//!
//! No route changes a receipt; a printed representation is stored when it is first rendered. [`artifact_file`]
//! describes the files.

mod artifact_file;
mod artifacts;
mod download;
mod files;
mod history;
mod list;
mod show;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use ecf::StampHosts;
use ecf_api::{ApiError, Keys};
use ecf_evidence::Files;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Artifacts, Clients, Receipt, ReceiptId, Scope, Table, stamp_hosts};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    files: Files,
    clock: Clock,
    stamp_hosts: StampHosts,
    /// Whole years for which this deployment retains documents.
    retention_years: u32,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `DOCUMENT_RETENTION_DAYS`, and optionally
    /// `STAMP_ECF_URL` and `STAMP_FC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            files: Files::new(
                table.clone(),
                Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
                stamp_hosts(env)?,
            ),
            stamp_hosts: stamp_hosts(env)?,
            retention_years: whole_years(env.required_as("DOCUMENT_RETENTION_DAYS")?),
            table,
            clock,
        })
    }

    /// The receipt with this id. 404 for an unknown id, and for a receipt of another company or environment.
    async fn receipt(&self, scope: &Scope, id: &ReceiptId) -> Result<Receipt, ApiError> {
        let receipt = self.table.receipt(scope, id).await?;
        receipt.ok_or_else(ApiError::not_found)
    }
}

/// Four years have 1,461 days.
fn whole_years(days: u32) -> u32 {
    days.saturating_mul(4) / 1_461
}

impl FromRef<App> for Keys {
    fn from_ref(app: &App) -> Self {
        app.keys.clone()
    }
}

/// The contract of this function's routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list::list,
    show::show,
    artifacts::artifacts,
    download::download,
    files::xml,
    files::rfce,
    files::pdf
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/documents", get(list::list))
        .route("/api/v1/client/documents/{public_id}", get(show::show))
        .route(
            "/api/v1/client/documents/{public_id}/artifacts",
            get(artifacts::artifacts),
        )
        .route(
            "/api/v1/client/documents/{public_id}/artifacts/{artifact_type}",
            get(download::download),
        )
        .route("/api/v1/ecf/{public_id}/xml", get(files::xml))
        .route("/api/v1/ecf/{public_id}/rfce", get(files::rfce))
        .route("/api/v1/ecf/{public_id}/pdf", get(files::pdf))
        .with_state(app);
    ecf_api::finish(routes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b5_days_of_retention_are_shown_as_whole_years() {
        for (days, years) in [(3_653, 10), (3_680, 10), (4_382, 11), (4_383, 12), (36_500, 99)] {
            assert_eq!(whole_years(days), years, "{days}");
        }
    }
}
