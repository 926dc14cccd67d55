//! A company about itself.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/company` | [`show`]: profile, certificate, settings, receipt types with numbers left |

mod show;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use ecf_api::Keys;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Clients, Table};

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    clock: Clock,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME`.
    ///
    /// # Errors
    /// Names the variable when it is missing.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        Ok(Self {
            keys: Keys::new(table.clone(), clock.clone()),
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
#[openapi(paths(show::show))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/company", get(show::show))
        .with_state(app);
    ecf_api::finish(routes)
}
