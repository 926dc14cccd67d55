//! Webhook subscriptions of a company, one environment at a time.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/webhooks` | [`list`]: all subscriptions, a bare array |
//! | `POST /api/v1/client/webhooks` | [`create`]: subscribe; the secret is shown once |
//! | `POST /api/v1/client/webhooks/{id}/test` | [`test`]: a dry run of `webhook.test`, at once |
//! | `GET /api/v1/client/webhooks/{id}/deliveries` | [`deliveries`]: what was sent, newest first |

mod create;
mod deliveries;
mod list;
mod test;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf_api::Keys;
use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, Table, Vault};
use ecf_webhooks::{Guard, GuardedClient, Reach, TimeOuts};

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    vault: Vault,
    client: GuardedClient,
    clock: Clock,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME`, `SECRET_PREFIX`, and optionally
    /// `ALLOW_LOOPBACK_TARGETS`.
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let loopback = env.parsed("ALLOW_LOOPBACK_TARGETS")?.unwrap_or(false);
        let guard = Guard::new(if loopback {
            Reach::PublicAndLoopback
        } else {
            Reach::Public
        });
        Ok(Self {
            keys: Keys::new(table.clone(), clock.clone()),
            vault: Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?),
            client: GuardedClient::new(guard, TimeOuts::default())?,
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
#[openapi(paths(list::list, create::create, test::test, deliveries::deliveries))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/webhooks", get(list::list).post(create::create))
        .route("/api/v1/client/webhooks/{public_id}/test", post(test::test))
        .route(
            "/api/v1/client/webhooks/{public_id}/deliveries",
            get(deliveries::deliveries),
        )
        .with_state(app);
    ecf_api::finish(routes)
}
