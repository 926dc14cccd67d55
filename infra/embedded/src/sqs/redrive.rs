//! Moves messages to their dead-letter queue.
//!
//! As on AWS, a message is moved when a receiver asks for it once too often, and retains its age and its receive count.

use std::fmt;

use rusqlite::Transaction;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::queues::Queue;
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_RECEIVE_COUNT: i64 = 1000;

/// The dead-letter queue of a queue, and the number of receipts before a message is moved there.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RedrivePolicy {
    dead_letter_target_arn: String,
    max_receive_count: i64,
}

impl RedrivePolicy {
    /// Reads the attribute; SDKs write the count as a number or as text.
    pub(crate) fn parse(text: &str) -> Option<RedrivePolicy> {
        let policy: Value = serde_json::from_str(text).ok()?;
        let count = match policy.get("maxReceiveCount")? {
            Value::String(text) => text.parse().ok()?,
            number => number.as_i64()?,
        };
        let target = policy.get("deadLetterTargetArn")?.as_str()?;
        let valid = (1..=MAX_RECEIVE_COUNT).contains(&count) && target.starts_with("arn:");
        valid.then(|| RedrivePolicy {
            dead_letter_target_arn: target.to_owned(),
            max_receive_count: count,
        })
    }

    fn target(&self) -> &str {
        let name = self.dead_letter_target_arn.rsplit(':').next();
        name.unwrap_or_default()
    }
}

impl fmt::Display for RedrivePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = json!({
            "deadLetterTargetArn": self.dead_letter_target_arn,
            "maxReceiveCount": self.max_receive_count,
        });
        write!(f, "{written}")
    }
}

/// Moves visible messages whose receive count has reached the limit; returns the dead-letter queue.
pub(crate) fn bury(tx: &Transaction<'_>, queue: &Queue, now: Millis) -> Result<Option<String>, AwsError> {
    let Some(policy) = &queue.settings.redrive_policy else {
        return Ok(None);
    };
    if Queue::find(tx, policy.target())?.is_none() {
        // The dead-letter queue does not exist: messages stay and are received again.
        return Ok(None);
    }
    let moved = tx
        .prepare_cached(
            "UPDATE messages SET queue = ?3, came_from = ?1, visible_at = ?2, receipt = NULL
             WHERE queue = ?1 AND visible_at <= ?2 AND receive_count >= ?4 AND receive_count > 0",
        )?
        .execute((&queue.name, now.0, policy.target(), policy.max_receive_count))?;
    Ok((moved > 0).then(|| policy.target().to_owned()))
}
