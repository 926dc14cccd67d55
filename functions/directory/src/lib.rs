//! Looks up where taxpayers receive electronic receipts, in the tax authority's directory.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/taxauth/directory` | [`look_up`]: one taxpayer, from the shared cache or from the authority |
//!
//! A separate function: the authority requires a token, so this function signs with the company's certificate. The
//! other look-ups must not be able to, and some of them are public.

mod look_up;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use ecf_api::Keys;
use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, Identities, Table, Vault};
use ecf_taxauth::{Directory, Endpoints, TaxAuth, TimeOuts, Tokens, Waiting};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    directory: Directory,
    identities: Identities,
    tokens: Arc<Tokens>,
    clock: Clock,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `SECRET_PREFIX`, `TAXAUTH_ECF_URL`, `TAXAUTH_FC_URL` and
    /// `TAXAUTH_STATUS_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        let endpoints = Endpoints::from_bases(
            &env.required("TAXAUTH_ECF_URL")?,
            &env.required("TAXAUTH_FC_URL")?,
            &env.required("TAXAUTH_STATUS_URL")?,
        )?;
        let taxauth = TaxAuth::new(endpoints, TimeOuts::of_look_up())?;
        let tokens = Tokens::new(taxauth, table.clone(), vault.clone(), clock.clone());
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            identities: Identities::new(vault),
            tokens: Arc::new(tokens.with_waiting(Waiting::of_look_up())),
            directory: Directory::new(table),
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
#[openapi(paths(look_up::look_up))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/taxauth/directory", get(look_up::look_up))
        .with_state(app);
    ecf_api::finish(routes)
}
