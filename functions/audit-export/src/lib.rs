//! Serves a company's evidence for a span of time as one ZIP, streamed.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/audit-export` | [`export`]: from the bucket if it was built before, else while it is built |
//!
//! A separate function, because streaming applies to all routes of a function. [`ecf_evidence::audit`] describes the
//! content of the archive.

mod export;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use ecf_api::Keys;
use ecf_evidence::Files;
use ecf_evidence::audit::Auditor;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Artifacts, Clients, Exports, Identities, Table, Vault, stamp_hosts};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    auditor: Auditor,
    clock: Clock,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`, and optionally
    /// `STAMP_ECF_URL` and `STAMP_FC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let bucket = env.required("BUCKET_NAME")?;
        let files = Files::new(
            table.clone(),
            Artifacts::new(clients.s3.clone(), &bucket),
            stamp_hosts(env)?,
        );
        let exports = Exports::new(clients.s3.clone(), bucket);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            auditor: Auditor::new(table, files, exports, Identities::new(vault)),
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
#[openapi(paths(export::export))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/audit-export", get(export::export))
        .with_state(app);
    ecf_api::finish(routes)
}
