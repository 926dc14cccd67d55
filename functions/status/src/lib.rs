//! The service's own health, and the published contract.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/health` | [`health`]: is the service able to take receipts |
//! | `GET /openapi/public-v1.json` | [`openapi`]: the contract, as checked in |

mod health;
mod openapi;

use axum::Router;
use axum::routing::get;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Clients, Table};

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    table: Table,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME`.
    ///
    /// # Errors
    /// Names the variable when it is missing.
    pub fn from_env(env: &Env, clients: &Clients) -> Result<Self, EnvError> {
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
        })
    }
}

/// The contract of this function's routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(health::health, openapi::openapi))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/health", get(health::health))
        .route("/openapi/public-v1.json", get(openapi::openapi))
        .with_state(app);
    ecf_api::finish(routes)
}
