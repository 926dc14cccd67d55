//! The batch operations: up to ten entries, each of which succeeds or fails by itself.

use std::collections::HashSet;

use rusqlite::Transaction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::messages::{self, NewMessage};
use super::queues::{MAX_MESSAGE_BYTES, Queue};
use super::receipts::{self, VisibilityRequest};
use super::{QueueRequest, errors};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_ENTRIES: usize = 10;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Batch<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry<T> {
    id: String,
    #[serde(flatten)]
    request: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Receipt {
    receipt_handle: String,
}

#[derive(Deserialize)]
pub(crate) struct DeleteBatch {
    #[serde(flatten)]
    target: QueueRequest,
    #[serde(flatten)]
    batch: Batch<Receipt>,
}

pub(crate) fn send(
    tx: &Transaction<'_>,
    queue: &Queue,
    batch: Batch<NewMessage>,
    now: Millis,
) -> Result<Value, AwsError> {
    let total: i64 = batch
        .entries
        .iter()
        .filter_map(|entry| entry.request.checked_size_bytes().ok())
        .sum();
    if total > MAX_MESSAGE_BYTES {
        return Err(errors::batch_too_long(MAX_MESSAGE_BYTES, total));
    }
    each(batch, |message| messages::send(tx, queue, message, now))
}

pub(crate) fn delete(tx: &Transaction<'_>, request: DeleteBatch) -> Result<Value, AwsError> {
    let queue = request.target.queue(tx)?;
    each(request.batch, |receipt| {
        receipts::delete_one(tx, &queue, &receipt.receipt_handle)?;
        Ok(json!({}))
    })
}

pub(crate) fn change_visibility(
    tx: &Transaction<'_>,
    queue: &Queue,
    batch: Batch<VisibilityRequest>,
    now: Millis,
) -> Result<Value, AwsError> {
    each(batch, |request| receipts::change_visibility(tx, queue, &request, now))
}

/// Does each entry; an entry's own mistake is its own failure, anything else fails the batch and undoes it.
fn each<T>(batch: Batch<T>, mut one: impl FnMut(T) -> Result<Value, AwsError>) -> Result<Value, AwsError> {
    check(&batch.entries)?;
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for Entry { id, request } in batch.entries {
        match one(request) {
            Ok(mut answer) => {
                answer["Id"] = id.into();
                successful.push(answer);
            }
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

fn check<T>(entries: &[Entry<T>]) -> Result<(), AwsError> {
    if entries.is_empty() {
        return Err(errors::empty_batch());
    }
    if entries.len() > MAX_ENTRIES {
        return Err(errors::too_many_entries(entries.len()));
    }
    let mut seen = HashSet::new();
    for Entry { id, .. } in entries {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.is_empty() || id.len() > 80 || !id.chars().all(plain) {
            return Err(errors::invalid_batch_entry_id());
        }
        if !seen.insert(id) {
            return Err(errors::ids_not_distinct(id));
        }
    }
    Ok(())
}
