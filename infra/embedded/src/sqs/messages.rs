//! Sends and receives messages.
//!
//! A message is visible from `visible_at` on. Receiving it moves that instant forward and writes a new receipt in the
//! same transaction, so each message goes to one receiver. A message that was in flight when the process died becomes
//! visible again at that instant.

use md5::{Digest, Md5};
use rusqlite::{Row, Transaction};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::queues::{Queue, arn};
use super::receipts::ReceiptHandle;
use super::{QueueUrl, errors, redrive};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_RECEIVED: i64 = 10;
const MAX_HIDDEN_SECONDS: i64 = 43_200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct SendRequest {
    queue_url: QueueUrl,
    message_body: String,
    delay_seconds: Option<i64>,
    /// On standard queues the group only affects fair distribution. It is accepted and has no effect here.
    #[serde(rename = "MessageGroupId")]
    _message_group_id: Option<String>,
}

/// Puts one message into its queue and returns the queue's name with the response.
pub(crate) fn send(tx: &Transaction<'_>, message: SendRequest, now: Millis) -> Result<(String, Value), AwsError> {
    let queue = message.queue_url.queue(tx)?;
    let body = message.message_body;
    if body.is_empty() {
        return Err(errors::missing_parameter("MessageBody"));
    }
    let allowed =
        |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
    if !body.chars().all(allowed) {
        return Err(errors::invalid_message_contents());
    }
    let limit = queue.settings.maximum_message_bytes;
    if i64::try_from(body.len()).is_ok_and(|size| size > limit) {
        return Err(errors::message_too_long(limit));
    }
    let delay = message.delay_seconds.unwrap_or(queue.settings.delay_seconds);
    if !(0..=900).contains(&delay) {
        return Err(errors::out_of_range("DelaySeconds", delay, 0, 900));
    }
    let message_id = Uuid::new_v4().to_string();
    tx.prepare_cached(
        "INSERT INTO messages (queue, message_id, body, attributes, sent_at, visible_at) VALUES (?1, ?2, ?3, '{}', ?4, ?5)",
    )?
    .execute((&queue.name, &message_id, &body, now.0, now.plus_seconds(delay).0))?;
    let answer = json!({"MessageId": message_id, "MD5OfMessageBody": md5_hex(&body)});
    Ok((queue.name, answer))
}

fn md5_hex(text: &str) -> String {
    hex::encode(Md5::digest(text.as_bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct ReceiveRequest {
    pub(crate) queue_url: QueueUrl,
    max_number_of_messages: Option<i64>,
    wait_time_seconds: Option<i64>,
    visibility_timeout: Option<i64>,
    #[serde(default)]
    message_system_attribute_names: Vec<String>,
}

impl ReceiveRequest {
    pub(crate) fn wait_seconds(&self, queue: &Queue) -> Result<i64, AwsError> {
        let wait = self.wait_time_seconds.unwrap_or(queue.settings.wait_seconds);
        if !(0..=20).contains(&wait) {
            return Err(errors::out_of_range("WaitTimeSeconds", wait, 0, 20));
        }
        Ok(wait)
    }

    fn wants(&self, system_attribute: &str) -> bool {
        self.message_system_attribute_names
            .iter()
            .any(|name| name == system_attribute || name == "All")
    }
}

/// The result of one attempt to receive.
pub(crate) struct Received {
    pub(crate) messages: Vec<Value>,
    /// The dead-letter queue, if messages were moved there.
    pub(crate) buried_in: Option<String>,
    /// When the next message becomes visible, if no new message is sent before.
    pub(crate) next_visible_at: Option<Millis>,
}

/// Receives visible messages, after it has moved those to the dead-letter queue that were received too often.
pub(crate) fn receive(
    tx: &Transaction<'_>,
    queue: &Queue,
    request: &ReceiveRequest,
    now: Millis,
) -> Result<Received, AwsError> {
    let limit = request.max_number_of_messages.unwrap_or(1);
    if !(1..=MAX_RECEIVED).contains(&limit) {
        return Err(errors::out_of_range("MaxNumberOfMessages", limit, 1, MAX_RECEIVED));
    }
    let hidden_for = request.visibility_timeout.unwrap_or(queue.settings.visibility_seconds);
    if !(0..=MAX_HIDDEN_SECONDS).contains(&hidden_for) {
        return Err(errors::out_of_range(
            "VisibilityTimeout",
            hidden_for,
            0,
            MAX_HIDDEN_SECONDS,
        ));
    }
    expire(tx, queue, now)?;
    let buried_in = redrive::bury(tx, queue, now)?;
    let found: Vec<Stored> = tx
        .prepare_cached(
            "SELECT seq, message_id, body, sent_at, receive_count, first_received_at, came_from
             FROM messages WHERE queue = ?1 AND visible_at <= ?2 ORDER BY visible_at, seq LIMIT ?3",
        )?
        .query_map((&queue.name, now.0, limit), Stored::from_row)?
        .collect::<Result<_, _>>()?;
    let mut messages = Vec::with_capacity(found.len());
    for mut message in found {
        message.receive_count += 1;
        let first_received_at = *message.first_received_at.get_or_insert(now.0);
        let handle = ReceiptHandle {
            queue: queue.name.clone(),
            seq: message.seq,
            receipt: Uuid::new_v4().simple().to_string(),
        };
        tx.prepare_cached(
            "UPDATE messages SET visible_at = ?2, receive_count = ?3, first_received_at = ?4, receipt = ?5 WHERE seq = ?1",
        )?
        .execute((
            message.seq,
            now.plus_seconds(hidden_for).0,
            message.receive_count,
            first_received_at,
            &handle.receipt,
        ))?;
        messages.push(message.view(&handle, request));
    }
    let next_visible_at: Option<i64> = tx
        .prepare_cached("SELECT min(visible_at) FROM messages WHERE queue = ?1")?
        .query_row([&queue.name], |row| row.get(0))?;
    Ok(Received {
        messages,
        buried_in,
        next_visible_at: next_visible_at.map(Millis),
    })
}

/// Deletes messages older than the queue's retention period.
fn expire(tx: &Transaction<'_>, queue: &Queue, now: Millis) -> Result<(), AwsError> {
    let kept_since = now.plus_seconds(-queue.settings.retention_seconds);
    tx.prepare_cached("DELETE FROM messages WHERE queue = ?1 AND sent_at <= ?2")?
        .execute((&queue.name, kept_since.0))?;
    Ok(())
}

struct Stored {
    seq: i64,
    message_id: String,
    body: String,
    sent_at: i64,
    receive_count: i64,
    first_received_at: Option<i64>,
    came_from: Option<String>,
}

impl Stored {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Stored> {
        Ok(Stored {
            seq: row.get(0)?,
            message_id: row.get(1)?,
            body: row.get(2)?,
            sent_at: row.get(3)?,
            receive_count: row.get(4)?,
            first_received_at: row.get(5)?,
            came_from: row.get(6)?,
        })
    }

    fn view(&self, handle: &ReceiptHandle, request: &ReceiveRequest) -> Value {
        let mut view = Map::new();
        view.insert("MessageId".to_owned(), self.message_id.clone().into());
        view.insert("ReceiptHandle".to_owned(), handle.to_string().into());
        view.insert("MD5OfBody".to_owned(), md5_hex(&self.body).into());
        view.insert("Body".to_owned(), self.body.clone().into());

        let system = [
            ("SenderId", Some(crate::ACCOUNT_ID.to_owned())),
            ("SentTimestamp", Some(self.sent_at.to_string())),
            ("ApproximateReceiveCount", Some(self.receive_count.to_string())),
            (
                "ApproximateFirstReceiveTimestamp",
                self.first_received_at.map(|at| at.to_string()),
            ),
            ("DeadLetterQueueSourceArn", self.came_from.as_deref().map(arn)),
        ];
        let system: Map<String, Value> = system
            .into_iter()
            .filter(|(name, _)| request.wants(name))
            .filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
            .collect();
        if !system.is_empty() {
            view.insert("Attributes".to_owned(), system.into());
        }
        Value::Object(view)
    }
}

/// Makes in-flight messages visible, in every queue. Their receive count stays, so a message that kills its receiver
/// every time still ends in the dead-letter queue.
pub(crate) fn release_in_flight(tx: &Transaction<'_>, now: Millis) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE messages SET visible_at = ?1, receipt = NULL WHERE receipt IS NOT NULL AND visible_at > ?1",
        [now.0],
    )?;
    Ok(())
}

/// Since when the oldest visible message of each queue is visible.
pub(crate) fn oldest(tx: &Transaction<'_>, now: Millis) -> rusqlite::Result<Vec<(String, Millis)>> {
    tx.prepare_cached("SELECT queue, min(visible_at) FROM messages WHERE visible_at <= ?1 GROUP BY queue")?
        .query_map([now.0], |row| Ok((row.get(0)?, Millis(row.get(1)?))))?
        .collect()
}

/// The number of visible, in-flight and delayed messages.
pub(crate) fn counts(tx: &Transaction<'_>, queue: &Queue, now: Millis) -> Result<[(&'static str, i64); 3], AwsError> {
    expire(tx, queue, now)?;
    let (visible, in_flight, delayed) = tx
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE visible_at <= ?2),
                    count(*) FILTER (WHERE visible_at > ?2 AND receipt IS NOT NULL),
                    count(*) FILTER (WHERE visible_at > ?2 AND receipt IS NULL)
             FROM messages WHERE queue = ?1",
        )?
        .query_row((&queue.name, now.0), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok([
        ("ApproximateNumberOfMessages", visible),
        ("ApproximateNumberOfMessagesNotVisible", in_flight),
        ("ApproximateNumberOfMessagesDelayed", delayed),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;
    use crate::sqlite::Db;
    use crate::sqs::{SCHEMA, queues};

    const NOON: Millis = Millis(1_800_000_000_000);

    #[test]
    fn a_message_is_gone_when_its_queue_has_kept_it_long_enough() -> Result<(), AwsError> {
        let db = Db::open(None, &SCHEMA).expect("a database in memory");
        db.write(|tx| {
            queues::create(tx, "jobs", NOON)?;
            let retention = json!({"QueueUrl": "jobs", "Attributes": {"MessageRetentionPeriod": "60"}});
            queues::set_attributes(tx, from_value(retention)?, NOON)?;
            let queue = Queue::read(tx, "jobs")?;
            for at in [NOON, NOON.plus_seconds(1)] {
                send(tx, from_value(json!({"QueueUrl": "jobs", "MessageBody": "x"}))?, at)?;
            }
            assert_eq!(oldest(tx, NOON.plus_seconds(9))?, [("jobs".to_owned(), NOON)]);
            assert!(oldest(tx, NOON.plus_seconds(-1))?.is_empty());
            let left = |now| counts(tx, &queue, now).map(|[(_, visible), ..]| visible);
            assert_eq!(left(NOON.plus_seconds(59))?, 2);
            assert_eq!(left(NOON.plus_seconds(60))?, 1);
            assert_eq!(left(NOON.plus_seconds(61))?, 0);
            Ok(())
        })
    }
}
