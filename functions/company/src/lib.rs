//! A company's own profile, numbers, keys and settings.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/company` | [`show`]: profile, certificate, settings, receipt types with free numbers, [`addresses`] to register |
//! | `PATCH /api/v1/client/company` | [`update`]: contact data and settings, field by field |
//! | `GET`, `PATCH /api/v1/client/company/design` | [`design`]: colour and closing line of prints |
//! | `GET`, `PUT`, `DELETE /api/v1/client/company/design/logo` | [`design::logo`]: the image at the top of prints |
//! | `GET`, `POST /api/v1/client/sequences` | [`sequences`]: the ranges of numbers |
//! | `PATCH /api/v1/client/sequences/{public_id}` | [`sequences`]: switches a range on or off, changes its last day or its end |
//! | `GET /api/v1/client/summary` | [`summary`]: counts and amounts of today and this month, numbers, certificate, webhooks, the tax authority |
//! | `GET /api/v1/client/api-keys` | [`api_keys`]: the environment's keys, without their secrets |
//! | `POST /api/v1/client/api-keys` | [`api_keys`]: creates a key, shown once |
//! | `DELETE /api/v1/client/api-keys/{id}` | [`api_keys`]: revoke a key |
//! | `GET`, `POST /api/v1/client/certification/attempts` | [`certification`]: lists or begins attempts of the certification, in CerteCF |

mod addresses;
mod api_keys;
mod certification;
mod design;
mod sequences;
mod show;
mod summary;
mod update;

use axum::extract::FromRef;
use axum::routing::{delete, get, patch};
use axum::{Extension, Router};
use ecf::Fecha;
use ecf_api::Keys;
use ecf_runtime::env::{Env, EnvError};
use ecf_runtime::{Clock, PublicAddress};
use ecf_store::{Artifacts, Clients, Table};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    artifacts: Artifacts,
    clock: Clock,
    /// The last day of the numbers that every taxpayer has outside production.
    precertification_valid_until: Fecha,
    /// The base address of the service, if the operator configured it.
    public_url: Option<String>,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `PRECERTIFICATION_VALID_UNTIL` (dd-MM-yyyy),
    /// and optionally `PUBLIC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            table,
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            clock,
            precertification_valid_until: env.required_as("PRECERTIFICATION_VALID_UNTIL")?,
            public_url: env.optional("PUBLIC_URL")?,
        })
    }

    /// The base address of the service: the operator's setting, otherwise the gateway's address. Request headers are
    /// not used, because the company registers this address with the authority.
    fn service_address(&self, gateway: Option<Extension<PublicAddress>>) -> Option<String> {
        let configured = self
            .public_url
            .as_deref()
            .map(|url| url.trim_end_matches('/').to_owned());
        configured.or_else(|| gateway.map(|Extension(PublicAddress(address))| address))
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
    show::show,
    sequences::list::list_sequences,
    sequences::open::open_sequence,
    sequences::change::change_sequence,
    update::update,
    design::show,
    design::change,
    design::logo::put,
    design::logo::download,
    design::logo::delete,
    summary::summary,
    api_keys::list,
    api_keys::create,
    api_keys::revoke,
    certification::begin,
    certification::list
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route(
            "/api/v1/client/sequences",
            get(sequences::list::list_sequences).post(sequences::open::open_sequence),
        )
        .route(
            "/api/v1/client/sequences/{public_id}",
            patch(sequences::change::change_sequence),
        )
        .route("/api/v1/client/company", get(show::show).patch(update::update))
        .route("/api/v1/client/company/design", get(design::show).patch(design::change))
        .route(
            "/api/v1/client/company/design/logo",
            get(design::logo::download)
                .put(design::logo::put)
                .delete(design::logo::delete),
        )
        .route("/api/v1/client/summary", get(summary::summary))
        .route("/api/v1/client/api-keys", get(api_keys::list).post(api_keys::create))
        .route("/api/v1/client/api-keys/{public_id}", delete(api_keys::revoke))
        .route(
            "/api/v1/client/certification/attempts",
            get(certification::list).post(certification::begin),
        )
        .with_state(app);
    ecf_api::finish(routes)
}
