//! Tracks sent and deleted messages by observing the calls.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use aws_sdk_sqs::operation::{
    delete_message::DeleteMessageInput,
    receive_message::ReceiveMessageOutput,
    send_message::{SendMessageInput, SendMessageOutput},
};
use aws_smithy_runtime_api::client::interceptors::context::{Input, Output};

/// Removes the delay from a message and returns it. A test's clock does not advance the queue's clock, so a real delay
/// would be a sleep.
pub(super) fn take_delay(input: &mut Input) -> Option<Duration> {
    let seconds = input.downcast_mut::<SendMessageInput>()?.delay_seconds.take()?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// The effect of a successful call on messages.
#[derive(Debug)]
pub(super) enum Effect {
    Sends {
        queue: String,
        body: String,
        delay: Duration,
    },
    Deletes {
        handle: String,
    },
}

impl Effect {
    /// The effect of this call; `delay` is the result of [`take_delay`].
    pub(super) fn of(input: &Input, delay: Option<Duration>) -> Option<Self> {
        if let Some(sent) = input.downcast_ref::<SendMessageInput>() {
            let queue = sent
                .queue_url()
                .and_then(|url| url.rsplit('/').next())
                .unwrap_or_default();
            let body = sent.message_body().unwrap_or_default();
            return Some(Self::Sends {
                queue: queue.to_owned(),
                body: body.to_owned(),
                delay: delay.unwrap_or_default(),
            });
        }
        let deleted = input.downcast_ref::<DeleteMessageInput>()?;
        Some(Self::Deletes {
            handle: deleted.receipt_handle()?.to_owned(),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Queue and body by message id.
    waiting: BTreeMap<String, String>,
    ids_by_handle: HashMap<String, String>,
    /// By message id.
    delays: HashMap<String, Duration>,
}

impl Messages {
    pub(super) fn note(&mut self, effect: Option<&Effect>, output: &Output) {
        if let Some(received) = output.downcast_ref::<ReceiveMessageOutput>() {
            for message in received.messages() {
                if let (Some(handle), Some(id)) = (message.receipt_handle(), message.message_id()) {
                    self.ids_by_handle.insert(handle.to_owned(), id.to_owned());
                }
            }
        }
        match effect {
            None => {}
            Some(Effect::Sends { queue, body, delay }) => {
                if let Some(SendMessageOutput {
                    message_id: Some(id), ..
                }) = output.downcast_ref()
                {
                    self.waiting.insert(id.clone(), format!("{queue}: {body}"));
                    self.delays.insert(id.clone(), *delay);
                }
            }
            Some(Effect::Deletes { handle }) => {
                if let Some(id) = self.ids_by_handle.remove(handle) {
                    self.waiting.remove(&id);
                }
            }
        }
    }

    pub(super) fn delay_of(&self, id: &str) -> Duration {
        self.delays.get(id).copied().unwrap_or_default()
    }

    pub(super) fn undeleted(&self) -> Vec<String> {
        self.waiting.values().cloned().collect()
    }
}
