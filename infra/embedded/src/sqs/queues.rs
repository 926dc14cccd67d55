//! Queues: their names, attributes and tags.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::redrive::RedrivePolicy;
use super::{QueueRequest, errors};
use crate::aws_json::{self, AwsError};
use crate::clock::Millis;

/// The most that a message, or a batch of them, may weigh.
pub(crate) const MAX_MESSAGE_BYTES: i64 = 1024 * 1024;
const MAX_NAME_LENGTH: usize = 80;
const MAX_PAGE: i64 = 1000;

/// A queue as it is now.
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    created_at: Millis,
    modified_at: Millis,
}

/// What can be set on a queue and changes what it does.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Settings {
    pub(crate) delay_seconds: i64,
    pub(crate) maximum_message_bytes: i64,
    pub(crate) retention_seconds: i64,
    pub(crate) wait_seconds: i64,
    pub(crate) visibility_seconds: i64,
    pub(crate) redrive_policy: Option<RedrivePolicy>,
    /// Kept and given back as they are: policies and encryption, which mean nothing on loopback.
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
            "MaximumMessageSize" => self.maximum_message_bytes = number(1024, MAX_MESSAGE_BYTES)?,
            "MessageRetentionPeriod" => self.retention_seconds = number(60, 1_209_600)?,
            "ReceiveMessageWaitTimeSeconds" => self.wait_seconds = number(0, 20)?,
            "VisibilityTimeout" => self.visibility_seconds = number(0, 43_200)?,
            "RedrivePolicy" if value.is_empty() => self.redrive_policy = None,
            "RedrivePolicy" => {
                let policy = RedrivePolicy::parse(value).ok_or_else(|| errors::invalid_attribute_value(name))?;
                self.redrive_policy = Some(policy);
            }
            "FifoQueue" | "ContentBasedDeduplication" | "DeduplicationScope" | "FifoThroughputLimit" => {
                return Err(errors::unsupported("only standard queues are embedded here"));
            }
            "Policy"
            | "RedriveAllowPolicy"
            | "KmsMasterKeyId"
            | "KmsDataKeyReusePeriodSeconds"
            | "SqsManagedSseEnabled" => {
                if value.is_empty() {
                    self.others.remove(name);
                } else {
                    self.others.insert(name.to_owned(), value.to_owned());
                }
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CreateRequest {
    queue_name: String,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    #[serde(default, rename = "tags")]
    tags: BTreeMap<String, String>,
}

/// Creates the queue and answers with its name; an equal queue that exists already is as good.
pub(crate) fn create(tx: &Transaction<'_>, request: CreateRequest, now: Millis) -> Result<String, AwsError> {
    let name = request.queue_name;
    check_name(&name)?;
    let mut settings = Settings::default();
    for (attribute, value) in &request.attributes {
        settings.set(attribute, value)?;
    }
    if let Some(existing) = Queue::find(tx, &name)? {
        let (has, wanted) = (existing.settings.written(), settings.written());
        let differing = request
            .attributes
            .keys()
            .find(|attribute| has.get(*attribute) != wanted.get(*attribute));
        return match differing {
            Some(attribute) => Err(errors::queue_name_exists(attribute)),
            None => Ok(name),
        };
    }
    tx.execute(
        "INSERT INTO queues (name, attributes, tags, created_at, modified_at) VALUES (?1, ?2, ?3, ?4, ?4)",
        (
            &name,
            serde_json::to_string(&settings)?,
            serde_json::to_string(&request.tags)?,
            now.0,
        ),
    )?;
    Ok(name)
}

fn check_name(name: &str) -> Result<(), AwsError> {
    if name.ends_with(".fifo") {
        return Err(errors::unsupported("only standard queues are embedded here"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(plain) {
        return Err(errors::invalid_parameter(
            "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
        ));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListRequest {
    #[serde(default)]
    queue_name_prefix: String,
    max_results: Option<i64>,
    next_token: Option<String>,
}

pub(crate) struct ListPage {
    pub(crate) names: Vec<String>,
    pub(crate) next: Option<String>,
}

pub(crate) fn list(tx: &Transaction<'_>, request: &ListRequest) -> Result<ListPage, AwsError> {
    let limit = request.max_results.unwrap_or(MAX_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(errors::out_of_range("MaxResults", limit, 1, MAX_PAGE));
    }
    let after = request.next_token.as_deref().unwrap_or_default();
    let mut names: Vec<String> = tx
        .prepare_cached(
            "SELECT name FROM queues WHERE substr(name, 1, length(?1)) = ?1 AND name > ?2 ORDER BY name LIMIT ?3",
        )?
        .query_map((&request.queue_name_prefix, after, limit + 1), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let more = i64::try_from(names.len()).is_ok_and(|found| found > limit);
    if more {
        names.pop();
    }
    let next = names.last().filter(|_| more).cloned();
    Ok(ListPage { names, next })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AttributesRequest {
    #[serde(flatten)]
    target: QueueRequest,
    #[serde(default)]
    attribute_names: Vec<String>,
}

pub(crate) fn attributes(tx: &Transaction<'_>, request: &AttributesRequest, now: Millis) -> Result<Value, AwsError> {
    let queue = request.target.queue(tx)?;
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
#[serde(rename_all = "PascalCase")]
pub(crate) struct SetAttributesRequest {
    #[serde(flatten)]
    target: QueueRequest,
    attributes: BTreeMap<String, String>,
}

pub(crate) fn set_attributes(
    tx: &Transaction<'_>,
    request: SetAttributesRequest,
    now: Millis,
) -> Result<Value, AwsError> {
    let mut queue = request.target.queue(tx)?;
    for (name, value) in &request.attributes {
        queue.settings.set(name, value)?;
    }
    tx.execute(
        "UPDATE queues SET attributes = ?2, modified_at = ?3 WHERE name = ?1",
        (&queue.name, serde_json::to_string(&queue.settings)?, now.0),
    )?;
    Ok(json!({}))
}

pub(crate) fn delete(tx: &Transaction<'_>, queue: &Queue) -> Result<Value, AwsError> {
    tx.execute("DELETE FROM queues WHERE name = ?1", [&queue.name])?;
    Ok(json!({}))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct TagRequest {
    #[serde(flatten)]
    target: QueueRequest,
    tags: BTreeMap<String, String>,
}

pub(crate) fn tag(tx: &Transaction<'_>, request: TagRequest) -> Result<Value, AwsError> {
    let queue = request.target.queue(tx)?;
    let mut tags = read_tags(tx, &queue)?;
    tags.extend(request.tags);
    write_tags(tx, &queue, &tags)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct UntagRequest {
    #[serde(flatten)]
    target: QueueRequest,
    tag_keys: Vec<String>,
}

pub(crate) fn untag(tx: &Transaction<'_>, request: UntagRequest) -> Result<Value, AwsError> {
    let queue = request.target.queue(tx)?;
    let mut tags = read_tags(tx, &queue)?;
    tags.retain(|key, _| !request.tag_keys.contains(key));
    write_tags(tx, &queue, &tags)
}

pub(crate) fn tags(tx: &Transaction<'_>, queue: &Queue) -> Result<Value, AwsError> {
    aws_json::output(json!({"Tags": read_tags(tx, queue)?}))
}

fn read_tags(tx: &Transaction<'_>, queue: &Queue) -> Result<BTreeMap<String, String>, AwsError> {
    let tags: String = tx.query_row("SELECT tags FROM queues WHERE name = ?1", [&queue.name], |row| {
        row.get(0)
    })?;
    Ok(serde_json::from_str(&tags)?)
}

fn write_tags(tx: &Transaction<'_>, queue: &Queue, tags: &BTreeMap<String, String>) -> Result<Value, AwsError> {
    tx.execute(
        "UPDATE queues SET tags = ?2 WHERE name = ?1",
        (&queue.name, serde_json::to_string(tags)?),
    )?;
    Ok(json!({}))
}
