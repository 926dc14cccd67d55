//! Runs the data tests of the certification, the rows of the authority's workbooks, each exactly as it is; and its
//! simulation, receipts from the company's own data.
//!
//! | Route | Handler |
//! |---|---|
//! | `POST /api/v1/client/certification/runs` | [`begin`]: judges all rows of the workbooks, or makes those of a simulation, then begins a run |
//! | `GET /api/v1/client/certification/runs` | [`list`]: the runs, newest first |
//! | `GET /api/v1/client/certification/runs/{id}` | [`show`]: a run with all its rows |
//! | `POST …/runs/{id}/continue`, `…/confirm-uploads`, `…/abandon` | [`command`]: what a person decides |
//! | `GET /api/v1/client/certification/runs/{id}/files` | [`files`]: what a person uploads in the portal, as a ZIP |
//! | a job of the `certification` queue | [`worker`]: takes a run on, in the program `certification-worker` |
//!
//! [`ecf_workbook::run::decide`] names each next step, from the state of the run and of the rows' receipts. The worker
//! signs no receipt: it stores each row as a request, and `issuing-worker` numbers, signs and sends it. An approval is
//! signed as the row says, and `exchange-worker` sends it. Nothing else is recorded of a row, so nothing can disagree
//! after an interruption.

mod begin;
mod books;
mod command;
mod files;
mod list;
mod own;
mod ranges;
mod rows;
mod sending;
mod show;
mod simulate;
mod views;
mod worker;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf_api::Keys;
use ecf_evidence::Files;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{
    Artifacts, CertificationJob, Clients, Identities, QueueUrls, Queues, Scope, StoreError, Table, Vault, runs::Run,
    stamp_hosts,
};

use crate::books::Books;
pub use crate::worker::handle;

/// The resources that the routes use. The policies of `certification` in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    store: Store,
    files: Files,
    queues: Queues,
    clock: Clock,
}

/// The resources that the worker uses. The policies of `certification-worker` in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct Worker {
    store: Store,
    identities: Identities,
    queues: Queues,
    clock: Clock,
}

/// Records and documents, for both programs.
#[derive(Clone)]
struct Store {
    table: Table,
    artifacts: Artifacts,
    books: Books,
}

impl Store {
    fn from_env(env: &Env, clients: &Clients) -> Result<Self, EnvError> {
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            books: Books::default(),
        })
    }
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME` and `CERTIFICATION_QUEUE_URL`, and optionally
    /// `STAMP_ECF_URL` and `STAMP_FC_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let store = Store::from_env(env, clients)?;
        Ok(Self {
            keys: Keys::from_env(env, store.table.clone(), clock.clone())?,
            files: Files::new(store.table.clone(), store.artifacts.clone(), stamp_hosts(env)?),
            store,
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            clock,
        })
    }

    /// Enqueues the run's current step. When that fails, the due index brings the run back.
    async fn enqueue(&self, scope: &Scope, run: &Run) {
        let job = CertificationJob::Run {
            scope: *scope,
            run: run.id,
            step: run.step,
            waits: 0,
        };
        if let Err(error) = self.queues.send_certification(&job, std::time::Duration::ZERO).await {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(run.id = %run.id, %error, "the step was not enqueued; housekeeping will");
        }
    }
}

impl Worker {
    /// Builds the worker from the environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`, `ISSUING_QUEUE_URL`,
    /// `EXCHANGE_QUEUE_URL`, `WEBHOOK_QUEUE_URL` and `CERTIFICATION_QUEUE_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        Ok(Self {
            store: Store::from_env(env, clients)?,
            identities: Identities::new(Vault::new(
                clients.secretsmanager.clone(),
                env.required("SECRET_PREFIX")?,
            )),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            clock,
        })
    }

    /// Enqueues the next job of a run.
    ///
    /// # Errors
    /// Fails when the queue rejects it; SQS then delivers the old message again.
    pub async fn resend(&self, job: CertificationJob, after: std::time::Duration) -> Result<(), StoreError> {
        self.queues.send_certification(&job, after).await
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
    begin::begin,
    list::list,
    show::show,
    command::go_on,
    command::confirm_uploads,
    command::abandon,
    files::files
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    const RUNS: &str = "/api/v1/client/certification/runs";
    let below = |rest: &str| format!("{RUNS}/{{run_id}}{rest}");
    let routes = Router::new()
        .route(RUNS, get(list::list).post(begin::begin))
        .route(&below(""), get(show::show))
        .route(&below("/continue"), post(command::go_on))
        .route(&below("/confirm-uploads"), post(command::confirm_uploads))
        .route(&below("/abandon"), post(command::abandon))
        .route(&below("/files"), get(files::files))
        .with_state(app);
    ecf_api::finish(routes)
}
