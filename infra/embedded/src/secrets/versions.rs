//! The values of a secret: the current one, and earlier ones by the client request token of their write.

use rusqlite::{OptionalExtension, Transaction};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::records::Secret;
use super::{NamedRequest, already_exists, invalid_parameter, not_found};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const CURRENT: &str = "AWSCURRENT";
const MAX_VALUE_BYTES: usize = 65_536;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct PutRequest {
    secret_id: String,
    client_request_token: Option<String>,
    secret_string: String,
}

pub(crate) fn put(tx: &Transaction<'_>, request: PutRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let version_id = add(
        tx,
        &secret.arn,
        request.client_request_token,
        &request.secret_string,
        now,
    )?;
    secret.touch(tx, now)?;
    Ok(json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "VersionId": version_id,
        "VersionStages": [CURRENT],
    }))
}

/// Adds a version and makes it current. Repeating a request with the same token changes nothing.
pub(crate) fn add(
    tx: &Transaction<'_>,
    arn: &str,
    token: Option<String>,
    value: &str,
    now: Millis,
) -> Result<String, AwsError> {
    let size = value.len();
    if !(1..=MAX_VALUE_BYTES).contains(&size) {
        return Err(AwsError::new(
            "ValidationException",
            format!("A secret value has 1 to {MAX_VALUE_BYTES} bytes, not {size}."),
        ));
    }
    let version_id = token.unwrap_or_else(|| Uuid::new_v4().to_string());
    if !(32..=64).contains(&version_id.len()) {
        return Err(invalid_parameter(
            "ClientRequestToken must be 32 to 64 characters long.",
        ));
    }
    if let Some(existing) = value_of(tx, arn, &version_id)? {
        return if existing == value {
            Ok(version_id)
        } else {
            Err(already_exists(format!(
                "You can't use ClientRequestToken {version_id} because that value is already in use for a version of secret {arn}."
            )))
        };
    }
    tx.prepare_cached("INSERT INTO versions (arn, version_id, text, created_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute((arn, &version_id, value, now.0))?;
    tx.prepare_cached(
        "INSERT INTO stages (arn, stage, version_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (arn, stage) DO UPDATE SET version_id = excluded.version_id",
    )?
    .execute((arn, CURRENT, &version_id))?;
    Ok(version_id)
}

pub(crate) fn read(tx: &Transaction<'_>, request: NamedRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let current: Option<(String, String, i64)> = tx
        .prepare_cached(
            "SELECT version_id, text, created_at FROM versions JOIN stages USING (arn, version_id)
             WHERE arn = ?1 AND stage = ?2",
        )?
        .query_row((&secret.arn, CURRENT), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let (version_id, text, created_at) =
        current.ok_or_else(|| not_found("Secrets Manager can't find the specified secret value."))?;
    tx.prepare_cached("UPDATE secrets SET accessed_at = ?2 WHERE arn = ?1")?
        .execute((&secret.arn, now.0))?;
    Ok(json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "VersionId": version_id,
        "SecretString": text,
        "VersionStages": [CURRENT],
        "CreatedDate": Millis(created_at).as_epoch_seconds(),
    }))
}

pub(crate) fn value_of(tx: &Transaction<'_>, arn: &str, version_id: &str) -> Result<Option<String>, AwsError> {
    Ok(tx
        .prepare_cached("SELECT text FROM versions WHERE arn = ?1 AND version_id = ?2")?
        .query_row((arn, version_id), |row| row.get(0))
        .optional()?)
}
