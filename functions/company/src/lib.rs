//! A company about itself.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/company` | [`show`]: profile, certificate, settings, receipt types with numbers left |
//! | `GET`, `POST /api/v1/client/sequences` | [`sequences`]: the ranges of numbers |
//! | `PATCH /api/v1/client/sequences/{public_id}` | [`sequences`]: switched on or off, prolonged, extended |

mod sequences;
mod show;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, patch};
use ecf::Fecha;
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
    /// The last day of the numbers that every taxpayer owns outside production.
    precertification_valid_until: Fecha,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME` and `PRECERTIFICATION_VALID_UNTIL` (dd-MM-yyyy).
    ///
    /// # Errors
    /// Names the variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        Ok(Self {
            keys: Keys::new(table.clone(), clock.clone()),
            table,
            clock,
            precertification_valid_until: env.required_as("PRECERTIFICATION_VALID_UNTIL")?,
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
    show::show,
    sequences::list::list_sequences,
    sequences::open::open_sequence,
    sequences::change::change_sequence
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/company", get(show::show))
        .route(
            "/api/v1/client/sequences",
            get(sequences::list::list_sequences).post(sequences::open::open_sequence),
        )
        .route(
            "/api/v1/client/sequences/{public_id}",
            patch(sequences::change::change_sequence),
        )
        .with_state(app);
    ecf_api::finish(routes)
}
