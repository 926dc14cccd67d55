//! Issues receipts and answers for their state.
//!
//! | Route | Handler |
//! |---|---|
//! | `POST /api/v1/ecf` | [`issue`]: check, number, write, sign, store, queue; [`validate`]: everything but keeping |
//! | `POST /api/v1/ecf/batch` | [`batch`]: up to 25 receipts, each by itself |
//! | `GET /api/v1/ecf/states` | [`states`]: the state contract |
//! | `GET /api/v1/ecf` | [`list`]: receipts, newest first |
//! | `GET /api/v1/ecf/{id}` | [`read`]: the receipt as it stands now |
//! | `GET /api/v1/ecf/status-public/{external_id}` | [`status_public`]: the same, by the caller's own id |
//! | `POST /api/v1/ecf/{id}/cancel`, `…/mark-incapacity` | [`withdraw`]: a receipt that was never sent |
//! | a job of the `issuing` queue | [`later`]: issue a receipt that was kept, in the program `issuing-worker` |
//!
//! Start reading at [`issue::issue`]; the order of its steps is the promise "answered means kept".

mod batch;
mod check;
mod issue;
mod issuer;
mod kept;
mod later;
mod list;
mod note;
mod numbering;
mod read;
mod record;
mod request;
mod signing;
mod states;
mod status_public;
mod validate;
mod views;
mod withdraw;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf::StampHosts;
use ecf_api::{ApiError, DocumentView, Keys};
use ecf_runtime::env::{Env, EnvError};
use ecf_runtime::{Clock, Metrics};
use ecf_store::{
    Artifacts, Clients, CompanyId, Identities, IssuingJob, Profiles, QueueUrls, Queues, Receipt, StoreError, Table,
    Vault,
    companies::{Company, CompanySettings},
    stamp_hosts,
};

pub use later::handle;

/// What this function may touch; compare with its policies in `template.yaml`.
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
    /// Where the function's metrics go.
    pub metrics: Metrics,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`,
    /// `ISSUING_QUEUE_URL`, `SUBMISSION_QUEUE_*_URL`, and optionally `STAMP_ECF_URL` and `STAMP_FC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
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
    /// Queues a job's next attempt.
    ///
    /// # Errors
    /// When the queue does not take it; the message that carried the job then stays.
    pub async fn resend(&self, job: IssuingJob, after: std::time::Duration) -> Result<(), StoreError> {
        self.queues.send_issuing(&job, after).await
    }

    fn view(&self, receipt: &Receipt) -> DocumentView {
        DocumentView::of(receipt, &self.stamp_hosts)
    }

    /// How a company wants its receipts treated.
    async fn settings(&self, company: &CompanyId) -> Result<CompanySettings, ApiError> {
        Ok(self.company(company).await?.settings)
    }

    /// The same, of a company that may issue: the operator can keep one from it.
    async fn settings_of_active(&self, company: &CompanyId) -> Result<CompanySettings, ApiError> {
        let company = self.company(company).await?;
        if company.is_active() {
            return Ok(company.settings);
        }
        Err(ApiError::unauthorized(
            "company_inactive",
            "the company was deactivated and issues nothing; its operator knows why",
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
