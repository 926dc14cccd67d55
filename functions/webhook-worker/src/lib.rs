//! Delivers events to the webhooks that subscribe to them, such as the verdict on a receipt, and notifies the operator's portal of
//! new companies.
//!
//! What is next for an event and its webhook is decided in [`ecf_webhooks::decide`]; the files here carry it out. An event's job makes
//! the first attempt at every subscription (`event`). An event that was not taken is stored with its bytes, on the due index, and
//! retried until its window is over (`retry`). Behind a webhook that has failed for an hour events are parked (`parking`) and the oldest
//! is the probe (`unpark`). A webhook that does not answer in time is served in a lane of its own (`lanes`), and one that fails for
//! three days is switched off (`health`). Each event reaches each subscriber that answers within its window at least once, with the same
//! bytes at every attempt; the receiver's key to drop repetitions is (`public_id`, `event`).

mod deliver;
mod event;
mod health;
mod lanes;
mod parking;
mod portal;
mod retry;
mod schedule;
mod unpark;

use std::time::Duration;

use ecf::StampHosts;
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Message, Metrics, Outcome};
use ecf_store::{
    CachedSecret, Clients, OperatorSecret, QueueUrls, Queues, ReceiptJob, StoreError, Table, Vault, WebhookJob,
    stamp_hosts, waits,
};
use ecf_webhooks::{Guard, GuardedClient, Reach, TimeOuts};

use crate::lanes::Receivers;
pub use crate::schedule::FAST_LIMIT;
use crate::schedule::Lane;

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    table: Table,
    vault: Vault,
    queues: Queues,
    client: GuardedClient,
    receivers: Receivers,
    clock: Clock,
    stamp_hosts: StampHosts,
    portal_url: Option<String>,
    portal_secret: CachedSecret,
    /// Where the function's metrics go.
    pub metrics: Metrics,
}

impl App {
    /// Builds what the worker needs from its environment: `TABLE_NAME`, `SECRET_PREFIX`, `WEBHOOK_QUEUE_URL`,
    /// `WEBHOOK_SLOW_QUEUE_URL`, and optionally
    /// `PORTAL_URL`, `STAMP_ECF_URL`, `STAMP_FC_URL` and `ALLOW_LOOPBACK_TARGETS`.
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let loopback = env.parsed("ALLOW_LOOPBACK_TARGETS")?.unwrap_or(false);
        let guard = Guard::new(if loopback {
            Reach::PublicAndLoopback
        } else {
            Reach::Public
        });
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            client: GuardedClient::new(guard, TimeOuts::default())?,
            receivers: Receivers::default(),
            clock,
            stamp_hosts: stamp_hosts(env)?,
            portal_url: env.optional("PORTAL_URL")?,
            portal_secret: CachedSecret::new(vault.clone(), OperatorSecret::PortalSecret),
            vault,
            metrics: Metrics::from_env(env)?,
        })
    }

    /// Queues a job's next attempt.
    ///
    /// # Errors
    /// When the queue does not take it; the message that carried the job then stays.
    pub async fn resend(&self, job: WebhookJob, after: Duration) -> Result<(), StoreError> {
        self.queues.send_webhook(&job, after).await
    }
}

/// Runs one job.
pub async fn handle(app: &App, job: WebhookJob, _message: Message) -> Outcome<WebhookJob> {
    let result = match &job {
        WebhookJob::Event(job) => event::deliver(app, &job.scope, &job.receipt).await,
        WebhookJob::Announce {
            scope, announcement, ..
        } => event::announce(app, scope, announcement).await,
        WebhookJob::Deliver {
            scope,
            webhook,
            event,
            attempt,
            slow,
        } => retry::run(app, scope, webhook, event, *attempt, Lane::of(*slow)).await,
        WebhookJob::Unpark { scope, webhook, slow } => unpark::unpark(app, scope, webhook, Lane::of(*slow)).await,
        WebhookJob::Portal { company, attempt } => portal::deliver(app, company, *attempt).await,
    };
    result.unwrap_or_else(|error| after_failure(job, &error))
}

/// The job's next try after the store failed. Each kind ends some time, lest a failure that lasts fill the queue.
fn after_failure(mut job: WebhookJob, error: &StoreError) -> Outcome<WebhookJob> {
    let chain = ecf_runtime::telemetry::chain(error);
    tracing::warn!(error = %chain, "the store failed; the job is retried");
    match &mut job {
        WebhookJob::Event(ReceiptJob { attempt, .. }) | WebhookJob::Announce { attempt, .. } => {
            let Some(after) = waits::EVENT.after(*attempt) else {
                return Outcome::Done;
            };
            *attempt = attempt.saturating_add(1);
            Outcome::Again { job, after }
        }
        // What waits is on the due index, which brings it back.
        WebhookJob::Deliver { .. } | WebhookJob::Unpark { .. } => Outcome::Done,
        WebhookJob::Portal { company, attempt } => portal::again(company, *attempt, &chain),
    }
}
