//! Lambda's event source mapping in process: receives from a queue, invokes the function with batches, and deletes
//! successful messages. Failed messages stay for the queue's visibility timeout, redrive policy and dead-letter queue.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName};
use ecf_stack::QueueSource;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::invocations::OfFunction;
use crate::mounted::QueueFunction;

/// A queue and the function that the template connects to it.
#[derive(Clone)]
pub(crate) struct Mapping {
    queue_url: String,
    queue_name: String,
    batch_size: i32,
    partial_failures: bool,
    /// The function's timeout.
    timeout: Duration,
    function: QueueFunction,
    metered: OfFunction,
}

impl Mapping {
    pub(crate) fn new(
        queue_url: String,
        source: &QueueSource,
        timeout: Duration,
        function: QueueFunction,
        metered: OfFunction,
    ) -> Self {
        Self {
            queue_url,
            queue_name: source.queue.clone(),
            batch_size: i32::from(source.batch_size.min(10)),
            partial_failures: source.partial_failures,
            timeout,
            function,
            metered,
        }
    }
}

const LONG_POLL_SECONDS: i32 = 10;
const AFTER_AN_ERROR: Duration = Duration::from_secs(1);
/// Pollers per queue; Lambda starts with five.
pub(crate) const POLLERS: usize = 2;

/// Runs one poller until `stop`. A received batch is finished first.
pub(crate) async fn poll(sqs: Client, mapping: Mapping, stop: CancellationToken) {
    loop {
        let receive = sqs
            .receive_message()
            .queue_url(&mapping.queue_url)
            .max_number_of_messages(mapping.batch_size)
            .wait_time_seconds(LONG_POLL_SECONDS)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send();
        let received = tokio::select! {
            () = stop.cancelled() => return,
            received = receive => received,
        };
        match received {
            Ok(output) => {
                let messages = output.messages.unwrap_or_default();
                if !messages.is_empty() {
                    process(&sqs, &mapping, &messages).await;
                }
            }
            Err(error) => {
                tracing::warn!(queue = %mapping.queue_name, error = %aws_sdk_sqs::error::DisplayErrorContext(&error), "cannot receive");
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(AFTER_AN_ERROR) => {}
                }
            }
        }
    }
}

async fn process(sqs: &Client, mapping: &Mapping, messages: &[Message]) {
    let event = sqs_event(&mapping.queue_name, messages);
    let event = match serde_json::from_value(event) {
        Ok(event) => event,
        Err(error) => {
            tracing::error!(queue = %mapping.queue_name, error = %error, "a batch is not an event; it comes back");
            return;
        }
    };
    let invocation = mapping.metered.measure(messages.len(), (mapping.function)(event));
    let Ok(response) = tokio::time::timeout(mapping.timeout, invocation).await else {
        tracing::error!(queue = %mapping.queue_name, "a batch was ended at the function's time limit; it comes back");
        return;
    };
    let failures = response.batch_item_failures;
    if !mapping.partial_failures && !failures.is_empty() {
        return;
    }
    let failed: Vec<String> = failures.into_iter().map(|failure| failure.item_identifier).collect();
    let entries: Vec<_> = messages
        .iter()
        .filter(|message| !failed.iter().any(|id| Some(id.as_str()) == message.message_id()))
        .filter_map(|message| {
            let entry = DeleteMessageBatchRequestEntry::builder().id(message.message_id()?);
            entry.receipt_handle(message.receipt_handle()?).build().ok()
        })
        .collect();
    if entries.is_empty() {
        return;
    }
    let deleted = sqs
        .delete_message_batch()
        .queue_url(&mapping.queue_url)
        .set_entries(Some(entries))
        .send()
        .await;
    if let Err(error) = deleted {
        tracing::warn!(queue = %mapping.queue_name, error = %aws_sdk_sqs::error::DisplayErrorContext(&error), "cannot delete; the batch comes back");
    }
}

/// The event that Lambda passes to a function for a batch.
fn sqs_event(queue_name: &str, messages: &[Message]) -> Value {
    let records = messages.iter().map(|message| {
        let attributes: serde_json::Map<String, Value> = message
            .attributes()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str().to_owned(), json!(value)))
            .collect();
        json!({
            "messageId": message.message_id(),
            "receiptHandle": message.receipt_handle(),
            "body": message.body(),
            "md5OfBody": message.md5_of_body(),
            "attributes": attributes,
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": format!("arn:aws:sqs:us-east-1:000000000000:{queue_name}"),
            "awsRegion": "us-east-1",
        })
    });
    json!({ "Records": records.collect::<Vec<_>>() })
}
