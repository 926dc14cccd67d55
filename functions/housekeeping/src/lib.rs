//! Every minute: finds what is overdue and queues it again.
//!
//! A receipt stays on the due index from its creation until its verdict was told. The happy path never touches that entry;
//! whatever was lost on the way (a message, an answer, a worker) is found here. Each entry is claimed by a conditional write
//! before anything is queued, so that two runs, or a run and a slow worker, do not queue one thing twice.

use std::time::Duration;

use ecf::ReceiptState;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{
    Clients, DueEntry, OutboxEntry, Queues, Receipt, SHARDS, StoreError, SubmissionJob, Table, WebhookJob,
};
use jiff::SignedDuration;

/// As many receipts of a shard as one run takes; the rest wait for the next minute.
const PER_SHARD: usize = 100;
/// When a receipt is looked at again that was queued now.
const NEXT_LOOK: SignedDuration = SignedDuration::from_mins(10);

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    table: Table,
    queues: Queues,
    clock: Clock,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME`, `SUBMISSION_QUEUE_*_URL`, `WEBHOOK_QUEUE_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
            queues: Queues::new(clients.sqs.clone(), env.queue_urls()?),
            clock,
        })
    }
}

/// One run over all shards. A shard that fails does not keep the others from their turn.
///
/// # Errors
/// The first failure, after every shard had its turn.
pub async fn run(app: &App) -> Result<(), StoreError> {
    let mut failure = None;
    for shard in 0..SHARDS {
        match sweep(app, shard).await {
            Ok(0) => {}
            Ok(queued) => tracing::info!(shard, queued, "overdue receipts queued again"),
            Err(error) => {
                tracing::error!(shard, error = %ecf_runtime::telemetry::chain(&error), "a shard could not be swept");
                failure.get_or_insert(error);
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

async fn sweep(app: &App, shard: u8) -> Result<usize, StoreError> {
    let now = app.clock.now();
    let mut queued = 0;
    for entry in app.table.due_now(shard, now, PER_SHARD).await? {
        if app.table.claim_due(&entry, now + NEXT_LOOK).await? && look_after(app, &entry).await? {
            queued += 1;
        }
    }
    Ok(queued)
}

/// Queues what the receipt's state calls for; says whether there was anything.
async fn look_after(app: &App, entry: &DueEntry) -> Result<bool, StoreError> {
    let Some(receipt) = app.table.receipt(&entry.scope, &entry.receipt).await? else {
        return Ok(false);
    };
    if receipt.outbox.contains(&OutboxEntry::Webhook) {
        app.queues.send_webhook(&event(&receipt), Duration::ZERO).await?;
        return Ok(true);
    }
    let Some(job) = submission(&receipt) else {
        tracing::error!(receipt.id = %receipt.public_id, state = %receipt.state, "an overdue receipt that nothing can be done for");
        return Ok(false);
    };
    app.queues.send_submission(&job, Duration::ZERO).await?;
    Ok(true)
}

fn event(receipt: &Receipt) -> WebhookJob {
    WebhookJob::Event {
        company: receipt.scope.company,
        environment: receipt.scope.environment,
        receipt: receipt.public_id,
    }
}

fn submission(receipt: &Receipt) -> Option<SubmissionJob> {
    let (company, environment) = (receipt.scope.company, receipt.scope.environment);
    let (receipt_id, attempt) = (receipt.public_id, 0);
    match receipt.state {
        ReceiptState::Signed | ReceiptState::Contingency => Some(SubmissionJob::Send {
            company,
            environment,
            receipt: receipt_id,
            attempt,
        }),
        ReceiptState::Submitted => Some(SubmissionJob::Poll {
            company,
            environment,
            receipt: receipt_id,
            attempt,
        }),
        _ => None,
    }
}
