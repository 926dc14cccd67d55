//! The receipts that a company received from other issuers, in one environment.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/inbox` | [`list`]: newest first, optionally filtered by `acked` |
//! | `POST /api/v1/client/inbox/{id}/ack` | [`ack`]: records that the ERP has the receipt; the first time counts |
//! | `GET /api/v1/client/inbox/{id}/xml` | [`files`]: the received receipt, byte for byte |
//! | `GET /api/v1/client/inbox/{id}/arecf` | [`files`]: our acknowledgement, byte for byte |
//!
//! `reception` stores the receipts.

mod ack;
mod files;
mod list;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf_api::Keys;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Artifacts, Clients, Table};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    artifacts: Artifacts,
    clock: Clock,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME` and `BUCKET_NAME`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            table,
            clock,
        })
    }
}

impl FromRef<App> for Keys {
    fn from_ref(app: &App) -> Self {
        app.keys.clone()
    }
}

/// The contract of this function's routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, ack::ack, files::xml, files::arecf))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/inbox", get(list::list))
        .route("/api/v1/client/inbox/{public_id}/ack", post(ack::ack))
        .route("/api/v1/client/inbox/{public_id}/xml", get(files::xml))
        .route("/api/v1/client/inbox/{public_id}/arecf", get(files::arecf))
        .with_state(app);
    ecf_api::finish(routes)
}
