//! The part of Lambda's SQS event that workers use, and the response.
//!
//! These types are ours because the local process and the tests must construct events, and the types of the public
//! crate cannot be constructed. Unknown members are ignored.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Message;

/// One delivery of up to ten messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqsEvent {
    #[serde(rename = "Records")]
    pub records: Vec<SqsRecord>,
}

/// One message of a delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsRecord {
    pub message_id: String,
    #[serde(default)]
    pub receipt_handle: String,
    #[serde(default)]
    pub body: String,
    /// System attributes such as `ApproximateReceiveCount`, as text.
    #[serde(default)]
    pub attributes: HashMap<String, String>,
    #[serde(default, rename = "eventSourceARN")]
    pub event_source_arn: String,
}

/// The messages that SQS must deliver again. SQS deletes all others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsBatchResponse {
    pub batch_item_failures: Vec<BatchItemFailure>,
}

/// One message that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItemFailure {
    pub item_identifier: String,
}

impl SqsRecord {
    pub(super) fn message(&self) -> Message {
        let receive_count = self.attributes.get("ApproximateReceiveCount");
        Message {
            message_id: self.message_id.clone(),
            receive_count: receive_count.and_then(|count| count.parse().ok()).unwrap_or(1),
        }
    }
}
