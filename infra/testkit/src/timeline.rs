//! A queue with delays: moves the test's clock forward and delivers each message at its due time.

use std::{collections::HashMap, future::Future, panic::AssertUnwindSafe};

use ecf_runtime::{SqsBatchResponse, SqsEvent, SqsRecord};
use futures::FutureExt;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::{Queue, TestStack};

/// Visibility timeout and receive limit: the values of every queue of the template.
const VISIBILITY: SignedDuration = SignedDuration::from_secs(360);
const MAX_RECEIVE_COUNT: u32 = 5;

/// The messages of a queue, each with its due time.
#[derive(Debug)]
pub struct Timeline {
    queue: Queue,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    due: Timestamp,
    body: String,
    received: u32,
}

impl Timeline {
    /// The timeline of a queue, without messages.
    pub fn of(queue: Queue) -> Self {
        Self {
            queue,
            waiting: Vec::new(),
        }
    }

    /// Adds a message that is due now.
    pub fn push(&mut self, stack: &TestStack, job: &impl Serialize) {
        self.waiting.push(Waiting {
            due: stack.clock().now(),
            body: serde_json::to_string(job).expect("a job is JSON"),
            received: 0,
        });
    }

    /// Drops every message.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Whether no message waits here. Messages in the queue itself are added by [`Timeline::collect`].
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The due time of the next message.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.waiting.iter().map(|message| message.due).min()
    }

    /// Takes new messages from the queue; their delays start now.
    pub async fn collect(&mut self, stack: &TestStack) {
        let now = stack.clock().now();
        for (body, delay) in stack.take_delayed_messages(self.queue).await {
            let delay = SignedDuration::try_from(delay).expect("a delay is short");
            self.waiting.push(Waiting {
                due: now + delay,
                body,
                received: 0,
            });
        }
    }

    /// Moves the clock to the next message and runs the worker on it; `false` if there is none. A message that fails,
    /// or whose worker dies, is redelivered after its visibility timeout, at most five times in all.
    pub async fn step<W, F>(&mut self, stack: &TestStack, worker: W) -> bool
    where
        W: FnOnce(SqsEvent) -> F,
        F: Future<Output = SqsBatchResponse>,
    {
        self.collect(stack).await;
        let Some(next) = (0..self.waiting.len()).min_by_key(|place| self.waiting[*place].due) else {
            return false;
        };
        let mut message = self.waiting.remove(next);
        let clock = stack.clock();
        clock.advance(message.due.duration_since(clock.now()).max(SignedDuration::ZERO));
        message.received += 1;
        let batch = AssertUnwindSafe(async { worker(event(&message)).await }).catch_unwind();
        // A function that dies outside its jobs reports no failures: its whole batch is redelivered.
        let response = batch.await.ok();
        let has_failed = response.is_none_or(|response| !response.batch_item_failures.is_empty());
        if has_failed && message.received < MAX_RECEIVE_COUNT {
            message.due = clock.now() + VISIBILITY;
            self.waiting.push(message);
        }
        self.collect(stack).await;
        true
    }
}

fn event(message: &Waiting) -> SqsEvent {
    let count = ("ApproximateReceiveCount".to_owned(), message.received.to_string());
    SqsEvent {
        records: vec![SqsRecord {
            message_id: "a message of a timeline".to_owned(),
            body: message.body.clone(),
            attributes: HashMap::from([count]),
            ..SqsRecord::default()
        }],
    }
}
