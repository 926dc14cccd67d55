//! The values of a secret and the stages that point at them.
//!
//! A stage is on one version at most. `AWSCURRENT` never leaves a secret that has it, and the version it moves away
//! from becomes `AWSPREVIOUS`.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{OptionalExtension, Transaction};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::records::Secret;
use super::{already_exists, invalid_parameter, invalid_request, not_found};
use crate::aws_json::AwsError;
use crate::clock::Millis;

pub(crate) const CURRENT: &str = "AWSCURRENT";
const PREVIOUS: &str = "AWSPREVIOUS";
const MAX_VALUE_BYTES: usize = 65_536;
const MAX_STAGES: usize = 20;

/// A value as requests carry it; at most one of the two is there.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct GivenValue {
    secret_string: Option<String>,
    /// Base64, as the protocol carries it.
    secret_binary: Option<String>,
}

/// The content of one version.
#[derive(PartialEq)]
pub(crate) enum SecretValue {
    Text(String),
    Binary(Vec<u8>),
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl GivenValue {
    pub(crate) fn parse(self) -> Result<Option<SecretValue>, AwsError> {
        let value = match (self.secret_string, self.secret_binary) {
            (None, None) => return Ok(None),
            (Some(text), None) => SecretValue::Text(text),
            (None, Some(encoded)) => SecretValue::Binary(
                STANDARD
                    .decode(encoded)
                    .map_err(|_| invalid_parameter("SecretBinary is not valid base64."))?,
            ),
            (Some(_), Some(_)) => {
                return Err(invalid_parameter(
                    "You can't specify both a binary secret value and a string secret value in the same secret.",
                ));
            }
        };
        let size = match &value {
            SecretValue::Text(text) => text.len(),
            SecretValue::Binary(bytes) => bytes.len(),
        };
        if !(1..=MAX_VALUE_BYTES).contains(&size) {
            return Err(AwsError::new(
                "ValidationException",
                format!("A secret value has 1 to {MAX_VALUE_BYTES} bytes, not {size}."),
            ));
        }
        Ok(Some(value))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct PutRequest {
    secret_id: String,
    client_request_token: Option<String>,
    #[serde(flatten)]
    value: GivenValue,
    version_stages: Option<Vec<String>>,
}

pub(crate) fn put(tx: &Transaction<'_>, request: PutRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let value = request
        .value
        .parse()?
        .ok_or_else(|| invalid_request("You must provide either SecretString or SecretBinary."))?;
    let mut stages = request.version_stages.unwrap_or_else(|| vec![CURRENT.to_owned()]);
    if !(1..=MAX_STAGES).contains(&stages.len()) {
        return Err(invalid_parameter(format!(
            "A version has 1 to {MAX_STAGES} staging labels, not {}.",
            stages.len()
        )));
    }
    // A secret without a value gets its first one as the current one.
    if version_at(tx, &secret.arn, CURRENT)?.is_none() && !stages.iter().any(|s| s == CURRENT) {
        stages.push(CURRENT.to_owned());
    }
    let version_id = add(tx, &secret.arn, request.client_request_token, &value, &stages, now)?;
    secret.touch(tx, now)?;
    Ok(json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "VersionId": version_id,
        "VersionStages": stages_of(tx, &secret.arn, &version_id)?,
    }))
}

/// Adds a version and points the stages at it; repeating a request with its token changes nothing.
pub(crate) fn add(
    tx: &Transaction<'_>,
    arn: &str,
    token: Option<String>,
    value: &SecretValue,
    stages: &[String],
    now: Millis,
) -> Result<String, AwsError> {
    let version_id = token.unwrap_or_else(|| Uuid::new_v4().to_string());
    if !(32..=64).contains(&version_id.len()) {
        return Err(invalid_parameter(
            "ClientRequestToken must be 32 to 64 characters long.",
        ));
    }
    if let Some(existing) = value_of(tx, arn, &version_id)? {
        return if existing == *value {
            Ok(version_id)
        } else {
            Err(already_exists(format!(
                "You can't use ClientRequestToken {version_id} because that value is already in use for a version of secret {arn}."
            )))
        };
    }
    let (text, binary) = match value {
        SecretValue::Text(text) => (Some(text), None),
        SecretValue::Binary(bytes) => (None, Some(bytes)),
    };
    tx.prepare_cached("INSERT INTO versions (arn, version_id, text, binary, created_at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((arn, &version_id, text, binary, now.0))?;
    for stage in stages {
        attach(tx, arn, stage, &version_id)?;
    }
    Ok(version_id)
}

/// Points a stage at a version, wherever it was before.
fn attach(tx: &Transaction<'_>, arn: &str, stage: &str, version_id: &str) -> Result<(), AwsError> {
    let before = version_at(tx, arn, stage)?;
    set_stage(tx, arn, stage, version_id)?;
    if let Some(before) = before
        && stage == CURRENT
        && before != version_id
    {
        set_stage(tx, arn, PREVIOUS, &before)?;
    }
    Ok(())
}

fn set_stage(tx: &Transaction<'_>, arn: &str, stage: &str, version_id: &str) -> Result<(), AwsError> {
    tx.prepare_cached(
        "INSERT INTO stages (arn, stage, version_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (arn, stage) DO UPDATE SET version_id = excluded.version_id",
    )?
    .execute((arn, stage, version_id))?;
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ReadRequest {
    secret_id: String,
    version_id: Option<String>,
    version_stage: Option<String>,
}

pub(crate) fn read(tx: &Transaction<'_>, request: ReadRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let missing = |what: &str, which: &str| {
        not_found(format!(
            "Secrets Manager can't find the specified secret value for {what}: {which}"
        ))
    };
    let version_id = match (request.version_id, request.version_stage) {
        (Some(version_id), None) => version_id,
        (None, stage) => {
            let stage = stage.as_deref().unwrap_or(CURRENT);
            version_at(tx, &secret.arn, stage)?.ok_or_else(|| missing("staging label", stage))?
        }
        (Some(version_id), Some(stage)) => {
            if version_at(tx, &secret.arn, &stage)?.as_ref() != Some(&version_id) {
                return Err(invalid_request(
                    "You provided a VersionStage that is not associated to the provided VersionId.",
                ));
            }
            version_id
        }
    };
    let value = value_of(tx, &secret.arn, &version_id)?.ok_or_else(|| missing("VersionId", &version_id))?;
    let created_at: i64 = tx.query_row(
        "SELECT created_at FROM versions WHERE arn = ?1 AND version_id = ?2",
        (&secret.arn, &version_id),
        |row| row.get(0),
    )?;
    tx.prepare_cached("UPDATE secrets SET accessed_at = ?2 WHERE arn = ?1")?
        .execute((&secret.arn, now.0))?;
    let mut answer = Map::new();
    let (field, content) = match value {
        SecretValue::Text(text) => ("SecretString", text),
        SecretValue::Binary(bytes) => ("SecretBinary", STANDARD.encode(bytes)),
    };
    answer.insert(field.to_owned(), content.into());
    answer.insert(
        "VersionStages".to_owned(),
        stages_of(tx, &secret.arn, &version_id)?.into(),
    );
    answer.insert("VersionId".to_owned(), version_id.into());
    answer.insert("CreatedDate".to_owned(), Millis(created_at).as_epoch_seconds().into());
    answer.insert("ARN".to_owned(), secret.arn.into());
    answer.insert("Name".to_owned(), secret.name.into());
    Ok(Value::Object(answer))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct MoveStageRequest {
    secret_id: String,
    version_stage: String,
    move_to_version_id: Option<String>,
    remove_from_version_id: Option<String>,
}

pub(crate) fn move_stage(tx: &Transaction<'_>, request: MoveStageRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let stage = &request.version_stage;
    let holder = version_at(tx, &secret.arn, stage)?;
    let (to, from) = (request.move_to_version_id, request.remove_from_version_id);
    if let Some(from) = &from
        && holder.as_ref() != Some(from)
    {
        return Err(invalid_parameter(format!(
            "The staging label {stage} isn't attached to version {from}."
        )));
    }
    match to {
        Some(to) => {
            if value_of(tx, &secret.arn, &to)?.is_none() {
                return Err(not_found(format!(
                    "Secrets Manager can't find the specified secret version: {to}."
                )));
            }
            if let Some(holder) = holder.filter(|holder| from.is_none() && *holder != to) {
                return Err(invalid_parameter(format!(
                    "The parameter RemoveFromVersionId can't be empty. Staging label {stage} is currently attached to version {holder}, so you must explicitly reference that version in RemoveFromVersionId."
                )));
            }
            attach(tx, &secret.arn, stage, &to)?;
        }
        None if from.is_none() => {
            return Err(invalid_parameter(
                "You must specify MoveToVersionId, RemoveFromVersionId or both.",
            ));
        }
        None if stage == CURRENT => {
            return Err(invalid_parameter(
                "You can only move staging label AWSCURRENT to a different secret version. It can't be completely removed.",
            ));
        }
        None => {
            tx.execute("DELETE FROM stages WHERE arn = ?1 AND stage = ?2", (&secret.arn, stage))?;
        }
    }
    secret.touch(tx, now)?;
    Ok(json!({"ARN": secret.arn, "Name": secret.name}))
}

pub(crate) fn version_at(tx: &Transaction<'_>, arn: &str, stage: &str) -> Result<Option<String>, AwsError> {
    Ok(tx
        .prepare_cached("SELECT version_id FROM stages WHERE arn = ?1 AND stage = ?2")?
        .query_row((arn, stage), |row| row.get(0))
        .optional()?)
}

pub(crate) fn value_of(tx: &Transaction<'_>, arn: &str, version_id: &str) -> Result<Option<SecretValue>, AwsError> {
    Ok(tx
        .prepare_cached("SELECT text, binary FROM versions WHERE arn = ?1 AND version_id = ?2")?
        .query_row((arn, version_id), |row| {
            Ok(match row.get(0)? {
                Some(text) => SecretValue::Text(text),
                None => SecretValue::Binary(row.get(1)?),
            })
        })
        .optional()?)
}

pub(crate) fn stages_of(tx: &Transaction<'_>, arn: &str, version_id: &str) -> Result<Vec<String>, AwsError> {
    Ok(tx
        .prepare_cached("SELECT stage FROM stages WHERE arn = ?1 AND version_id = ?2 ORDER BY stage")?
        .query_map((arn, version_id), |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}
