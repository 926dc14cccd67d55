//! Finds secrets by name or ARN, lists and describes them. Responses contain no secret value.

use rusqlite::{OptionalExtension, Row, Transaction};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{NamedRequest, invalid_parameter, invalid_request, not_found};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_PAGE: usize = 100;
const COLUMNS: &str = "arn, name, kms_key_id, created_at, changed_at, accessed_at, deleted_at";

/// A secret without its values.
pub(crate) struct Secret {
    pub(crate) arn: String,
    pub(crate) name: String,
    kms_key_id: Option<String>,
    created_at: Millis,
    changed_at: Millis,
    accessed_at: Option<Millis>,
    pub(crate) deleted_at: Option<Millis>,
}

impl Secret {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Secret> {
        Ok(Secret {
            arn: row.get(0)?,
            name: row.get(1)?,
            kms_key_id: row.get(2)?,
            created_at: Millis(row.get(3)?),
            changed_at: Millis(row.get(4)?),
            accessed_at: row.get::<_, Option<i64>>(5)?.map(Millis),
            deleted_at: row.get::<_, Option<i64>>(6)?.map(Millis),
        })
    }

    /// Finds a secret, deleted ones included, by its name, its ARN, or its ARN without the six random characters.
    pub(crate) fn find(tx: &Transaction<'_>, id: &str) -> Result<Option<Secret>, AwsError> {
        let name = match id.rsplit_once(":secret:") {
            Some((_, name)) if id.starts_with("arn:") => name,
            _ => id,
        };
        Ok(tx
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM secrets WHERE arn = ?1 OR name = ?2 ORDER BY arn = ?1 DESC LIMIT 1"
            ))?
            .query_row((id, name), Secret::from_row)
            .optional()?)
    }

    /// A secret, including one that awaits its deletion.
    pub(crate) fn read(tx: &Transaction<'_>, id: &str) -> Result<Secret, AwsError> {
        Secret::find(tx, id)?.ok_or_else(|| not_found("Secrets Manager can't find the specified secret."))
    }

    /// A secret that is not deleted.
    pub(crate) fn read_live(tx: &Transaction<'_>, id: &str) -> Result<Secret, AwsError> {
        let secret = Secret::read(tx, id)?;
        if secret.deleted_at.is_some() {
            return Err(invalid_request(
                "You can't perform this operation on the secret because it was marked for deletion.",
            ));
        }
        Ok(secret)
    }

    pub(crate) fn touch(&self, tx: &Transaction<'_>, now: Millis) -> Result<(), AwsError> {
        tx.prepare_cached("UPDATE secrets SET changed_at = ?2 WHERE arn = ?1")?
            .execute((&self.arn, now.0))?;
        Ok(())
    }

    fn view(&self) -> Value {
        let mut view = Map::new();
        view.insert("ARN".to_owned(), self.arn.clone().into());
        view.insert("Name".to_owned(), self.name.clone().into());
        if let Some(key) = &self.kms_key_id {
            view.insert("KmsKeyId".to_owned(), key.clone().into());
        }
        for (name, instant) in [
            ("CreatedDate", Some(self.created_at)),
            ("LastChangedDate", Some(self.changed_at)),
            ("LastAccessedDate", self.accessed_at),
            ("DeletedDate", self.deleted_at),
        ] {
            if let Some(instant) = instant {
                view.insert(name.to_owned(), instant.as_epoch_seconds().into());
            }
        }
        Value::Object(view)
    }
}

pub(crate) fn describe(tx: &Transaction<'_>, request: NamedRequest, _now: Millis) -> Result<Value, AwsError> {
    Ok(Secret::read(tx, &request.secret_id)?.view())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct ListRequest {
    #[serde(default)]
    filters: Vec<Filter>,
    max_results: Option<usize>,
    next_token: Option<String>,
}

/// Prefixes of names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Filter {
    key: String,
    values: Vec<String>,
}

/// A page of the live secrets, newest first; the token is the number of secrets on earlier pages.
pub(crate) fn list(tx: &Transaction<'_>, request: ListRequest, _now: Millis) -> Result<Value, AwsError> {
    if let Some(other) = request.filters.iter().find(|filter| filter.key != "name") {
        return Err(invalid_parameter(format!(
            "ListSecrets with the filter {} is not embedded here",
            other.key
        )));
    }
    let limit = request.max_results.unwrap_or(MAX_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(invalid_parameter(format!(
            "MaxResults must be between 1 and {MAX_PAGE}, not {limit}."
        )));
    }
    let mut found: Vec<Secret> = tx
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM secrets WHERE deleted_at IS NULL ORDER BY created_at DESC, rowid DESC"
        ))?
        .query_map([], Secret::from_row)?
        .collect::<Result<_, _>>()?;
    for filter in &request.filters {
        found.retain(|secret| filter.values.iter().any(|value| secret.name.starts_with(value)));
    }
    let start = match &request.next_token {
        Some(token) => token
            .parse()
            .ok()
            .filter(|start| *start <= found.len())
            .ok_or_else(|| AwsError::new("InvalidNextTokenException", "The NextToken value is invalid."))?,
        None => 0,
    };
    let page: Vec<Value> = found[start..].iter().take(limit).map(Secret::view).collect();
    let next = start + page.len();
    let token = (next < found.len()).then(|| next.to_string());
    Ok(json!({"SecretList": page, "NextToken": token}))
}

/// Removes the secrets whose recovery window has passed.
pub(crate) fn purge_overdue(tx: &Transaction<'_>, now: Millis) -> Result<(), AwsError> {
    tx.prepare_cached("DELETE FROM secrets WHERE purge_at <= ?1")?
        .execute([now.0])?;
    Ok(())
}
