//! Queues: their names and attributes.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::redrive::RedrivePolicy;
use super::{QueueUrl, errors};
use crate::aws_json::{self, AwsError};
use crate::clock::Millis;

/// Upper bound of a message's size.
const MAX_MESSAGE_BYTES: i64 = 1024 * 1024;
const MAX_NAME_LENGTH: usize = 80;

/// A queue with its current settings.
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    created_at: Millis,
    modified_at: Millis,
}

/// The settings that change a queue's behaviour.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Settings {
    pub(crate) delay_seconds: i64,
    pub(crate) maximum_message_bytes: i64,
    pub(crate) retention_seconds: i64,
    pub(crate) wait_seconds: i64,
    pub(crate) visibility_seconds: i64,
    pub(crate) redrive_policy: Option<RedrivePolicy>,
    /// Attributes that are returned but cannot be set.
    others: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            delay_seconds: 0,
            maximum_message_bytes: MAX_MESSAGE_BYTES,
            retention_seconds: 345_600,
            wait_seconds: 0,
            visibility_seconds: 30,
            redrive_policy: None,
            others: BTreeMap::from([("SqsManagedSseEnabled".to_owned(), "true".to_owned())]),
        }
    }
}

impl Settings {
    fn set(&mut self, name: &str, value: &str) -> Result<(), AwsError> {
        let number = |least: i64, most: i64| {
            value
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| errors::invalid_attribute_value(name))
        };
        match name {
            "DelaySeconds" => self.delay_seconds = number(0, 900)?,
            "MessageRetentionPeriod" => self.retention_seconds = number(60, 1_209_600)?,
            "ReceiveMessageWaitTimeSeconds" => self.wait_seconds = number(0, 20)?,
            "VisibilityTimeout" => self.visibility_seconds = number(0, 43_200)?,
            "RedrivePolicy" => {
                let policy = RedrivePolicy::parse(value).ok_or_else(|| errors::invalid_attribute_value(name))?;
                self.redrive_policy = Some(policy);
            }
            _ => return Err(errors::invalid_attribute_name(name)),
        }
        Ok(())
    }

    fn written(&self) -> BTreeMap<String, String> {
        let mut written = self.others.clone();
        for (name, number) in [
            ("DelaySeconds", self.delay_seconds),
            ("MaximumMessageSize", self.maximum_message_bytes),
            ("MessageRetentionPeriod", self.retention_seconds),
            ("ReceiveMessageWaitTimeSeconds", self.wait_seconds),
            ("VisibilityTimeout", self.visibility_seconds),
        ] {
            written.insert(name.to_owned(), number.to_string());
        }
        if let Some(policy) = &self.redrive_policy {
            written.insert("RedrivePolicy".to_owned(), policy.to_string());
        }
        written
    }
}

impl Queue {
    /// # Errors
    ///
    /// `QueueDoesNotExist`.
    pub(crate) fn read(tx: &Transaction<'_>, name: &str) -> Result<Queue, AwsError> {
        Queue::find(tx, name)?.ok_or_else(errors::queue_does_not_exist)
    }

    pub(crate) fn find(tx: &Transaction<'_>, name: &str) -> Result<Option<Queue>, AwsError> {
        let row: Option<(String, i64, i64)> = tx
            .prepare_cached("SELECT attributes, created_at, modified_at FROM queues WHERE name = ?1")?
            .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((settings, created_at, modified_at)) = row else {
            return Ok(None);
        };
        Ok(Some(Queue {
            name: name.to_owned(),
            settings: serde_json::from_str(&settings)?,
            created_at: Millis(created_at),
            modified_at: Millis(modified_at),
        }))
    }
}

pub(crate) fn arn(name: &str) -> String {
    format!("arn:aws:sqs:{}:{}:{name}", crate::REGION, crate::ACCOUNT_ID)
}

/// Creates the queue; succeeds if it exists.
pub(crate) fn create(tx: &Transaction<'_>, name: &str, now: Millis) -> Result<(), AwsError> {
    check_name(name)?;
    tx.execute(
        "INSERT INTO queues (name, attributes, created_at, modified_at) VALUES (?1, ?2, ?3, ?3) ON CONFLICT DO NOTHING",
        (name, serde_json::to_string(&Settings::default())?, now.0),
    )?;
    Ok(())
}

fn check_name(name: &str) -> Result<(), AwsError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(plain) {
        return Err(errors::invalid_parameter(
            "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
        ));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct AttributesRequest {
    queue_url: QueueUrl,
    #[serde(default)]
    attribute_names: Vec<String>,
}

pub(crate) fn attributes(tx: &Transaction<'_>, request: &AttributesRequest, now: Millis) -> Result<Value, AwsError> {
    let queue = request.queue_url.queue(tx)?;
    let mut all = queue.settings.written();
    let seconds = |at: Millis| (at.0 / 1000).to_string();
    all.insert("QueueArn".to_owned(), arn(&queue.name));
    all.insert("CreatedTimestamp".to_owned(), seconds(queue.created_at));
    all.insert("LastModifiedTimestamp".to_owned(), seconds(queue.modified_at));
    for (name, count) in super::messages::counts(tx, &queue, now)? {
        all.insert(name.to_owned(), count.to_string());
    }
    if !request.attribute_names.iter().any(|name| name == "All") {
        all.retain(|name, _| request.attribute_names.contains(name));
    }
    aws_json::output(json!({"Attributes": all}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct SetAttributesRequest {
    queue_url: QueueUrl,
    attributes: BTreeMap<String, String>,
}

pub(crate) fn set_attributes(
    tx: &Transaction<'_>,
    request: SetAttributesRequest,
    now: Millis,
) -> Result<Value, AwsError> {
    let mut queue = request.queue_url.queue(tx)?;
    for (name, value) in &request.attributes {
        queue.settings.set(name, value)?;
    }
    tx.execute(
        "UPDATE queues SET attributes = ?2, modified_at = ?3 WHERE name = ?1",
        (&queue.name, serde_json::to_string(&queue.settings)?, now.0),
    )?;
    Ok(json!({}))
}
