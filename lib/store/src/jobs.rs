//! Jobs: the messages of the queues.
//!
//! A job carries ids, not documents, and is safe to run twice. Jobs are tagged enums whose messages must remain
//! readable for newer versions: fields are only ever added, with a default.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{AnnouncementId, AnnulmentId, ApprovalId, CompanyId, EventKey, InboxId, ReceiptId, RunId, Scope, WebhookId},
    queues::JobQueue,
    table::receipts::Receipt,
};

/// A job about one receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptJob {
    #[serde(flatten)]
    pub scope: Scope,
    pub receipt: ReceiptId,
    /// The number of earlier attempts.
    #[serde(default)]
    pub attempt: u32,
}

impl Receipt {
    /// The first job for this receipt.
    pub fn job(&self) -> ReceiptJob {
        ReceiptJob {
            scope: self.scope,
            receipt: self.public_id,
            attempt: 0,
        }
    }
}

/// A step of a receipt on its way to the authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SubmissionJob {
    /// Send a signed receipt.
    Send(ReceiptJob),
    /// Ask for the verdict of a submitted one.
    Poll(ReceiptJob),
}

/// A job of the issuing worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IssuingJob {
    /// Validate, number and sign a stored receipt.
    Issue(ReceiptJob),
}

/// A delivery to an external address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WebhookJob {
    /// A receipt has its verdict: deliver the event to every subscription for it.
    Event(ReceiptJob),
    /// An announcement was stored: deliver it to every subscription for it.
    Announce {
        #[serde(flatten)]
        scope: Scope,
        announcement: AnnouncementId,
        /// How often the store failed before every subscription was processed.
        #[serde(default)]
        attempt: u32,
    },
    /// Retry a delivery that failed.
    Deliver {
        #[serde(flatten)]
        scope: Scope,
        webhook: WebhookId,
        event: EventKey,
        /// The number of this attempt. A repeated message finds that the attempt was made.
        attempt: u32,
        /// Whether the attempt belongs to the slow lane.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        slow: bool,
    },
    /// Deliver the parked events of a webhook, oldest first, until one fails.
    Unpark {
        #[serde(flatten)]
        scope: Scope,
        webhook: WebhookId,
        /// Whether it belongs to the slow lane.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        slow: bool,
    },
    /// A company signed up: notify the portal.
    Portal {
        company: CompanyId,
        /// The number of earlier attempts.
        #[serde(default)]
        attempt: u32,
    },
}

/// An exchange with another issuer or with the authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExchangeJob {
    /// Deliver an accepted receipt to its buyer.
    ///
    /// By the number of the attempt, a repeated message finds that the attempt was made.
    Deliver(ReceiptJob),
    /// Send an approval to the issuer and to the authority.
    Approval {
        #[serde(flatten)]
        scope: Scope,
        approval: ApprovalId,
        attempt: u32,
    },
    /// Send an annulment of numbers to the authority.
    Annulment {
        #[serde(flatten)]
        scope: Scope,
        annulment: AnnulmentId,
        attempt: u32,
    },
    /// Ask the authority about a received receipt.
    Confirm {
        #[serde(flatten)]
        scope: Scope,
        inbox: InboxId,
        attempt: u32,
    },
}

/// A step of a run of the certification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CertificationJob {
    /// Take the run on, unless it is past this step.
    Run {
        #[serde(flatten)]
        scope: Scope,
        run: RunId,
        step: u32,
        /// How often the run waited for the same row.
        #[serde(default)]
        waits: u32,
    },
}

impl SubmissionJob {
    pub fn job(&self) -> &ReceiptJob {
        let (Self::Send(job) | Self::Poll(job)) = self;
        job
    }

    pub fn scope(&self) -> Scope {
        self.job().scope
    }

    pub fn receipt(&self) -> ReceiptId {
        self.job().receipt
    }

    pub fn attempt(&self) -> u32 {
        self.job().attempt
    }

    /// The next attempt of the same job.
    #[must_use]
    pub fn next(mut self) -> Self {
        let (Self::Send(job) | Self::Poll(job)) = &mut self;
        job.attempt = job.attempt.saturating_add(1);
        self
    }
}

impl WebhookJob {
    pub(crate) fn company(&self) -> CompanyId {
        match self {
            Self::Event(job) => job.scope.company,
            Self::Announce { scope, .. } | Self::Deliver { scope, .. } | Self::Unpark { scope, .. } => scope.company,
            Self::Portal { company, .. } => *company,
        }
    }

    /// The queue of its lane.
    pub(crate) fn queue(&self) -> JobQueue {
        match self {
            Self::Deliver { slow: true, .. } | Self::Unpark { slow: true, .. } => JobQueue::WebhookSlow,
            _ => JobQueue::Webhook,
        }
    }
}

impl ExchangeJob {
    pub fn scope(&self) -> Scope {
        match self {
            Self::Deliver(job) => job.scope,
            Self::Approval { scope, .. } | Self::Annulment { scope, .. } | Self::Confirm { scope, .. } => *scope,
        }
    }

    pub fn attempt(&self) -> u32 {
        match self {
            Self::Deliver(job) => job.attempt,
            Self::Approval { attempt, .. } | Self::Annulment { attempt, .. } | Self::Confirm { attempt, .. } => {
                *attempt
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ecf::Environment;

    use super::*;

    const ID: &str = "0123456789abcdefghjkmnpqrstvwxyz";

    #[test]
    fn messages_of_today_and_of_older_versions_parse() {
        let id = || ID.parse().unwrap();
        let (company, environment) = (ID.parse().unwrap(), Environment::TesteCF);
        let scope = Scope { company, environment };
        let send = SubmissionJob::Send(ReceiptJob {
            scope,
            receipt: id(),
            attempt: 2,
        });
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

        // An earlier version ignores the member of the slow lane; the fast lane adds no member.
        let unpark = |slow| WebhookJob::Unpark {
            scope,
            webhook: ID.parse().unwrap(),
            slow,
        };
        let text = format!(r#"{{"kind":"unpark","company":"{ID}","environment":"TesteCF","webhook":"{ID}"}}"#);
        assert_eq!(serde_json::to_string(&unpark(false)).unwrap(), text);
        let slow = text.replace('}', r#","slow":true}"#);
        assert_eq!(serde_json::from_str::<WebhookJob>(&slow).unwrap(), unpark(true));

        assert!(serde_json::from_str::<WebhookJob>(r#"{"kind":"unheard_of"}"#).is_err());

        let text = format!(r#"{{"kind":"run","company":"{ID}","environment":"TesteCF","run":"{ID}","step":4}}"#);
        let CertificationJob::Run { step, waits, .. } = serde_json::from_str(&text).unwrap();
        assert_eq!((step, waits), (4, 0));
    }
}
