//! Feeds workers from their queues, like Lambda's event source mapping.

use std::{collections::HashMap, future::Future, time::Duration};

use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use ecf::Environment;
use ecf_runtime::{SqsBatchResponse, SqsEvent, SqsRecord};

use crate::TestStack;

/// Upper bound of batches; a worker that exceeds it enqueues its own work without end.
const BATCHES: usize = 100;
const BATCH_SIZE: i32 = 10;

/// A queue of the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Queue {
    Issuing,
    SubmissionTesteCF,
    SubmissionCerteCF,
    SubmissionEcf,
    Webhook,
    WebhookSlow,
    Exchange,
    Certification,
}

impl Queue {
    /// The submission queue of an environment.
    pub fn submission(environment: Environment) -> Self {
        match environment {
            Environment::TesteCF => Self::SubmissionTesteCF,
            Environment::CerteCF => Self::SubmissionCerteCF,
            Environment::Ecf => Self::SubmissionEcf,
        }
    }

    /// Its name in the template.
    pub fn logical_id(self) -> &'static str {
        match self {
            Self::Issuing => "IssuingQueue",
            Self::SubmissionTesteCF => "SubmissionTesteCF",
            Self::SubmissionCerteCF => "SubmissionCerteCF",
            Self::SubmissionEcf => "SubmissionEcf",
            Self::Webhook => "Webhook",
            Self::WebhookSlow => "WebhookSlow",
            Self::Exchange => "Exchange",
            Self::Certification => "CertificationQueue",
        }
    }
}

impl TestStack {
    /// Removes all waiting messages from a queue and returns their bodies.
    pub async fn take_messages(&self, queue: Queue) -> Vec<String> {
        let messages = self.take_delayed_messages(queue).await;
        messages.into_iter().map(|(body, _)| body).collect()
    }

    /// Like [`Self::take_messages`], each body with the delay of its message.
    pub(crate) async fn take_delayed_messages(&self, queue: Queue) -> Vec<(String, Duration)> {
        let mut taken = Vec::new();
        for _ in 0..BATCHES {
            let messages = self.receive(queue).await;
            if messages.is_empty() {
                return taken;
            }
            for message in messages {
                let delay = self.calls().delay_of(message.message_id().unwrap_or_default());
                taken.push((message.body.clone().unwrap_or_default(), delay));
                self.delete(queue, &message).await;
            }
        }
        panic!("{queue:?} does not get empty");
    }

    /// Runs a worker on a queue's messages until none can be received; returns the number of messages. A message that
    /// the worker reports as failed stays in the queue, hidden until its visibility timeout.
    pub async fn drain<W, F>(&self, queue: Queue, worker: W) -> usize
    where
        W: Fn(SqsEvent) -> F,
        F: Future<Output = SqsBatchResponse>,
    {
        let mut given = 0;
        for _ in 0..BATCHES {
            let messages = self.receive(queue).await;
            if messages.is_empty() {
                return given;
            }
            given += messages.len();
            let response = worker(event(queue, &messages)).await;
            for message in &messages {
                let id = message.message_id.as_deref();
                if !response
                    .batch_item_failures
                    .iter()
                    .any(|failure| Some(failure.item_identifier.as_str()) == id)
                {
                    self.delete(queue, message).await;
                }
            }
        }
        panic!("{queue:?} does not get empty: the worker queues its own work again and again");
    }

    async fn receive(&self, queue: Queue) -> Vec<Message> {
        let request = self.clients().sqs.receive_message().queue_url(self.queue_url(queue));
        let request = request.max_number_of_messages(BATCH_SIZE).wait_time_seconds(0);
        let request = request.message_system_attribute_names(MessageSystemAttributeName::All);
        request
            .send()
            .await
            .expect("the queue answers")
            .messages
            .unwrap_or_default()
    }

    async fn delete(&self, queue: Queue, message: &Message) {
        let handle = message
            .receipt_handle
            .as_deref()
            .expect("a received message has a handle");
        let request = self
            .clients()
            .sqs
            .delete_message()
            .queue_url(self.queue_url(queue))
            .receipt_handle(handle);
        request.send().await.expect("the queue answers");
    }
}

fn event(queue: Queue, messages: &[Message]) -> SqsEvent {
    let records = messages.iter().map(|message| {
        let attributes = message.attributes.iter().flatten();
        let attributes: HashMap<_, _> = attributes
            .map(|(name, value)| (name.as_str().to_owned(), value.clone()))
            .collect();
        SqsRecord {
            message_id: message.message_id.clone().unwrap_or_default(),
            receipt_handle: message.receipt_handle.clone().unwrap_or_default(),
            body: message.body.clone().unwrap_or_default(),
            attributes,
            event_source_arn: format!("arn:aws:sqs:us-east-1:000000000000:{}", queue.logical_id()),
        }
    });
    SqsEvent {
        records: records.collect(),
    }
}
