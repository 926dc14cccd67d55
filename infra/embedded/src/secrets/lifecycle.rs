//! How secrets come into being, change and end.

use std::collections::BTreeMap;

use rusqlite::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::records::Secret;
use super::versions::{self, CURRENT, GivenValue};
use super::{already_exists, invalid_parameter, invalid_request, password};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const SECONDS_A_DAY: i64 = 86_400;
const MAX_NAME_LENGTH: usize = 512;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CreateRequest {
    name: String,
    client_request_token: Option<String>,
    description: Option<String>,
    kms_key_id: Option<String>,
    #[serde(flatten)]
    value: GivenValue,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Tag {
    key: String,
    #[serde(default)]
    value: String,
}

/// Creates a secret; the same request with the same token again answers as the first time.
pub(crate) fn create(tx: &Transaction<'_>, request: CreateRequest, now: Millis) -> Result<Value, AwsError> {
    check_name(&request.name)?;
    let value = request.value.parse()?;
    let existing = Secret::find(tx, &request.name)?;
    let arn = match existing {
        Some(secret) if secret.deleted_at.is_some() => {
            return Err(invalid_request(
                "You can't create this secret because a secret with this name is already scheduled for deletion.",
            ));
        }
        Some(secret) => {
            let repeated = match (&request.client_request_token, &value) {
                (Some(token), Some(value)) => versions::value_of(tx, &secret.arn, token)?.as_ref() == Some(value),
                _ => false,
            };
            if !repeated {
                return Err(already_exists(format!(
                    "The operation failed because the secret {} already exists.",
                    request.name
                )));
            }
            secret.arn
        }
        None => {
            let arn = format!(
                "arn:aws:secretsmanager:{}:{}:secret:{}-{}",
                crate::REGION,
                crate::ACCOUNT_ID,
                request.name,
                password::suffix()?
            );
            let tags: BTreeMap<String, String> = request.tags.into_iter().map(|tag| (tag.key, tag.value)).collect();
            tx.execute(
                "INSERT INTO secrets (arn, name, description, kms_key_id, tags, created_at, changed_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                (
                    &arn,
                    &request.name,
                    &request.description,
                    &request.kms_key_id,
                    serde_json::to_string(&tags)?,
                    now.0,
                ),
            )?;
            arn
        }
    };
    let mut answer = Map::new();
    if let Some(value) = value {
        let stages = [CURRENT.to_owned()];
        let version = versions::add(tx, &arn, request.client_request_token, &value, &stages, now)?;
        answer.insert("VersionId".to_owned(), version.into());
    }
    answer.insert("ARN".to_owned(), arn.into());
    answer.insert("Name".to_owned(), request.name.into());
    Ok(Value::Object(answer))
}

fn check_name(name: &str) -> Result<(), AwsError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "/_+=.@-".contains(c);
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(allowed) {
        return Err(AwsError::new(
            "ValidationException",
            "Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!",
        ));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct UpdateRequest {
    secret_id: String,
    client_request_token: Option<String>,
    description: Option<String>,
    kms_key_id: Option<String>,
    #[serde(flatten)]
    value: GivenValue,
}

pub(crate) fn update(tx: &Transaction<'_>, request: UpdateRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    tx.execute(
        "UPDATE secrets SET description = coalesce(?2, description), kms_key_id = coalesce(?3, kms_key_id) WHERE arn = ?1",
        (&secret.arn, &request.description, &request.kms_key_id),
    )?;
    let mut answer = Map::new();
    if let Some(value) = request.value.parse()? {
        let stages = [CURRENT.to_owned()];
        let version = versions::add(tx, &secret.arn, request.client_request_token, &value, &stages, now)?;
        answer.insert("VersionId".to_owned(), version.into());
    }
    secret.touch(tx, now)?;
    answer.insert("ARN".to_owned(), secret.arn.into());
    answer.insert("Name".to_owned(), secret.name.into());
    Ok(Value::Object(answer))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct DeleteRequest {
    secret_id: String,
    recovery_window_in_days: Option<i64>,
    #[serde(default)]
    force_delete_without_recovery: bool,
}

pub(crate) fn delete(tx: &Transaction<'_>, request: DeleteRequest, now: Millis) -> Result<Value, AwsError> {
    let force = request.force_delete_without_recovery;
    if force && request.recovery_window_in_days.is_some() {
        return Err(invalid_parameter(
            "You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.",
        ));
    }
    let days = request.recovery_window_in_days.unwrap_or(30);
    if !(7..=30).contains(&days) {
        return Err(invalid_parameter(format!(
            "The RecoveryWindowInDays value must be between 7 and 30 days (inclusive), not {days}."
        )));
    }
    if force {
        // Forcing succeeds whether or not there is something to delete.
        let Some(secret) = Secret::find(tx, &request.secret_id)? else {
            return Ok(json!({
                "Name": request.secret_id,
                "DeletionDate": now.as_epoch_seconds(),
            }));
        };
        tx.execute("DELETE FROM secrets WHERE arn = ?1", [&secret.arn])?;
        return Ok(deleted(&secret, now));
    }
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let purge_at = now.plus_seconds(days * SECONDS_A_DAY);
    tx.execute(
        "UPDATE secrets SET deleted_at = ?2, purge_at = ?3 WHERE arn = ?1",
        (&secret.arn, now.0, purge_at.0),
    )?;
    Ok(deleted(&secret, purge_at))
}

fn deleted(secret: &Secret, at: Millis) -> Value {
    json!({"ARN": secret.arn, "Name": secret.name, "DeletionDate": at.as_epoch_seconds()})
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RestoreRequest {
    secret_id: String,
}

pub(crate) fn restore(tx: &Transaction<'_>, request: RestoreRequest, _now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read(tx, &request.secret_id)?;
    tx.execute(
        "UPDATE secrets SET deleted_at = NULL, purge_at = NULL WHERE arn = ?1",
        [&secret.arn],
    )?;
    Ok(json!({"ARN": secret.arn, "Name": secret.name}))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct TagRequest {
    secret_id: String,
    tags: Vec<Tag>,
}

pub(crate) fn tag(tx: &Transaction<'_>, request: TagRequest, _now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let mut tags = secret.tags()?;
    tags.extend(request.tags.into_iter().map(|tag| (tag.key, tag.value)));
    write_tags(tx, &secret, &tags)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct UntagRequest {
    secret_id: String,
    tag_keys: Vec<String>,
}

pub(crate) fn untag(tx: &Transaction<'_>, request: UntagRequest, _now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let mut tags = secret.tags()?;
    tags.retain(|key, _| !request.tag_keys.contains(key));
    write_tags(tx, &secret, &tags)
}

fn write_tags(tx: &Transaction<'_>, secret: &Secret, tags: &BTreeMap<String, String>) -> Result<Value, AwsError> {
    tx.execute(
        "UPDATE secrets SET tags = ?2 WHERE arn = ?1",
        (&secret.arn, serde_json::to_string(tags)?),
    )?;
    Ok(json!({}))
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;
    use crate::secrets::{SCHEMA, records};
    use crate::sqlite::Db;

    const NOON: Millis = Millis(1_800_000_000_000);

    #[test]
    fn a_secret_is_gone_when_its_recovery_window_is_over() -> Result<(), AwsError> {
        let db = Db::open(None, &SCHEMA).expect("a database in memory");
        db.write(|tx| {
            let new = json!({"Name": "company/1", "SecretString": "one"});
            create(tx, from_value(new)?, NOON)?;
            let window = json!({"SecretId": "company/1", "RecoveryWindowInDays": 7});
            delete(tx, from_value(window)?, NOON)?;
            let seven_days = NOON.plus_seconds(7 * SECONDS_A_DAY);
            records::purge_overdue(tx, Millis(seven_days.0 - 1))?;
            assert!(Secret::find(tx, "company/1")?.is_some());
            records::purge_overdue(tx, seven_days)?;
            assert!(Secret::find(tx, "company/1")?.is_none());
            Ok(())
        })
    }
}
