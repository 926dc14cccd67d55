//! SQS queues.

use serde::{Deserialize, Deserializer, de::Error};

use super::Properties;
use crate::text::Text;

/// A queue. Times are in seconds; the defaults are those of SQS.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Queue {
    /// Its name in the template.
    #[serde(skip)]
    pub logical_id: String,
    /// How long each message waits before it can be received.
    #[serde(default)]
    pub delay_seconds: u64,
    /// How long a received message is hidden from others.
    #[serde(default = "half_a_minute")]
    pub visibility_timeout: u64,
    /// Retention period of a message.
    pub message_retention_period: u64,
    /// How long a receive waits for the first message.
    #[serde(default)]
    pub receive_message_wait_time_seconds: u64,
    /// The dead-letter queue and the number of receipts before a message is moved there.
    pub redrive_policy: Option<Redrive>,
}

impl Properties for Queue {
    /// The emulator does not encrypt.
    const WITHOUT_EFFECT: &'static [&'static str] = &["SqsManagedSseEnabled"];
}

/// A queue's dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Redrive {
    /// Logical id of the dead-letter queue.
    #[serde(rename = "deadLetterTargetArn", deserialize_with = "resource_of_arn")]
    pub dead_letter_queue: String,
    /// How many times a message is received before it is moved there.
    pub max_receive_count: u32,
}

fn half_a_minute() -> u64 {
    30
}

/// The template resource whose ARN is the value.
pub(super) fn resource_of_arn<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Text::deserialize(deserializer)?;
    let resource = text.as_attribute_of("Arn").map(str::to_owned);
    resource.ok_or_else(|| {
        D::Error::custom(format_args!(
            "expected the Arn of a resource of this template, found {text}"
        ))
    })
}
