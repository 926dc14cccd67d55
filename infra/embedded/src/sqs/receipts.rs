//! Deletes received messages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::Transaction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::queues::Queue;
use super::{QueueUrl, errors};
use crate::aws_json::AwsError;

const MAX_ENTRIES: usize = 10;

/// The handle with which a receiver deletes a message: valid for one receipt of the message.
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
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct DeleteRequest {
    queue_url: QueueUrl,
    receipt_handle: String,
}

pub(crate) fn delete(tx: &Transaction<'_>, request: DeleteRequest) -> Result<Value, AwsError> {
    let queue = request.queue_url.queue(tx)?;
    delete_one(tx, &queue, &request.receipt_handle)?;
    Ok(json!({}))
}

/// Deletes by receipt. As on AWS, an outdated receipt is accepted and deletes nothing.
fn delete_one(tx: &Transaction<'_>, queue: &Queue, handle: &str) -> Result<(), AwsError> {
    let handle = ReceiptHandle::parse(handle, queue)?;
    tx.prepare_cached("DELETE FROM messages WHERE seq = ?1 AND queue = ?2 AND receipt = ?3")?
        .execute((handle.seq, &handle.queue, &handle.receipt))?;
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct DeleteBatchRequest {
    queue_url: QueueUrl,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Entry {
    id: String,
    receipt_handle: String,
}

/// Deletes each entry. A mistake in one entry fails that entry; any other error fails the batch and rolls it back.
pub(crate) fn delete_batch(tx: &Transaction<'_>, request: DeleteBatchRequest) -> Result<Value, AwsError> {
    let queue = request.queue_url.queue(tx)?;
    if request.entries.is_empty() {
        return Err(errors::empty_batch());
    }
    if request.entries.len() > MAX_ENTRIES {
        return Err(errors::too_many_entries(request.entries.len()));
    }
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for Entry { id, receipt_handle } in request.entries {
        match delete_one(tx, &queue, &receipt_handle) {
            Ok(()) => successful.push(json!({"Id": id})),
            Err(error) if error.status.is_server_error() => return Err(error),
            Err(error) => failed.push(json!({
                "Id": id,
                "SenderFault": true,
                "Code": error.query_code.unwrap_or(error.code),
                "Message": error.message,
            })),
        }
    }
    Ok(json!({"Successful": successful, "Failed": failed}))
}
