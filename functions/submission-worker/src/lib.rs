//! Brings a signed receipt to its verdict: send it to the tax authority, then ask by its track id until it is judged.
//!
//! What the code guarantees, whatever dies in between:
//!
//! - A receipt is sent by one worker at a time: [`send`] claims it first, with a lease. Whoever finds a lease that ran out
//!   without a verdict does not know whether the authority has the document, so [`look_up`] asks for the number, and the
//!   receipt is sent again only after two negative answers a minute apart.
//! - A document that was handed over and that the authority does not find for hours is looked up in the same way
//!   ([`not_found`]): taken where it is, or sent again with the same bytes.
//! - "Already used" is a rejection only if the copy that the authority holds is not ours ([`used_number`]).
//! - The verdict is one write, with the outbox entry that makes the webhook certain ([`verdict`]).
//! - A note is sent after the verdict on the receipt that it modifies ([`notes`]).
//! - While the authority is out of reach nothing is sent or asked: receipts are held as `contingency` and come back by
//!   themselves ([`hold`]).
//! - Every job is safe to run twice, and a lost one is found by housekeeping through the due index. So is one that failed
//!   too often for a queue ([`schedule`]).

mod hold;
mod look_up;
mod not_found;
mod notes;
mod poll;
mod schedule;
mod send;
mod used_number;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use ecf::Environment;
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Message, Metric, Metrics, Outcome};
use ecf_store::{
    Artifacts, Clients, Identities, LONGEST_DELAY, Profiles, QueueUrls, Queues, Receipt, StoreError, SubmissionJob,
    Table, Vault,
};
use ecf_taxauth::{Endpoints, TaxAuth, TimeOuts, Tokens};
use jiff::SignedDuration;

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
    fn tell_error(&self, job: &SubmissionJob) {
        self.tell(job.scope().environment, &[(Metric::TaxauthErrors, 1)]);
    }

    fn tell(&self, environment: Environment, values: &[(Metric, u64)]) {
        self.metrics.tell(environment.as_str(), values, self.clock.now());
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
    run(app, &job).await.unwrap_or_else(|error| {
        tracing::warn!(receipt.id = %job.receipt(), error = %ecf_runtime::telemetry::chain(&error), "the store failed; trying again");
        schedule::again(&job, schedule::after_failure(job.attempt()))
    })
}

async fn run(app: &App, job: &SubmissionJob) -> Result<Outcome<SubmissionJob>, StoreError> {
    if let Some(held) = hold::if_closed(app, job).await? {
        return Ok(held);
    }
    match job {
        // Boxed: together they would be a large future on the stack of every caller.
        SubmissionJob::Send(_) => Box::pin(send::send(app, job)).await,
        SubmissionJob::Poll(_) => Box::pin(poll::poll(app, job)).await,
    }
}

/// Tries a failed step again, not before the authority wants it.
async fn later(
    app: &App,
    job: &SubmissionJob,
    retry_after: Option<Duration>,
) -> Result<Outcome<SubmissionJob>, StoreError> {
    // The failure may have been the one that closed the gates.
    if let Some(held) = hold::if_closed(app, job).await? {
        return Ok(held);
    }
    let asked = retry_after.unwrap_or_default();
    let wait = schedule::after_failure(job.attempt())
        .map(|wait| wait.max(asked))
        .filter(|wait| *wait <= LONGEST_DELAY);
    // A queue does not hold a message for that long.
    if wait.is_none() && !asked.is_zero() {
        let until = app.clock.now() + SignedDuration::try_from(asked).unwrap_or(SignedDuration::from_hours(1));
        app.table.postpone(&job.scope(), &job.receipt(), until).await?;
    }
    Ok(schedule::again(job, wait))
}

/// The first question after a receipt was handed over.
fn first_poll(receipt: &Receipt) -> Outcome<SubmissionJob> {
    let job = SubmissionJob::Poll(receipt.job());
    Outcome::Again {
        job,
        after: schedule::first_poll(),
    }
}
