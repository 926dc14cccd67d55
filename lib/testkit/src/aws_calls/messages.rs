//! Messages that were sent and not deleted, by what the calls say.

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

/// A test's time stands still while a queue's goes on: waiting for a delay would be a sleep. So the delay is noted and left out.
pub(super) fn take_delay(input: &mut Input) -> Option<Duration> {
    let seconds = input.downcast_mut::<SendMessageInput>()?.delay_seconds.take()?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// What a call that succeeds does to messages.
#[derive(Debug)]
pub(super) enum Effect {
    Sends { queue: String, body: String },
    Deletes { handle: String },
}

impl Effect {
    pub(super) fn of(input: &Input) -> Option<Self> {
        if let Some(sent) = input.downcast_ref::<SendMessageInput>() {
            let queue = sent
                .queue_url()
                .and_then(|url| url.rsplit('/').next())
                .unwrap_or_default();
            let body = sent.message_body().unwrap_or_default();
            return Some(Self::Sends {
                queue: queue.to_owned(),
                body: body.to_owned(),
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
            Some(Effect::Sends { queue, body }) => {
                if let Some(SendMessageOutput {
                    message_id: Some(id), ..
                }) = output.downcast_ref()
                {
                    self.waiting.insert(id.clone(), format!("{queue}: {body}"));
                }
            }
            Some(Effect::Deletes { handle }) => {
                if let Some(id) = self.ids_by_handle.remove(handle) {
                    self.waiting.remove(&id);
                }
            }
        }
    }

    pub(super) fn undeleted(&self) -> Vec<String> {
        self.waiting.values().cloned().collect()
    }
}
