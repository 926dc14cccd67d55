//! Entry point of queue workers: processes one batch of SQS messages and reports the failed ones.
//!
//! Each message is one job. SQS deletes the messages that are not reported as failed, so a job that is done or given up
//! is deleted. A job that needs another attempt is sent as a new message, and the old message is deleted. When that
//! send fails, the old message is reported and SQS delivers it again, so no job is lost. Hence `maxReceiveCount` counts
//! crashes only. A message may arrive more than once: every job must be safe to run twice.

use std::{fmt, future::Future, panic::AssertUnwindSafe, time::Duration};

use futures::{FutureExt, StreamExt, stream};
use lambda_runtime::{LambdaEvent, service_fn};
use serde::{Deserialize, de::DeserializeOwned};
use tracing::Instrument;

use crate::Error;

mod event;

pub use event::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsRecord};

/// Jobs of one batch that run concurrently.
const CONCURRENT_JOBS: usize = 10;

/// The message that carried a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub message_id: String,
    /// How often SQS has delivered this message, this delivery included.
    pub receive_count: u32,
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<J> {
    /// The job is complete.
    Done,
    /// `job` is the next attempt, to run after this delay. SQS allows at most 15 minutes; longer delays use the due
    /// index.
    Again { job: J, after: Duration },
    /// The job cannot succeed. The reason is recorded where the caller can read it, and is logged here.
    GiveUp { reason: String },
}

/// Runs a worker: `handler` runs each job, `resend` enqueues the next attempt of a job.
///
/// # Errors
/// Fails when the Lambda runtime fails.
pub async fn consume<J, H, HFut, R, RFut, E>(handler: H, resend: R) -> Result<(), Error>
where
    J: DeserializeOwned,
    H: Fn(J, Message) -> HFut,
    HFut: Future<Output = Outcome<J>>,
    R: Fn(J, Duration) -> RFut,
    RFut: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        Ok::<_, Error>(process_batch(event.payload, &handler, &resend).await)
    }))
    .await
}

/// Runs one batch, at most ten jobs concurrently, and returns the messages that SQS must deliver again.
pub async fn process_batch<J, H, HFut, R, RFut, E>(event: SqsEvent, handler: H, resend: R) -> SqsBatchResponse
where
    J: DeserializeOwned,
    H: Fn(J, Message) -> HFut,
    HFut: Future<Output = Outcome<J>>,
    R: Fn(J, Duration) -> RFut,
    RFut: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    let failures = stream::iter(event.records)
        .map(|record| {
            let span = span(&record);
            process_record(record, &handler, &resend).instrument(span)
        })
        .buffered(CONCURRENT_JOBS)
        .filter_map(std::future::ready)
        .collect()
        .await;
    SqsBatchResponse {
        batch_item_failures: failures,
    }
}

/// The span of a job: its log lines carry the message, and the company and receipt that the job names.
fn span(record: &SqsRecord) -> tracing::Span {
    let subject: Subject = serde_json::from_str(&record.body).unwrap_or_default();
    tracing::info_span!(
        "job",
        message.id = record.message_id,
        company.id = subject.company,
        receipt.id = subject.receipt,
        environment = subject.environment,
    )
}

/// The members that most jobs have in common. A missing member is omitted from the log.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Subject {
    company: Option<String>,
    receipt: Option<String>,
    environment: Option<String>,
}

async fn process_record<J, H, HFut, R, RFut, E>(record: SqsRecord, handler: &H, resend: &R) -> Option<BatchItemFailure>
where
    J: DeserializeOwned,
    H: Fn(J, Message) -> HFut,
    HFut: Future<Output = Outcome<J>>,
    R: Fn(J, Duration) -> RFut,
    RFut: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    let message = record.message();
    let failed = BatchItemFailure {
        item_identifier: record.message_id,
    };
    let job = match serde_json::from_str(&record.body) {
        Ok(job) => job,
        Err(error) => {
            // Not deleted: SQS delivers it again until it moves to the dead-letter queue, where an operator can read
            // it.
            tracing::error!(%error, "message is not a job of this worker");
            return Some(failed);
        }
    };
    // A bug in one job must not cause redelivery of the whole batch. The handler is called inside the future, because
    // the call itself may panic too.
    let attempt = AssertUnwindSafe(async { handler(job, message).await }).catch_unwind();
    match attempt.await {
        Ok(Outcome::Done) => None,
        Ok(Outcome::GiveUp { reason }) => {
            tracing::error!(reason, "job given up");
            None
        }
        Ok(Outcome::Again { job, after }) => match resend(job, after).await {
            Ok(()) => None,
            Err(error) => {
                tracing::warn!(%error, "next attempt could not be enqueued; the message stays in the queue");
                Some(failed)
            }
        },
        Err(_) => {
            tracing::error!("job panicked; the message stays in the queue");
            Some(failed)
        }
    }
}

#[cfg(test)]
mod tests;
