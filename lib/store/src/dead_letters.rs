//! Dead letters: messages that were given up after repeated crashes, and their replay.

use aws_sdk_sqs::{
    Client,
    types::{MessageSystemAttributeName, QueueAttributeName},
};
use jiff::Timestamp;

use crate::StoreError;

/// The most messages that one receive returns.
const BATCH: i32 = 10;

/// A queue's dead letters, by the addresses of both queues.
#[derive(Debug, Clone)]
pub struct DeadLetters {
    client: Client,
    dead_url: String,
    queue_url: String,
}

/// A dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    pub body: String,
    /// When it was sent to its queue first.
    pub sent_at: Option<Timestamp>,
}

impl DeadLetters {
    pub fn new(client: Client, dead_url: impl Into<String>, queue_url: impl Into<String>) -> Self {
        Self {
            client,
            dead_url: dead_url.into(),
            queue_url: queue_url.into(),
        }
    }

    /// The approximate number of messages.
    ///
    /// # Errors
    /// Fails when SQS fails.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let name = QueueAttributeName::ApproximateNumberOfMessages;
        let answer = self
            .client
            .get_queue_attributes()
            .queue_url(&self.dead_url)
            .attribute_names(name.clone())
            .send()
            .await
            .map_err(|error| StoreError::from_sdk("count dead letters", error))?;
        let count = answer.attributes.as_ref().and_then(|attributes| attributes.get(&name));
        Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
    }

    /// Some of the messages, at most ten. They stay in the queue.
    ///
    /// # Errors
    /// Fails when SQS fails.
    pub async fn peek(&self) -> Result<Vec<DeadLetter>, StoreError> {
        let sent = MessageSystemAttributeName::SentTimestamp;
        let received = self
            .client
            .receive_message()
            .queue_url(&self.dead_url)
            .max_number_of_messages(BATCH)
            .message_system_attribute_names(sent.clone())
            // Other receivers see them at once.
            .visibility_timeout(0)
            .wait_time_seconds(1)
            .send()
            .await
            .map_err(|error| StoreError::from_sdk("look at dead letters", error))?;
        let letters = received.messages.unwrap_or_default().into_iter().map(|message| {
            let millis = message.attributes.as_ref().and_then(|attributes| attributes.get(&sent));
            let millis = millis.and_then(|millis| millis.parse().ok());
            DeadLetter {
                body: message.body.unwrap_or_default(),
                sent_at: millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()),
            }
        });
        Ok(letters.collect())
    }

    /// Moves at most `limit` messages back to their queue and returns their number. A message is deleted only after it
    /// was sent, so after a failure in between it exists twice; every job is safe to run twice.
    ///
    /// # Errors
    /// Fails when SQS fails.
    pub async fn replay(&self, limit: usize) -> Result<usize, StoreError> {
        let mut moved = 0;
        while moved < limit {
            let wanted = i32::try_from(limit - moved).unwrap_or(BATCH).min(BATCH);
            let received = self
                .client
                .receive_message()
                .queue_url(&self.dead_url)
                .max_number_of_messages(wanted)
                .send()
                .await
                .map_err(|error| StoreError::from_sdk("receive dead letters", error))?;
            let messages = received.messages.unwrap_or_default();
            if messages.is_empty() {
                break;
            }
            for message in messages {
                self.client
                    .send_message()
                    .queue_url(&self.queue_url)
                    .set_message_body(message.body)
                    .send()
                    .await
                    .map_err(|error| StoreError::from_sdk("send dead letter back", error))?;
                self.client
                    .delete_message()
                    .queue_url(&self.dead_url)
                    .set_receipt_handle(message.receipt_handle)
                    .send()
                    .await
                    .map_err(|error| StoreError::from_sdk("delete dead letter", error))?;
                moved += 1;
            }
        }
        Ok(moved)
    }
}
