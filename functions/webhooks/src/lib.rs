//! Webhook subscriptions of a company, in one environment.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/webhooks` | [`list`]: all subscriptions, as a bare array |
//! | `POST /api/v1/client/webhooks` | [`create`]: subscribes; the secret is shown once |
//! | `GET /api/v1/client/webhooks/{id}` | [`show`] |
//! | `PATCH /api/v1/client/webhooks/{id}` | [`update`]: address, events, on and off |
//! | `DELETE /api/v1/client/webhooks/{id}` | [`delete`] |
//! | `POST /api/v1/client/webhooks/{id}/rotate-secret` | [`rotate`]: a new secret, shown once |
//! | `POST /api/v1/client/webhooks/{id}/test` | [`test`]: delivers `webhook.test` once, during the request |
//! | `GET /api/v1/client/webhooks/{id}/deliveries` | [`deliveries`]: delivery attempts, newest first |
//! | `POST /api/v1/client/webhooks/{id}/deliveries/{delivery_id}/redeliver` | [`redeliver`]: delivers the same bytes again |

mod create;
mod delete;
mod deliveries;
mod list;
mod redeliver;
mod rotate;
mod show;
mod test;
mod update;

use std::time::Duration;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf::StampHosts;
use ecf_api::Keys;
use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, QueueUrls, Queues, Scope, Table, Vault, WebhookId, WebhookJob, stamp_hosts};
use ecf_webhooks::{Guard, GuardedClient, Reach, TimeOuts};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    vault: Vault,
    queues: Queues,
    client: GuardedClient,
    clock: Clock,
    stamp_hosts: StampHosts,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `SECRET_PREFIX`, `WEBHOOK_QUEUE_URL`, and optionally
    /// `ALLOW_LOOPBACK_TARGETS`, `STAMP_ECF_URL` and `STAMP_FC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let loopback = env.parsed("ALLOW_LOOPBACK_TARGETS")?.unwrap_or(false);
        let guard = Guard::new(if loopback {
            Reach::PublicAndLoopback
        } else {
            Reach::Public
        });
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            vault: Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?),
            client: GuardedClient::new(guard, TimeOuts::default())?,
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            stamp_hosts: stamp_hosts(env)?,
            table,
            clock,
        })
    }

    /// Enqueues the delivery of a webhook's parked events. The due index recovers a lost message.
    async fn unpark(&self, scope: &Scope, webhook: &WebhookId) {
        let job = WebhookJob::Unpark {
            scope: *scope,
            webhook: *webhook,
            slow: false,
        };
        if let Err(error) = self.queues.send_webhook(&job, Duration::ZERO).await {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(%error, "a probe was not enqueued; housekeeping enqueues it");
        }
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
    list::list,
    create::create,
    show::show,
    update::update,
    delete::delete,
    rotate::rotate,
    test::test,
    deliveries::deliveries,
    redeliver::redeliver
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/webhooks", get(list::list).post(create::create))
        .route(
            "/api/v1/client/webhooks/{public_id}",
            get(show::show).patch(update::update).delete(delete::delete),
        )
        .route(
            "/api/v1/client/webhooks/{public_id}/rotate-secret",
            post(rotate::rotate),
        )
        .route("/api/v1/client/webhooks/{public_id}/test", post(test::test))
        .route(
            "/api/v1/client/webhooks/{public_id}/deliveries",
            get(deliveries::deliveries),
        )
        .route(
            "/api/v1/client/webhooks/{public_id}/deliveries/{delivery_id}/redeliver",
            post(redeliver::redeliver),
        )
        .with_state(app);
    ecf_api::finish(routes)
}
