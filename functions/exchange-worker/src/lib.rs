//! The exchange with other issuers, behind a queue: accepted receipts to their buyers, approvals to their issuers and to the tax
//! authority, annulled numbers to the tax authority.
//!
//! What the code guarantees, whatever dies in between:
//!
//! - Every job names the attempt that it is to be. An attempt is claimed by a conditional write first, so a repeated message does
//!   nothing, and a crash is found by the due index when the claim's lease is over.
//! - Attempts go on for days ([`ecf_exchange::schedule`]); short waits are messages, long ones are the due index's.
//! - A document may reach the other side twice, with the same bytes: the standard answers a duplicate as such.
//!
//! `approvals` makes the first attempt at an approval or annulment itself, while its caller waits.

mod confirm;
mod deliver;

use std::time::Duration;

use ecf_exchange::{Exchange, Patience};
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Message, Outcome};
use ecf_store::{Clients, ExchangeJob, StoreError};

/// How long each party may take when nobody waits.
const PATIENCE: Duration = Duration::from_secs(45);

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    exchange: Exchange,
}

impl App {
    /// Builds what the worker needs from its environment, see [`Exchange::from_env`].
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let exchange = Exchange::from_env(env, clients, clock, Patience::of_worker(), None)?;
        Ok(Self { exchange })
    }

    /// Queues a job's next attempt.
    ///
    /// # Errors
    /// When the queue does not take it; the message that carried the job then stays.
    pub async fn resend(&self, job: ExchangeJob, after: Duration) -> Result<(), StoreError> {
        self.exchange.queues.send_exchange(&job, after).await
    }
}

/// Runs one job. When the store fails the job ends: its record is on the due index, which brings it back within minutes.
pub async fn handle(app: &App, job: ExchangeJob, _message: Message) -> Outcome<ExchangeJob> {
    if let Err(error) = run(app, &job).await {
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "the store failed; the due index brings the job back");
    }
    Outcome::Done
}

async fn run(app: &App, job: &ExchangeJob) -> Result<(), StoreError> {
    let (scope, exchange) = (job.scope(), &app.exchange);
    match job {
        ExchangeJob::Deliver(job) => deliver::deliver(exchange, &scope, &job.receipt, job.attempt).await,
        ExchangeJob::Confirm { inbox, attempt, .. } => confirm::confirm(exchange, &scope, inbox, *attempt).await,
        ExchangeJob::Approval { approval, attempt, .. } => {
            let approval = exchange.table.approval(&scope, approval).await?;
            if let Some(approval) = approval.filter(|approval| approval.attempts == *attempt) {
                exchange.tell(&scope, approval, PATIENCE).await?;
            }
            Ok(())
        }
        ExchangeJob::Annulment { annulment, attempt, .. } => {
            let annulment = exchange.table.annulment(&scope, annulment).await?;
            let Some(annulment) = annulment.filter(|annulment| annulment.attempts == *attempt) else {
                return Ok(());
            };
            let company = exchange.table.company(&scope.company).await?;
            let company = company.ok_or_else(|| StoreError::unexpected("annul", "the company is gone"))?;
            exchange.annul(&scope, &company.rnc, annulment, PATIENCE).await?;
            Ok(())
        }
    }
}
