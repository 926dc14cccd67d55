//! Jobs: what the messages of the queues say.
//!
//! A job carries ids, not documents, and is safe to run twice. Jobs are tagged enums: a message that an older version
//! sent still parses, so fields are only ever added, with a default.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{AnnouncementId, AnnulmentId, ApprovalId, CompanyId, EventKey, InboxId, ReceiptId, Scope, WebhookId},
    queues::JobQueue,
    table::receipts::Receipt,
};

/// A job about one receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptJob {
    #[serde(flatten)]
    pub scope: Scope,
    pub receipt: ReceiptId,
    /// How many attempts came before.
    #[serde(default)]
    pub attempt: u32,
}

impl Receipt {
    /// A job about this receipt, the first attempt.
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

/// A receipt that was kept to be issued later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IssuingJob {
    /// Judge it again, number it and sign it.
    Issue(ReceiptJob),
}

/// Something to tell to an address outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WebhookJob {
    /// A receipt reached its verdict: tell every subscription that wants to know.
    Event(ReceiptJob),
    /// Something happened that is no receipt's verdict: tell every subscription that names it.
    Announce {
        #[serde(flatten)]
        scope: Scope,
        announcement: AnnouncementId,
        /// How often the store failed before it was told to everybody.
        #[serde(default)]
        attempt: u32,
    },
    /// Deliver once more what earlier attempts could not.
    Deliver {
        #[serde(flatten)]
        scope: Scope,
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
        #[serde(flatten)]
        scope: Scope,
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
    ///
    /// A repeated message finds by the number of its attempt that it was made.
    Deliver(ReceiptJob),
    /// Tell the issuer and the authority of an approval.
    Approval {
        #[serde(flatten)]
        scope: Scope,
        approval: ApprovalId,
        attempt: u32,
    },
    /// Tell the authority of annulled numbers.
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

    /// The same job's next attempt.
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

    /// The lane that runs it.
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

        // An earlier version reads what the slow lane adds and leaves it; the fast lane adds nothing.
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
    }
}
