//! Issues receipts and reports their state.
//!
//! | Route | Handler |
//! |---|---|
//! | `POST /api/v1/ecf` | [`issue`]: validate, number, write, sign, store, enqueue; [`validate`]: the same without storing |
//! | `POST /api/v1/ecf/batch` | [`batch`]: up to 25 receipts, each on its own |
//! | `GET /api/v1/ecf/states` | [`states`]: the state contract |
//! | `GET /api/v1/ecf` | [`list`]: receipts, newest first |
//! | `GET /api/v1/ecf/{id}` | [`read`]: the current state of a receipt |
//! | `GET /api/v1/ecf/status-public/{external_id}` | [`status_public`]: the same, by the caller's own id |
//! | `POST /api/v1/ecf/{id}/cancel`, `…/mark-incapacity` | [`withdraw`]: withdraws a receipt that was never sent |
//! | a job of the `issuing` queue | [`later`]: issues a stored receipt, in the program `issuing-worker` |
//!
//! Start reading at [`issue::issue`]; the order of its steps guarantees that an answered receipt is stored.

mod batch;
mod check;
mod issue;
mod issuer;
mod later;
mod list;
mod numbering;
mod read;
mod record;
mod replay;
mod request;
mod signing;
mod states;
mod status_public;
mod stored;
mod validate;
mod views;
mod withdraw;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf::StampHosts;
use ecf_api::{ApiError, DocumentView, Keys};
use ecf_language::say;
use ecf_runtime::env::{Env, EnvError};
use ecf_runtime::{Clock, Metrics};
use ecf_store::{
    Artifacts, Clients, CompanyId, Identities, IssuingJob, Profiles, QueueUrls, Queues, Receipt, StoreError, Table,
    Vault,
    companies::{Company, CompanySettings},
    stamp_hosts,
};

pub use later::handle;

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    profiles: Profiles,
    artifacts: Artifacts,
    identities: Identities,
    queues: Queues,
    clock: Clock,
    stamp_hosts: StampHosts,
    /// The metrics output of the function.
    pub metrics: Metrics,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`, `ISSUING_QUEUE_URL`,
    /// `SUBMISSION_QUEUE_*_URL`, and optionally `STAMP_ECF_URL` and `STAMP_FC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            profiles: Profiles::new(table.clone()),
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            identities: Identities::new(Vault::new(
                clients.secretsmanager.clone(),
                env.required("SECRET_PREFIX")?,
            )),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            table,
            clock,
            stamp_hosts: stamp_hosts(env)?,
            metrics: Metrics::from_env(env)?,
        })
    }
}

impl App {
    /// Enqueues the next attempt of a job.
    ///
    /// # Errors
    /// Fails when the queue rejects it; SQS then delivers the old message again.
    pub async fn resend(&self, job: IssuingJob, after: std::time::Duration) -> Result<(), StoreError> {
        self.queues.send_issuing(&job, after).await
    }

    fn view(&self, receipt: &Receipt) -> DocumentView {
        DocumentView::of(receipt, &self.stamp_hosts)
    }

    /// The settings of a company.
    async fn settings(&self, company: &CompanyId) -> Result<CompanySettings, ApiError> {
        Ok(self.company(company).await?.settings)
    }

    /// The settings of a company that may issue; the operator can deactivate a company.
    async fn settings_of_active(&self, company: &CompanyId) -> Result<CompanySettings, ApiError> {
        let company = self.company(company).await?;
        if company.is_active() {
            return Ok(company.settings);
        }
        Err(ApiError::unauthorized(
            "company_inactive",
            say!(
                "the company was deactivated and issues nothing; its operator knows why",
                "la empresa fue desactivada y no emite nada; su operador sabe por qué"
            ),
        ))
    }

    async fn company(&self, company: &CompanyId) -> Result<Arc<Company>, ApiError> {
        let company = self.profiles.of(company, self.clock.now()).await?;
        company.ok_or_else(|| ApiError::internal("the company does not exist"))
    }
}

impl FromRef<App> for Keys {
    fn from_ref(app: &App) -> Self {
        app.keys.clone()
    }
}

/// The contract of this function's routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    paths(
        issue::issue,
        batch::batch,
        list::list,
        read::read,
        status_public::status_public,
        states::states,
        withdraw::cancel,
        withdraw::mark_incapacity
    ),
    components(schemas(views::ValidationView))
)]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/ecf", get(list::list).post(issue::issue))
        .route("/api/v1/ecf/batch", post(batch::batch))
        .route("/api/v1/ecf/states", get(states::states))
        .route(
            "/api/v1/ecf/status-public/{external_id}",
            get(status_public::status_public),
        )
        .route("/api/v1/ecf/{public_id}", get(read::read))
        .route("/api/v1/ecf/{public_id}/cancel", post(withdraw::cancel))
        .route(
            "/api/v1/ecf/{public_id}/mark-incapacity",
            post(withdraw::mark_incapacity),
        )
        .with_state(app);
    ecf_api::finish(routes)
}
