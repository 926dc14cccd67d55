//! The exchange with other issuers, from a queue: accepted receipts to their buyers, approvals to their issuers and to
//! the tax authority, annulled numbers to the tax authority.
//!
//! Guarantees after a crash at any point:
//!
//! - Every job carries the number of its attempt. An attempt is first claimed by a conditional write, so a repeated
//!   message has no effect; after a crash the due index finds the record when the claim's lease expires.
//! - Attempts go on for days ([`ecf_exchange::schedule`]). Short delays are messages, long ones are entries of the due
//!   index.
//! - The other side may receive a document twice, with the same bytes: the standard answers a duplicate as such.
//!
//! `approvals` makes the first attempt for an approval or annulment itself, during the request.

mod confirm;
mod deliver;

use std::time::Duration;

use ecf_exchange::{Exchange, RecipientTimeOuts};
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Message, Outcome};
use ecf_store::{Clients, ExchangeJob, StoreError};

/// Time limit for the calls to each party.
const TIME_LIMIT: Duration = Duration::from_secs(45);

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    exchange: Exchange,
}

impl App {
    /// Builds the app from the environment: the variables of [`Exchange::from_env`].
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let exchange = Exchange::from_env(env, clients, clock, RecipientTimeOuts::of_worker(), None)?;
        Ok(Self { exchange })
    }

    /// Enqueues the next attempt of a job.
    ///
    /// # Errors
    /// Fails when the queue rejects it; SQS then delivers the old message again.
    pub async fn resend(&self, job: ExchangeJob, after: Duration) -> Result<(), StoreError> {
        self.exchange.queues.send_exchange(&job, after).await
    }
}

/// Runs one job. When the store fails, the job ends: its record is on the due index, which retries it within minutes.
pub async fn handle(app: &App, job: ExchangeJob, _message: Message) -> Outcome<ExchangeJob> {
    if let Err(error) = run(app, &job).await {
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "the store failed; housekeeping enqueues the job again");
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
                exchange.send(&scope, approval, TIME_LIMIT).await?;
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
            exchange.annul(&scope, &company.rnc, annulment, TIME_LIMIT).await?;
            Ok(())
        }
    }
}
