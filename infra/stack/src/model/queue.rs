//! SQS queues.

use std::time::Duration;

use crate::{error::StackError, fields::Fields};

/// A queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Its name in the template.
    pub logical_id: String,
    /// How long each message waits before it can be received.
    pub delay: Duration,
    /// How long a received message is hidden from others.
    pub visibility_timeout: Duration,
    /// How long a message is kept.
    pub retention: Duration,
    /// How long a receive waits for a first message.
    pub receive_wait: Duration,
    /// Where a message goes that was received too often.
    pub redrive: Option<Redrive>,
}

/// A queue's dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redrive {
    /// Logical id of the queue that takes the dead letters.
    pub dead_letter_queue: String,
    /// How often a message is received before it goes there.
    pub max_receive_count: u32,
}

impl Queue {
    pub(crate) fn read(logical_id: &str, mut fields: Fields) -> Result<Self, StackError> {
        // The embedded services keep nothing secret from the machine they run on.
        fields.without_effect(&["SqsManagedSseEnabled"]);
        let redrive = match fields.optional_fields("RedrivePolicy")? {
            None => None,
            Some(mut policy) => {
                let redrive = Redrive {
                    dead_letter_queue: policy.resource("deadLetterTargetArn", "Arn")?,
                    max_receive_count: policy.integer("maxReceiveCount")?,
                };
                policy.finish()?;
                Some(redrive)
            }
        };
        // The defaults are SQS's own.
        let queue = Self {
            logical_id: logical_id.to_owned(),
            delay: fields.optional_seconds("DelaySeconds")?.unwrap_or(Duration::ZERO),
            visibility_timeout: fields
                .optional_seconds("VisibilityTimeout")?
                .unwrap_or(Duration::from_secs(30)),
            retention: fields
                .optional_seconds("MessageRetentionPeriod")?
                .unwrap_or(Duration::from_secs(345_600)),
            receive_wait: fields
                .optional_seconds("ReceiveMessageWaitTimeSeconds")?
                .unwrap_or(Duration::ZERO),
            redrive,
        };
        fields.finish()?;
        Ok(queue)
    }
}
