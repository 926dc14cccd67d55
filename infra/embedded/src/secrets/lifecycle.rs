//! Creates, updates and deletes secrets.

use rusqlite::Transaction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::records::Secret;
use super::{already_exists, invalid_parameter, invalid_request, password, versions};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const SECONDS_A_DAY: i64 = 86_400;
const MAX_NAME_LENGTH: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct CreateRequest {
    name: String,
    client_request_token: Option<String>,
    kms_key_id: Option<String>,
    secret_string: String,
}

/// Creates a secret. Repeating the request with the same token returns the first response.
pub(crate) fn create(tx: &Transaction<'_>, request: CreateRequest, now: Millis) -> Result<Value, AwsError> {
    check_name(&request.name)?;
    let value = request.secret_string;
    let existing = Secret::find(tx, &request.name)?;
    let arn = match existing {
        Some(secret) if secret.deleted_at.is_some() => {
            return Err(invalid_request(
                "You can't create this secret because a secret with this name is already scheduled for deletion.",
            ));
        }
        Some(secret) => {
            let repeated = match &request.client_request_token {
                Some(token) => versions::value_of(tx, &secret.arn, token)?.as_ref() == Some(&value),
                None => false,
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
            tx.execute(
                "INSERT INTO secrets (arn, name, kms_key_id, tags, created_at, changed_at) VALUES (?1, ?2, ?3, '{}', ?4, ?4)",
                (&arn, &request.name, &request.kms_key_id, now.0),
            )?;
            arn
        }
    };
    let version = versions::add(tx, &arn, request.client_request_token, &value, now)?;
    Ok(json!({"ARN": arn, "Name": request.name, "VersionId": version}))
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
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct UpdateRequest {
    secret_id: String,
    #[serde(rename = "ClientRequestToken")]
    _client_request_token: Option<String>,
    kms_key_id: String,
}

/// Changes the key of a secret. The key encrypts nothing here.
pub(crate) fn update(tx: &Transaction<'_>, request: UpdateRequest, now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read_live(tx, &request.secret_id)?;
    tx.execute(
        "UPDATE secrets SET kms_key_id = ?2 WHERE arn = ?1",
        (&secret.arn, &request.kms_key_id),
    )?;
    secret.touch(tx, now)?;
    Ok(json!({"ARN": secret.arn, "Name": secret.name}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct DeleteRequest {
    secret_id: String,
    recovery_window_in_days: Option<i64>,
}

pub(crate) fn delete(tx: &Transaction<'_>, request: DeleteRequest, now: Millis) -> Result<Value, AwsError> {
    let days = request.recovery_window_in_days.unwrap_or(30);
    if !(7..=30).contains(&days) {
        return Err(invalid_parameter(format!(
            "The RecoveryWindowInDays value must be between 7 and 30 days (inclusive), not {days}."
        )));
    }
    let secret = Secret::read_live(tx, &request.secret_id)?;
    let purge_at = now.plus_seconds(days * SECONDS_A_DAY);
    tx.execute(
        "UPDATE secrets SET deleted_at = ?2, purge_at = ?3 WHERE arn = ?1",
        (&secret.arn, now.0, purge_at.0),
    )?;
    Ok(json!({"ARN": secret.arn, "Name": secret.name, "DeletionDate": purge_at.as_epoch_seconds()}))
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
