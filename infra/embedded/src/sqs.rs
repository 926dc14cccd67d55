//! SQS: standard queues on SQLite, over the JSON protocol of current SDKs.
//!
//! [`queues`] holds the queues and their attributes, [`messages`] their messages, [`receipts`] deletes received
//! messages, [`redrive`] moves messages to dead-letter queues. This module parses the requests and runs long polls.

mod arrivals;
mod errors;
mod messages;
mod queues;
mod receipts;
mod redrive;

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::Transaction;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use self::arrivals::Arrivals;
use self::messages::Received;
use self::queues::Queue;
use crate::aws_json::{self, AwsError};
use crate::clock::Pace;
use crate::data_dir::DataDir;
use crate::sqlite::{Db, Schema};
use crate::{StartError, front};

const SCHEMA: Schema = Schema {
    service: "sqs",
    layout: 1,
    sql: "
        CREATE TABLE queues (
            name TEXT PRIMARY KEY,
            attributes TEXT NOT NULL,
            tags TEXT NOT NULL DEFAULT '{}',
            created_at INTEGER NOT NULL,
            modified_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE messages (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            queue TEXT NOT NULL REFERENCES queues (name) ON DELETE CASCADE,
            message_id TEXT NOT NULL,
            body TEXT NOT NULL,
            attributes TEXT NOT NULL,
            trace_header TEXT,
            sent_at INTEGER NOT NULL,
            visible_at INTEGER NOT NULL,
            receive_count INTEGER NOT NULL DEFAULT 0,
            first_received_at INTEGER,
            receipt TEXT,
            came_from TEXT
        ) STRICT;
        CREATE INDEX messages_by_visibility ON messages (queue, visible_at, seq);
        CREATE INDEX messages_by_age ON messages (queue, sent_at);
        CREATE INDEX messages_by_count ON messages (queue, receive_count) WHERE receive_count > 0;
    ",
};

pub(crate) struct Sqs {
    db: Db,
    endpoint_url: String,
    arrivals: Arrivals,
    pace: Pace,
    stopping: watch::Receiver<bool>,
}

impl Sqs {
    pub(crate) fn open(
        data_dir: &DataDir,
        endpoint_url: &str,
        pace: Pace,
        stopping: watch::Receiver<bool>,
    ) -> Result<Sqs, StartError> {
        Ok(Sqs {
            db: Db::open(data_dir.join("sqs.sqlite").as_deref(), &SCHEMA)?,
            endpoint_url: endpoint_url.to_owned(),
            arrivals: Arrivals::default(),
            pace,
            stopping,
        })
    }

    /// Makes every in-flight message visible, in all queues. Its earlier receiver can no longer delete it.
    pub(crate) fn release_in_flight(&self) -> Result<(), StartError> {
        let released = self
            .db
            .write_at_start(|tx| messages::release_in_flight(tx, self.pace.now()));
        released.map_err(|source| StartError::Database {
            service: SCHEMA.service,
            source,
        })
    }

    /// How long the oldest visible message of each queue has waited.
    pub(crate) fn oldest_messages(&self) -> BTreeMap<String, Duration> {
        let now = self.pace.now();
        match self.db.read(|tx| messages::oldest(tx, now)) {
            Ok(oldest) => oldest
                .into_iter()
                .map(|(queue, since)| (queue, since.until(now)))
                .collect(),
            Err(error) => {
                tracing::warn!(%error, "the ages of messages cannot be read");
                BTreeMap::new()
            }
        }
    }

    pub(crate) async fn call(&self, operation: &str, body: &[u8]) -> Result<Value, AwsError> {
        let now = self.pace.now();
        match operation {
            "CreateQueue" => self.run(body, |tx, request: NameRequest| {
                queues::create(tx, &request.queue_name, now)?;
                Ok(json!({"QueueUrl": self.url(&request.queue_name)}))
            }),
            "GetQueueAttributes" => self.run(body, |tx, request| queues::attributes(tx, &request, now)),
            "SetQueueAttributes" => self.run(body, |tx, request| queues::set_attributes(tx, request, now)),
            "SendMessage" => {
                let (queue, answer) = self.run(body, |tx, request| messages::send(tx, request, now))?;
                self.arrivals.announce(&queue);
                Ok(answer)
            }
            "ReceiveMessage" => self.receive(body).await,
            "DeleteMessage" => self.run(body, receipts::delete),
            "DeleteMessageBatch" => self.run(body, receipts::delete_batch),
            _ => Err(errors::unsupported(format!("{operation} is not embedded here"))),
        }
    }

    /// Runs one operation as one transaction.
    fn run<R: DeserializeOwned, T>(
        &self,
        body: &[u8],
        work: impl FnOnce(&Transaction<'_>, R) -> Result<T, AwsError>,
    ) -> Result<T, AwsError> {
        let request = aws_json::parse(body)?;
        self.db.write(|tx| work(tx, request))
    }

    async fn receive(&self, body: &[u8]) -> Result<Value, AwsError> {
        let request: messages::ReceiveRequest = aws_json::parse(body)?;
        let begun = self.pace.now();
        let mut stopping = self.stopping.clone();
        let arrivals = self.arrivals.of(request.queue_url.name());
        loop {
            // Subscribe before reading, so that a message sent in between wakes this poll.
            let mut arrival = std::pin::pin!(arrivals.notified());
            arrival.as_mut().enable();

            let now = self.pace.now();
            let received = self.db.write(|tx| {
                let queue = request.queue_url.queue(tx)?;
                let deadline = begun.plus_seconds(request.wait_seconds(&queue)?);
                let received = messages::receive(tx, &queue, &request, now)?;
                Ok::<_, AwsError>((received, deadline))
            });
            let (
                Received {
                    messages,
                    buried_in,
                    next_visible_at,
                },
                deadline,
            ) = received?;
            if let Some(queue) = buried_in {
                self.arrivals.announce(&queue);
            }
            if !messages.is_empty() {
                return Ok(json!({"Messages": messages}));
            }
            if now >= deadline {
                return Ok(json!({}));
            }
            let wake_at = next_visible_at.map_or(deadline, |next| next.min(deadline));
            tokio::select! {
                () = arrival => {}
                () = tokio::time::sleep(self.pace.sleep(now.until(wake_at))) => {}
                () = front::stopped(&mut stopping) => return Ok(json!({})),
            }
        }
    }

    fn url(&self, queue: &str) -> String {
        format!("{}/{}/{queue}", self.endpoint_url, crate::ACCOUNT_ID)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct NameRequest {
    queue_name: String,
}

/// The URL of a queue, which ends with its name. Host and port may be those of an earlier start.
#[derive(Deserialize)]
struct QueueUrl(String);

impl QueueUrl {
    fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    fn queue(&self, tx: &Transaction<'_>) -> Result<Queue, AwsError> {
        Queue::read(tx, self.name())
    }
}
