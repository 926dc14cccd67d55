//! Brings a signed receipt to its verdict: send it to the tax authority, then ask by its track id until it is judged.
//!
//! What comes next is decided in one place, [`ecf::sending::decide`], which makes no calls. [`run`] carries each step out with
//! one file of [`steps`] and reports what happened. What both guarantee, whatever dies in between:
//!
//! - A receipt is sent by one worker at a time, which claims it first, with a lease ([`steps::claim`]). A lease that ran out without
//!   a verdict means that the authority may have the document. So the number is looked up ([`steps::look_up`]), and the receipt
//!   is sent again only after two negative answers a minute apart.
//! - A document that has a track id and that the authority does not find for hours is looked up in the same way
//!   ([`steps::lost`]): taken where it is, or sent again with the same bytes. Where no look-up exists nothing is sent again; the
//!   alarm about the age of a submitted receipt brings an operator.
//! - "Already used" is a rejection only if the copy that the authority holds is not ours.
//! - The verdict is one write, with the outbox entry that makes the webhook certain ([`steps::record`]).
//! - A note is sent after the verdict on the receipt that it modifies ([`steps::note`]).
//! - While the authority is out of reach nothing is sent or asked: receipts are held as `contingency` and come back by
//!   themselves ([`steps::gates`]).
//! - Every job is safe to run twice, and a lost one is found by housekeeping through the due index. So is one that failed
//!   too often for a queue ([`ecf::waits`]).

mod report;
mod run;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use ecf::Environment;
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Message, Metric, Metrics, Outcome};
use ecf_store::{
    Artifacts, Clients, Identities, Profiles, QueueUrls, Queues, Scope, StoreError, SubmissionJob, Table, Vault,
};
use ecf_taxauth::{Endpoints, Session, TaxAuth, TimeOuts, Tokens};
use xmldsig::Identity;

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    table: Table,
    profiles: Profiles,
    artifacts: Artifacts,
    identities: Identities,
    queues: Queues,
    tokens: Arc<Tokens>,
    /// Where the function's metrics go.
    pub metrics: Metrics,
    clock: Clock,
}

impl App {
    /// Builds what the worker needs from its environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`,
    /// `SUBMISSION_QUEUE_*_URL`, `WEBHOOK_QUEUE_URL`, `EXCHANGE_QUEUE_URL`, `TAXAUTH_ECF_URL`, `TAXAUTH_FC_URL` and `TAXAUTH_STATUS_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        let endpoints = Endpoints::from_bases(
            &env.required("TAXAUTH_ECF_URL")?,
            &env.required("TAXAUTH_FC_URL")?,
            &env.required("TAXAUTH_STATUS_URL")?,
        )?;
        let taxauth = TaxAuth::new(endpoints, TimeOuts::default())?;
        Ok(Self {
            tokens: Arc::new(Tokens::new(taxauth, table.clone(), vault.clone(), clock.clone())),
            profiles: Profiles::new(table.clone()),
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            identities: Identities::new(vault),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            metrics: Metrics::from_env(env)?,
            table,
            clock,
        })
    }

    /// Counts a call that the authority did not answer as it should.
    fn emit_error(&self, job: &SubmissionJob) {
        self.emit(job.scope().environment, &[(Metric::TaxauthErrors, 1)]);
    }

    fn emit(&self, environment: Environment, values: &[(Metric, u64)]) {
        self.metrics.emit(environment.as_str(), values, self.clock.now());
    }

    fn session<'a>(&'a self, scope: &Scope, identity: &'a Identity) -> Session<'a> {
        self.tokens
            .session(scope.environment, identity)
            .of_company(&scope.company)
    }

    /// Queues a job's next attempt.
    ///
    /// # Errors
    /// When the queue does not take it; the message that carried the job then stays.
    pub async fn resend(&self, job: SubmissionJob, after: Duration) -> Result<(), StoreError> {
        self.queues.send_submission(&job, after).await
    }
}

/// Runs one job.
pub async fn handle(app: &App, job: SubmissionJob, _message: Message) -> Outcome<SubmissionJob> {
    run::run(app, &job).await
}
