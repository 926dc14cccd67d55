//! What a receiver may do with a message that it was given: delete it, or change how long it stays hidden.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::{OptionalExtension, Transaction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::queues::Queue;
use super::{QueueRequest, errors};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_VISIBILITY_SECONDS: i64 = 43_200;

/// What a receiver holds to delete or hide a message: valid for one receipt of it.
pub(crate) struct ReceiptHandle {
    pub(crate) queue: String,
    pub(crate) seq: i64,
    pub(crate) receipt: String,
}

impl std::fmt::Display for ReceiptHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plain = format!("{}/{}/{}", self.queue, self.seq, self.receipt);
        f.write_str(&URL_SAFE_NO_PAD.encode(plain))
    }
}

impl ReceiptHandle {
    fn parse(text: &str, queue: &Queue) -> Result<ReceiptHandle, AwsError> {
        let parsed = || {
            let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
            let mut parts = plain.split('/');
            let handle = ReceiptHandle {
                queue: parts.next()?.to_owned(),
                seq: parts.next()?.parse().ok()?,
                receipt: parts.next()?.to_owned(),
            };
            (parts.next().is_none() && handle.queue == queue.name).then_some(handle)
        };
        parsed().ok_or_else(|| errors::receipt_handle_is_invalid(text))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct DeleteRequest {
    #[serde(flatten)]
    target: QueueRequest,
    receipt_handle: String,
}

pub(crate) fn delete(tx: &Transaction<'_>, request: DeleteRequest) -> Result<Value, AwsError> {
    let queue = request.target.queue(tx)?;
    delete_one(tx, &queue, &request.receipt_handle)?;
    Ok(json!({}))
}

/// Deletes by receipt. As on AWS, a receipt that is no longer the latest is accepted and deletes nothing.
pub(crate) fn delete_one(tx: &Transaction<'_>, queue: &Queue, handle: &str) -> Result<(), AwsError> {
    let handle = ReceiptHandle::parse(handle, queue)?;
    tx.prepare_cached("DELETE FROM messages WHERE seq = ?1 AND queue = ?2 AND receipt = ?3")?
        .execute((handle.seq, &handle.queue, &handle.receipt))?;
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct VisibilityRequest {
    receipt_handle: String,
    visibility_timeout: Option<i64>,
}

/// Hides a message that is in flight for longer, or shows it again with 0.
pub(crate) fn change_visibility(
    tx: &Transaction<'_>,
    queue: &Queue,
    request: &VisibilityRequest,
    now: Millis,
) -> Result<Value, AwsError> {
    let handle = ReceiptHandle::parse(&request.receipt_handle, queue)?;
    let seconds = request
        .visibility_timeout
        .ok_or_else(|| errors::missing_parameter("VisibilityTimeout"))?;
    check_visibility(seconds)?;
    let visible_at: Option<i64> = tx
        .prepare_cached("SELECT visible_at FROM messages WHERE seq = ?1 AND queue = ?2 AND receipt = ?3")?
        .query_row((handle.seq, &handle.queue, &handle.receipt), |row| row.get(0))
        .optional()?;
    match visible_at {
        Some(visible_at) if visible_at > now.0 => {
            tx.prepare_cached("UPDATE messages SET visible_at = ?2 WHERE seq = ?1")?
                .execute((handle.seq, now.plus_seconds(seconds).0))?;
            Ok(json!({}))
        }
        Some(_) => Err(errors::message_not_in_flight()),
        None => Err(errors::invalid_parameter(format!(
            "Value {} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.",
            request.receipt_handle
        ))),
    }
}

pub(crate) fn check_visibility(seconds: i64) -> Result<(), AwsError> {
    if (0..=MAX_VISIBILITY_SECONDS).contains(&seconds) {
        Ok(())
    } else {
        Err(errors::out_of_range(
            "VisibilityTimeout",
            seconds,
            0,
            MAX_VISIBILITY_SECONDS,
        ))
    }
}
