//! The SQS queues.

use std::time::Duration;

use aws_sdk_sqs::{Client, types::QueueAttributeName};
use ecf::Environment;
pub use ecf::waits::LONGEST_DELAY;
use serde::Serialize;

use crate::{
    StoreError,
    ids::CompanyId,
    jobs::{CertificationJob, ExchangeJob, IssuingJob, ReceiptJob, SubmissionJob, WebhookJob},
    next::NextStep,
    table::receipts::Receipt,
};

/// The addresses of the queues that a function sends to; the others are `None`.
#[derive(Debug, Clone, Default)]
pub struct QueueUrls {
    pub issuing: Option<String>,
    pub submission: Option<SubmissionUrls>,
    pub webhook: Option<String>,
    /// The slow lane, for webhooks that time out.
    pub webhook_slow: Option<String>,
    pub exchange: Option<String>,
    pub certification: Option<String>,
}

/// One queue per environment, so that a backlog in one does not delay the others.
#[derive(Debug, Clone)]
pub struct SubmissionUrls {
    pub testecf: String,
    pub certecf: String,
    pub ecf: String,
}

/// A queue of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobQueue {
    Issuing,
    Submission(Environment),
    Webhook,
    /// The slow lane, for webhooks that time out.
    WebhookSlow,
    Exchange,
    Certification,
}

impl JobQueue {
    /// The queues that housekeeping fills.
    pub const FILLED: [Self; 7] = [
        Self::Issuing,
        Self::Submission(Environment::TesteCF),
        Self::Submission(Environment::CerteCF),
        Self::Submission(Environment::Ecf),
        Self::Webhook,
        Self::Exchange,
        Self::Certification,
    ];
}

/// The queues, by their addresses.
#[derive(Debug, Clone)]
pub struct Queues {
    client: Client,
    urls: QueueUrls,
}

impl Queues {
    pub fn new(client: Client, urls: QueueUrls) -> Self {
        Self { client, urls }
    }

    /// Enqueues a step on the queue of its environment. A delay above [`LONGEST_DELAY`] is reduced to it.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn send_submission(&self, job: &SubmissionJob, delay: Duration) -> Result<(), StoreError> {
        let queue = JobQueue::Submission(job.scope().environment);
        let company = job.scope().company;
        self.send("send to submission queue", queue, company, job, delay).await
    }

    /// Enqueues a receipt to be issued. A delay above [`LONGEST_DELAY`] is reduced to it.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn send_issuing(&self, job: &IssuingJob, delay: Duration) -> Result<(), StoreError> {
        let IssuingJob::Issue(ReceiptJob { scope, .. }) = job;
        self.send("send to issuing queue", JobQueue::Issuing, scope.company, job, delay)
            .await
    }

    /// Enqueues a webhook job on the queue of its lane. A delay above [`LONGEST_DELAY`] is reduced to it.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn send_webhook(&self, job: &WebhookJob, delay: Duration) -> Result<(), StoreError> {
        self.send("send to webhook queue", job.queue(), job.company(), job, delay)
            .await
    }

    /// Enqueues a job of the exchange with other issuers. A delay above [`LONGEST_DELAY`] is reduced to it.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn send_exchange(&self, job: &ExchangeJob, delay: Duration) -> Result<(), StoreError> {
        let company = job.scope().company;
        self.send("send to exchange queue", JobQueue::Exchange, company, job, delay)
            .await
    }

    /// Enqueues a step of a run of the certification.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn send_certification(&self, job: &CertificationJob, delay: Duration) -> Result<(), StoreError> {
        let CertificationJob::Run { scope, .. } = job;
        let (queue, company) = (JobQueue::Certification, scope.company);
        self.send("send to certification queue", queue, company, job, delay)
            .await
    }

    /// Enqueues the first attempt of a receipt's next step.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn send_next(&self, receipt: &Receipt, step: NextStep, delay: Duration) -> Result<(), StoreError> {
        let job = receipt.job();
        match step {
            NextStep::Issue => self.send_issuing(&IssuingJob::Issue(job), delay).await,
            NextStep::Send => self.send_submission(&SubmissionJob::Send(job), delay).await,
            NextStep::Poll => self.send_submission(&SubmissionJob::Poll(job), delay).await,
            NextStep::Event => self.send_webhook(&WebhookJob::Event(job), delay).await,
            NextStep::Deliver => {
                let attempt = receipt.delivery_attempts();
                let job = ExchangeJob::Deliver(ReceiptJob { attempt, ..job });
                self.send_exchange(&job, delay).await
            }
        }
    }

    /// The approximate number of messages in a queue; SQS may be some seconds behind.
    ///
    /// # Errors
    /// Fails when SQS fails or the queue is not configured.
    pub async fn waiting(&self, queue: JobQueue) -> Result<usize, StoreError> {
        let operation = "read queue length";
        let answer = self
            .client
            .get_queue_attributes()
            .queue_url(self.url(queue)?)
            .attribute_names(QueueAttributeName::ApproximateNumberOfMessages)
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        let attributes = answer.attributes.unwrap_or_default();
        let waiting = attributes.get(&QueueAttributeName::ApproximateNumberOfMessages);
        waiting
            .and_then(|waiting| waiting.parse().ok())
            .ok_or_else(|| StoreError::unexpected(operation, "the queue does not tell its length"))
    }

    fn url(&self, queue: JobQueue) -> Result<&str, StoreError> {
        let (url, missing) = match queue {
            JobQueue::Issuing => (self.urls.issuing.as_ref(), "issuing queue"),
            JobQueue::Webhook => (self.urls.webhook.as_ref(), "webhook queue"),
            JobQueue::WebhookSlow => (self.urls.webhook_slow.as_ref(), "slow webhook queue"),
            JobQueue::Certification => (self.urls.certification.as_ref(), "certification queue"),
            JobQueue::Exchange => (self.urls.exchange.as_ref(), "exchange queue"),
            JobQueue::Submission(environment) => {
                let urls = self.urls.submission.as_ref().map(|urls| match environment {
                    Environment::TesteCF => &urls.testecf,
                    Environment::CerteCF => &urls.certecf,
                    Environment::Ecf => &urls.ecf,
                });
                (urls, "submission queues")
            }
        };
        url.map(String::as_str).ok_or(StoreError::NotConfigured(missing))
    }

    async fn send(
        &self,
        operation: &'static str,
        queue: JobQueue,
        company: CompanyId,
        job: &impl Serialize,
        delay: Duration,
    ) -> Result<(), StoreError> {
        let body = serde_json::to_string(job).map_err(|error| StoreError::unexpected(operation, error))?;
        self.client
            .send_message()
            .queue_url(self.url(queue)?)
            .message_body(body)
            // On a standard queue the group does not order messages. It lets a company with few messages pass one with
            // many (fair queues).
            .message_group_id(company.to_string())
            .delay_seconds(delay_seconds(delay))
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        Ok(())
    }
}

/// Whole seconds, rounded up, so that a message never arrives early.
fn delay_seconds(delay: Duration) -> i32 {
    let delay = delay.min(LONGEST_DELAY);
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_whole_seconds_up_to_a_quarter_of_an_hour() {
        for (delay, seconds) in [
            (Duration::ZERO, 0),
            (Duration::from_millis(1), 1),
            (Duration::from_secs(2), 2),
            (Duration::from_secs(3_600), 900),
        ] {
            assert_eq!(delay_seconds(delay), seconds, "{delay:?}");
        }
    }
}
