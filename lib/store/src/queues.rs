//! Jobs on the SQS queues.
//!
//! A job carries ids, not documents, and is safe to run twice. Jobs are tagged enums: a message that an older version
//! sent still parses, so fields are only ever added, with a default.

use std::time::Duration;

use aws_sdk_sqs::{Client, types::QueueAttributeName};
use ecf::Environment;
use serde::{Deserialize, Serialize};

use crate::{
    StoreError,
    ids::{AnnouncementId, AnnulmentId, ApprovalId, CompanyId, EventKey, InboxId, ReceiptId, Scope, WebhookId},
};

/// The longest delay of a message; longer waits go to the due index.
pub const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

/// A step of a receipt on its way to the authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SubmissionJob {
    /// Send a signed receipt.
    Send {
        company: CompanyId,
        environment: Environment,
        receipt: ReceiptId,
        attempt: u32,
    },
    /// Ask for the verdict of a submitted one.
    Poll {
        company: CompanyId,
        environment: Environment,
        receipt: ReceiptId,
        attempt: u32,
    },
}

/// A receipt that was kept to be issued later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IssuingJob {
    /// Judge it again, number it and sign it.
    Issue {
        company: CompanyId,
        environment: Environment,
        receipt: ReceiptId,
        attempt: u32,
    },
}

/// Something to tell to an address outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WebhookJob {
    /// A receipt reached its verdict: tell every subscription that wants to know.
    Event {
        company: CompanyId,
        environment: Environment,
        receipt: ReceiptId,
        /// How often the store failed before the event was told to everybody.
        #[serde(default)]
        attempt: u32,
    },
    /// Something happened that is no receipt's verdict: tell every subscription that names it.
    Announce {
        company: CompanyId,
        environment: Environment,
        announcement: AnnouncementId,
        /// How often the store failed before it was told to everybody.
        #[serde(default)]
        attempt: u32,
    },
    /// Deliver once more what earlier attempts could not.
    Deliver {
        company: CompanyId,
        environment: Environment,
        webhook: WebhookId,
        event: EventKey,
        /// Which attempt this is to be: a repeated message finds that it was made.
        attempt: u32,
        /// Whether it is an attempt of the slow lane.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        slow: bool,
    },
    /// Deliver what is parked behind a webhook, oldest first, as long as it takes it.
    Unpark {
        company: CompanyId,
        environment: Environment,
        webhook: WebhookId,
        /// Whether the slow lane delivers it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        slow: bool,
    },
    /// A company signed up: tell the portal.
    Portal {
        company: CompanyId,
        /// How often it was tried.
        #[serde(default)]
        attempt: u32,
    },
}

/// Something for another issuer, or an answer that the authority owes at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExchangeJob {
    /// Deliver an accepted receipt to its buyer.
    Deliver {
        company: CompanyId,
        environment: Environment,
        receipt: ReceiptId,
        /// How many attempts were begun before: a repeated message finds that its own was made.
        attempt: u32,
    },
    /// Tell the issuer and the authority of an approval.
    Approval {
        company: CompanyId,
        environment: Environment,
        approval: ApprovalId,
        attempt: u32,
    },
    /// Tell the authority of annulled numbers.
    Annulment {
        company: CompanyId,
        environment: Environment,
        annulment: AnnulmentId,
        attempt: u32,
    },
    /// Ask the authority about a received receipt.
    Confirm {
        company: CompanyId,
        environment: Environment,
        inbox: InboxId,
        attempt: u32,
    },
}

impl WebhookJob {
    fn company(&self) -> CompanyId {
        let (Self::Event { company, .. }
        | Self::Announce { company, .. }
        | Self::Deliver { company, .. }
        | Self::Unpark { company, .. }
        | Self::Portal { company, .. }) = self;
        *company
    }

    /// The lane that runs it.
    fn queue(&self) -> JobQueue {
        match self {
            Self::Deliver { slow: true, .. } | Self::Unpark { slow: true, .. } => JobQueue::WebhookSlow,
            _ => JobQueue::Webhook,
        }
    }
}

impl ExchangeJob {
    pub fn scope(&self) -> Scope {
        let (Self::Deliver {
            company, environment, ..
        }
        | Self::Approval {
            company, environment, ..
        }
        | Self::Annulment {
            company, environment, ..
        }
        | Self::Confirm {
            company, environment, ..
        }) = self;
        Scope {
            company: *company,
            environment: *environment,
        }
    }

    pub fn attempt(&self) -> u32 {
        let (Self::Deliver { attempt, .. }
        | Self::Approval { attempt, .. }
        | Self::Annulment { attempt, .. }
        | Self::Confirm { attempt, .. }) = self;
        *attempt
    }
}

impl SubmissionJob {
    pub fn scope(&self) -> Scope {
        let (Self::Send {
            company, environment, ..
        }
        | Self::Poll {
            company, environment, ..
        }) = self;
        Scope {
            company: *company,
            environment: *environment,
        }
    }

    pub fn receipt(&self) -> ReceiptId {
        let (Self::Send { receipt, .. } | Self::Poll { receipt, .. }) = self;
        *receipt
    }

    pub fn attempt(&self) -> u32 {
        let (Self::Send { attempt, .. } | Self::Poll { attempt, .. }) = self;
        *attempt
    }
}

impl IssuingJob {
    pub fn scope(&self) -> Scope {
        let Self::Issue {
            company, environment, ..
        } = self;
        Scope {
            company: *company,
            environment: *environment,
        }
    }

    pub fn receipt(&self) -> ReceiptId {
        let Self::Issue { receipt, .. } = self;
        *receipt
    }

    pub fn attempt(&self) -> u32 {
        let Self::Issue { attempt, .. } = self;
        *attempt
    }
}

/// The addresses of the queues that a function sends to; the others stay `None`.
#[derive(Debug, Clone, Default)]
pub struct QueueUrls {
    pub issuing: Option<String>,
    pub submission: Option<SubmissionUrls>,
    pub webhook: Option<String>,
    /// Of webhooks that do not answer in time.
    pub webhook_slow: Option<String>,
    pub exchange: Option<String>,
}

/// One queue per environment, so that a storm in one holds up none of the others.
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
    /// Of webhooks that do not answer in time.
    WebhookSlow,
    Exchange,
}

impl JobQueue {
    /// The queues that housekeeping fills.
    pub const FILLED: [Self; 6] = [
        Self::Issuing,
        Self::Submission(Environment::TesteCF),
        Self::Submission(Environment::CerteCF),
        Self::Submission(Environment::Ecf),
        Self::Webhook,
        Self::Exchange,
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

    /// Queues a step on the queue of its environment. A delay beyond [`LONGEST_DELAY`] is cut to it.
    pub async fn send_submission(&self, job: &SubmissionJob, delay: Duration) -> Result<(), StoreError> {
        let queue = JobQueue::Submission(job.scope().environment);
        let company = job.scope().company;
        self.send("send to submission queue", queue, company, job, delay).await
    }

    /// Queues a receipt to be issued. A delay beyond [`LONGEST_DELAY`] is cut to it.
    pub async fn send_issuing(&self, job: &IssuingJob, delay: Duration) -> Result<(), StoreError> {
        let company = job.scope().company;
        self.send("send to issuing queue", JobQueue::Issuing, company, job, delay)
            .await
    }

    /// Queues a webhook job on the queue of its lane. A delay beyond [`LONGEST_DELAY`] is cut to it.
    pub async fn send_webhook(&self, job: &WebhookJob, delay: Duration) -> Result<(), StoreError> {
        self.send("send to webhook queue", job.queue(), job.company(), job, delay)
            .await
    }

    /// Queues a job of the exchange with other issuers. A delay beyond [`LONGEST_DELAY`] is cut to it.
    pub async fn send_exchange(&self, job: &ExchangeJob, delay: Duration) -> Result<(), StoreError> {
        let company = job.scope().company;
        self.send("send to exchange queue", JobQueue::Exchange, company, job, delay)
            .await
    }

    /// How many messages wait in a queue, about: SQS may be behind by some seconds.
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
            // On a standard queue it orders nothing: SQS lets a company with few messages pass one with many (fair queues).
            .message_group_id(company.to_string())
            .delay_seconds(delay_seconds(delay))
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        Ok(())
    }
}

/// Whole seconds, rounded up: a message never comes early.
fn delay_seconds(delay: Duration) -> i32 {
    let delay = delay.min(LONGEST_DELAY);
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdefghjkmnpqrstvwxyz";

    #[test]
    fn messages_of_today_and_of_older_versions_parse() {
        let id = || ID.parse().unwrap();
        let (company, environment) = (ID.parse().unwrap(), Environment::TesteCF);
        let send = SubmissionJob::Send {
            company,
            environment,
            receipt: id(),
            attempt: 2,
        };
        let text =
            format!(r#"{{"kind":"send","company":"{ID}","environment":"TesteCF","receipt":"{ID}","attempt":2}}"#);
        assert_eq!(serde_json::to_string(&send).unwrap(), text);
        assert_eq!(serde_json::from_str::<SubmissionJob>(&text).unwrap(), send);

        let text = format!(
            r#"{{"kind":"deliver","company":"{ID}","environment":"TesteCF","webhook":"{ID}","event":"1795833000500#receipt#{ID}","attempt":3,"from_the_future":1}}"#
        );
        let job: WebhookJob = serde_json::from_str(&text).unwrap();
        let WebhookJob::Deliver { attempt: 3, event, .. } = job else {
            panic!("{job:?}")
        };
        assert_eq!(event.to_string(), format!("1795833000500#receipt#{ID}"));

        // An earlier version reads what the slow lane adds and leaves it; the fast lane adds nothing.
        let unpark = |slow| WebhookJob::Unpark {
            company,
            environment,
            webhook: ID.parse().unwrap(),
            slow,
        };
        let text = format!(r#"{{"kind":"unpark","company":"{ID}","environment":"TesteCF","webhook":"{ID}"}}"#);
        assert_eq!(serde_json::to_string(&unpark(false)).unwrap(), text);
        let slow = text.replace('}', r#","slow":true}"#);
        assert_eq!(serde_json::from_str::<WebhookJob>(&slow).unwrap(), unpark(true));

        assert!(serde_json::from_str::<WebhookJob>(r#"{"kind":"unheard_of"}"#).is_err());
    }

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
