//! Tells companies of their receipts' verdicts, and the operator's portal of new companies.
//!
//! An event's job delivers to every subscription once; a subscription that does not answer with 2xx gets jobs of its own
//! until 24 hours have passed. Each event reaches each subscriber at least once, with the same bytes at every attempt; the
//! receiver's key to drop repetitions is (`public_id`, `event`).

mod deliver;
mod event;
mod portal;

use std::time::Duration;

use ecf::StampHosts;
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Message, Outcome};
use ecf_store::{Clients, Queues, StoreError, Table, Vault, WebhookJob};
use ecf_webhooks::{Guard, GuardedClient, Reach, TimeOuts};

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    table: Table,
    vault: Vault,
    queues: Queues,
    client: GuardedClient,
    clock: Clock,
    stamp_hosts: StampHosts,
    portal_url: Option<String>,
}

impl App {
    /// Builds what the worker needs from its environment: `TABLE_NAME`, `SECRET_PREFIX`, `WEBHOOK_QUEUE_URL`, and optionally
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
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
            vault: Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?),
            queues: Queues::new(clients.sqs.clone(), env.queue_urls()?),
            client: GuardedClient::new(guard, TimeOuts::default())?,
            clock,
            stamp_hosts: env.stamp_hosts()?,
            portal_url: env.optional("PORTAL_URL")?,
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
pub async fn handle(app: &App, job: WebhookJob, message: Message) -> Outcome<WebhookJob> {
    let result = match &job {
        WebhookJob::Event {
            company,
            environment,
            receipt,
        } => {
            event::tell(
                app,
                &ecf_store::Scope {
                    company: *company,
                    environment: *environment,
                },
                receipt,
            )
            .await
        }
        WebhookJob::Deliver { .. } => deliver::again(app, &job).await,
        WebhookJob::Portal { company } => portal::tell(app, company, &message).await,
    };
    result.unwrap_or_else(|error| {
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "the store failed; trying again");
        Outcome::Again {
            job,
            after: Duration::from_secs(30),
        }
    })
}
