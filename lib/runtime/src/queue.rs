//! Entry point of queue workers: one batch of SQS messages in, the failed ones out.
//!
//! Each message is one job. Done and given-up jobs are deleted by SQS because they are not reported as failed. A job to
//! be repeated later is sent as a new message, and the old one is deleted in the same way; when that send fails, the old
//! message is reported, so SQS delivers it again and nothing is lost. So `maxReceiveCount` counts crashes only. A message
//! may arrive more than once: every job must be safe to run twice.

use std::{fmt, future::Future, panic::AssertUnwindSafe, time::Duration};

use futures::{FutureExt, StreamExt, stream};
use lambda_runtime::{LambdaEvent, service_fn};
use serde::{Deserialize, de::DeserializeOwned};
use tracing::Instrument;

use crate::Error;

mod event;

pub use event::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsRecord};

/// How many jobs of one batch run at the same time.
const CONCURRENT_JOBS: usize = 10;

/// What a worker may know about the message that carried its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub message_id: String,
    /// How often SQS has handed this message out, this time included.
    pub receive_count: u32,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<J> {
    /// Nothing is left to do.
    Done,
    /// `job`, the next attempt, is to run after this time. At most the queue's 15 minutes; longer waits belong to the
    /// due index.
    Again { job: J, after: Duration },
    /// It cannot succeed; the reason was recorded where the caller can read it and is logged here.
    GiveUp { reason: String },
}

/// Runs a worker: `handler` for each job, `resend` to queue a job's next attempt.
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

/// Runs one batch, up to ten jobs at a time, and names the messages that SQS shall deliver again.
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

/// What every line about a job carries: the message, and the company and record that the job names.
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

/// The members that jobs have in common. Who has none of them is logged without.
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
            // Not deleted: it comes back until the queue moves it to its dead letters, where someone can read it.
            tracing::error!(%error, "message is not a job of this worker");
            return Some(failed);
        }
    };
    // One job's bug must not deliver the other jobs of the batch again. The closure runs inside, since it may panic too.
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
                tracing::warn!(%error, "next attempt could not be queued; the message stays");
                Some(failed)
            }
        },
        Err(_) => {
            tracing::error!("job panicked; the message stays");
            Some(failed)
        }
    }
}

#[cfg(test)]
mod tests;
