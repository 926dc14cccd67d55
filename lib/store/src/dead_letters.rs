//! Dead letters: messages that were given up after repeated crashes, and their replay.

use aws_sdk_sqs::Client;

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

impl DeadLetters {
    pub fn new(client: Client, dead_url: impl Into<String>, queue_url: impl Into<String>) -> Self {
        Self {
            client,
            dead_url: dead_url.into(),
            queue_url: queue_url.into(),
        }
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
