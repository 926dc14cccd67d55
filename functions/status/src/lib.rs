//! Health of the service, state of the tax authority, its catalogues and register of taxpayers, and notices.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/health` | [`health`]: whether the service can accept receipts |
//! | `GET /api/v1/taxauth/status…` | [`taxauth`]: whether the tax authority can, and the impact if it cannot |
//! | `GET /api/v1/taxauth/catalogues`, `/{name}` | [`catalogues`]: the authority's code tables |
//! | `GET /api/v1/taxauth/rnc/{rnc}` | [`rnc`]: a taxpayer of the authority's register |
//! | `GET /api/v1/notices/changes`, `/{public_id}` | [`notices`]: notices of the operator |

mod catalogues;
mod health;
mod notices;
mod rnc;
mod taxauth;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use ecf_api::Keys;
use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, Register, Table, Vault, rate_limits::RateLimit};
use ecf_taxauth::{Endpoints, Gates, StatusWatch, TaxAuth, TimeOuts};
use jiff::SignedDuration;

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    gates: Arc<Gates>,
    status: Arc<StatusWatch>,
    register: Register,
    /// The rate limit of look-ups in the register, per client address.
    register_rate_limit: RateLimit,
    /// Whether this deployment publishes notices.
    notices_enabled: bool,
    clock: Clock,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`,
    /// `REGISTER_LOOKUPS_PER_MINUTE`, `TAXAUTH_STATUS_URL` and optionally `NOTICES_ENABLED` (`false` disables notices).
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let endpoints = Endpoints::default().with_status_base(&env.required("TAXAUTH_STATUS_URL")?)?;
        let taxauth = TaxAuth::new(endpoints, TimeOuts::of_status())?;
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            gates: Arc::new(Gates::new(table.clone(), clock.clone())),
            status: Arc::new(StatusWatch::new(taxauth, vault, table.clone())),
            register: Register::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            register_rate_limit: RateLimit {
                name: "rnc",
                max_requests: env.required_as("REGISTER_LOOKUPS_PER_MINUTE")?,
                window: SignedDuration::from_mins(1),
            },
            notices_enabled: env.parsed("NOTICES_ENABLED")?.unwrap_or(true),
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
#[openapi(paths(
    health::health,
    taxauth::status,
    taxauth::services,
    taxauth::maintenance,
    taxauth::impact,
    taxauth::impact_of,
    taxauth::environment_status,
    taxauth::refresh,
    catalogues::list,
    catalogues::show,
    rnc::show,
    notices::changes,
    notices::show
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/health", get(health::health))
        .route("/api/v1/taxauth/status", get(taxauth::status))
        .route("/api/v1/taxauth/status/services", get(taxauth::services))
        .route("/api/v1/taxauth/status/maintenance", get(taxauth::maintenance))
        .route("/api/v1/taxauth/status/impact", get(taxauth::impact))
        .route("/api/v1/taxauth/status/impact/{environment}", get(taxauth::impact_of))
        .route(
            "/api/v1/taxauth/status/environment/{environment}",
            get(taxauth::environment_status),
        )
        .route("/api/v1/taxauth/status/refresh", get(taxauth::refresh))
        .route("/api/v1/taxauth/catalogues", get(catalogues::list))
        .route("/api/v1/taxauth/catalogues/{name}", get(catalogues::show))
        .route("/api/v1/taxauth/rnc/{rnc}", get(rnc::show))
        .route("/api/v1/notices/changes", get(notices::changes))
        .route("/api/v1/notices/{public_id}", get(notices::show))
        .with_state(app);
    ecf_api::finish(routes)
}
