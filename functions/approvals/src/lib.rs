//! Messages that a company signs about receipts: approvals and rejections of received receipts (ACECF), and annulments
//! of its own unused numbers (ANECF).
//!
//! | Route | Handler |
//! |---|---|
//! | `POST /api/v1/ecf/acecf/submit` | [`submit`]: approves or rejects a receipt of the inbox |
//! | `POST /api/v1/ecf/acecf/outbound` | [`pass_on`]: the same, signed by the caller |
//! | `POST /api/v1/ecf/acecf/inbound` | [`pass_on`]: forwards an approval that another taxpayer signed |
//! | `GET /api/v1/ecf/acecf` | [`list`]: all approvals, newest first |
//! | `GET /api/v1/ecf/acecf/{id}` | [`view`]: the state of an approval |
//! | `POST /api/v1/ecf/cancellations` | [`cancel`]: annuls numbers that will never be used |
//! | `GET /api/v1/ecf/cancellations/{id}` | [`cancel`]: the state of an annulment |
//!
//! Each message is stored first. The first attempt runs during the request, for some seconds. If it does not finish,
//! the response says `pending` and `exchange-worker` continues. The idempotency key identifies a retry, which is
//! answered with the current state. Annulments are here and not in `issuing` because they call the tax authority, and
//! `issuing` must not read its tokens.

mod answer;
mod cancel;
mod list;
mod pass_on;
mod submit;
mod view;

use std::time::Duration;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf_api::{ApiError, Keys};
use ecf_exchange::{Exchange, RecipientTimeOuts};
use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{AnnouncementId, Clients, Scope, companies::Company};
use ecf_taxauth::Waiting;

/// Time limit for the calls to the issuer and to the authority during a request; both run concurrently.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    exchange: Exchange,
}

impl App {
    /// Builds the app from the environment: the variables of [`Exchange::from_env`], and `WEBHOOK_QUEUE_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let waiting = Some(Waiting::of_look_up());
        let exchange = Exchange::from_env(env, clients, clock.clone(), RecipientTimeOuts::of_request(), waiting)?;
        Ok(Self {
            keys: Keys::from_env(env, exchange.table.clone(), clock)?,
            exchange,
        })
    }

    async fn company(&self, scope: &Scope) -> Result<Company, ApiError> {
        let company = self.exchange.table.company(&scope.company).await?;
        company.ok_or_else(|| ApiError::internal("the key's company is gone"))
    }

    /// Enqueues an announcement that is already stored.
    async fn announce(&self, scope: &Scope, news: &AnnouncementId) {
        if let Err(error) = ecf_webhooks::enqueue_announcement(&self.exchange.queues, scope, news).await {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(%error, "an event was not enqueued; housekeeping enqueues it");
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
    submit::submit,
    pass_on::outbound,
    pass_on::inbound,
    list::list,
    view::show,
    cancel::cancel,
    cancel::show_cancellation
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/ecf/acecf/submit", post(submit::submit))
        .route("/api/v1/ecf/acecf/outbound", post(pass_on::outbound))
        .route("/api/v1/ecf/acecf/inbound", post(pass_on::inbound))
        .route("/api/v1/ecf/acecf", get(list::list))
        .route("/api/v1/ecf/acecf/{public_id}", get(view::show))
        .route("/api/v1/ecf/cancellations", post(cancel::cancel))
        .route("/api/v1/ecf/cancellations/{public_id}", get(cancel::show_cancellation))
        .with_state(app);
    ecf_api::finish(routes)
}
