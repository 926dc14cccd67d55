//! The ways to a dead-letter queue and back.
//!
//! As on AWS, a message goes to the dead-letter queue when someone tries to receive it once too often, keeps its age
//! and its count, and comes back by a move task as a new message.

use std::fmt;

use rusqlite::Transaction;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::errors;
use super::queues::{Queue, Settings, arn};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_RECEIVE_COUNT: i64 = 1000;
const MAX_TASKS_LISTED: i64 = 10;

/// Where messages go that were received too often.
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
        queue_of(&self.dead_letter_target_arn)
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

fn queue_of(arn: &str) -> &str {
    arn.rsplit(':').next().unwrap_or_default()
}

/// Moves visible messages that were received as often as allowed; answers with the queue they went to.
pub(crate) fn bury(tx: &Transaction<'_>, queue: &Queue, now: Millis) -> Result<Option<String>, AwsError> {
    let Some(policy) = &queue.settings.redrive_policy else {
        return Ok(None);
    };
    if Queue::find(tx, policy.target())?.is_none() {
        // Without the other queue the messages stay where they are and are received again.
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

/// The queues whose dead letters come to `queue`.
pub(crate) fn sources(tx: &Transaction<'_>, queue: &Queue) -> Result<Vec<String>, AwsError> {
    let mut statement = tx.prepare_cached("SELECT name, attributes FROM queues ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut sources = Vec::new();
    while let Some(row) = rows.next()? {
        let settings: Settings = serde_json::from_str(&row.get::<_, String>(1)?)?;
        if settings
            .redrive_policy
            .is_some_and(|policy| policy.target() == queue.name)
        {
            sources.push(row.get(0)?);
        }
    }
    Ok(sources)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct StartMoveRequest {
    source_arn: String,
    destination_arn: Option<String>,
}

/// Moves what is visible in a dead-letter queue, at once; answers with the task and the queues that got messages.
pub(crate) fn start_move(
    tx: &Transaction<'_>,
    request: &StartMoveRequest,
    now: Millis,
) -> Result<(Value, Vec<String>), AwsError> {
    let no_such_queue =
        || errors::resource_not_found("The resource that you specified for the SourceArn parameter doesn't exist.");
    let queue = Queue::find(tx, queue_of(&request.source_arn))?.ok_or_else(no_such_queue)?;
    if sources(tx, &queue)?.is_empty() {
        return Err(errors::invalid_parameter(
            "Source queue must be configured as a Dead Letter Queue.",
        ));
    }
    let destination = match &request.destination_arn {
        Some(arn) => Some(
            Queue::find(tx, queue_of(arn))?
                .ok_or_else(|| {
                    errors::resource_not_found(
                        "The resource that you specified for the DestinationArn parameter doesn't exist.",
                    )
                })?
                .name,
        ),
        None => None,
    };
    let waiting: Vec<(i64, Option<String>)> = tx
        .prepare("SELECT seq, came_from FROM messages WHERE queue = ?1 AND visible_at <= ?2 ORDER BY seq")?
        .query_map((&queue.name, now.0), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut receivers = Vec::new();
    let mut moved: i64 = 0;
    for (seq, came_from) in &waiting {
        let Some(target) = destination.as_ref().or(came_from.as_ref()) else {
            continue;
        };
        if Queue::find(tx, target)?.is_none() {
            continue;
        }
        tx.prepare_cached(
            "UPDATE messages SET queue = ?2, message_id = ?3, sent_at = ?4, visible_at = ?4, receive_count = 0,
                    first_received_at = NULL, receipt = NULL, came_from = NULL
             WHERE seq = ?1",
        )?
        .execute((seq, target, Uuid::new_v4().to_string(), now.0))?;
        moved += 1;
        if !receivers.contains(target) {
            receivers.push(target.clone());
        }
    }
    let to_move = i64::try_from(waiting.len()).unwrap_or(i64::MAX);
    let (status, reason) = if moved == to_move {
        ("COMPLETED", None)
    } else {
        ("FAILED", Some("CouldNotDetermineMessageSource"))
    };
    let handle = Uuid::new_v4().to_string();
    tx.execute(
        "INSERT INTO move_tasks (handle, source_arn, destination_arn, status, failure_reason, moved, to_move, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (
            &handle,
            arn(&queue.name),
            &request.destination_arn,
            status,
            reason,
            moved,
            to_move,
            now.0,
        ),
    )?;
    Ok((json!({"TaskHandle": handle}), receivers))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListMovesRequest {
    source_arn: String,
    max_results: Option<i64>,
}

/// The latest move tasks out of a queue. None is ever running, so none has a handle to cancel it by.
pub(crate) fn list_moves(tx: &Transaction<'_>, request: &ListMovesRequest) -> Result<Value, AwsError> {
    let limit = request.max_results.unwrap_or(1);
    if !(1..=MAX_TASKS_LISTED).contains(&limit) {
        return Err(errors::out_of_range("MaxResults", limit, 1, MAX_TASKS_LISTED));
    }
    let source = arn(queue_of(&request.source_arn));
    let exists = Queue::find(tx, queue_of(&request.source_arn))?.is_some();
    if !exists {
        return Err(errors::resource_not_found(
            "The resource that you specified for the SourceArn parameter doesn't exist.",
        ));
    }
    let mut statement = tx.prepare_cached(
        "SELECT destination_arn, status, failure_reason, moved, to_move, started_at
         FROM move_tasks WHERE source_arn = ?1 ORDER BY started_at DESC, rowid DESC LIMIT ?2",
    )?;
    let mut rows = statement.query((&source, limit))?;
    let mut results = Vec::new();
    while let Some(row) = rows.next()? {
        let mut task = Map::new();
        task.insert("SourceArn".to_owned(), source.clone().into());
        for (name, column) in [("DestinationArn", 0), ("Status", 1), ("FailureReason", 2)] {
            if let Some(text) = row.get::<_, Option<String>>(column)? {
                task.insert(name.to_owned(), text.into());
            }
        }
        for (name, column) in [
            ("ApproximateNumberOfMessagesMoved", 3),
            ("ApproximateNumberOfMessagesToMove", 4),
            ("StartedTimestamp", 5),
        ] {
            task.insert(name.to_owned(), row.get::<_, i64>(column)?.into());
        }
        results.push(Value::Object(task));
    }
    Ok(json!({"Results": results}))
}
