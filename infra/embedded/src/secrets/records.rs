//! Finds secrets by name or ARN.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, Transaction};

use super::{invalid_request, not_found};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const COLUMNS: &str = "arn, name, description, kms_key_id, tags, created_at, changed_at, accessed_at, deleted_at";

/// A secret without its values.
pub(crate) struct Secret {
    pub(crate) arn: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) kms_key_id: Option<String>,
    tags: String,
    pub(crate) created_at: Millis,
    pub(crate) changed_at: Millis,
    pub(crate) accessed_at: Option<Millis>,
    pub(crate) deleted_at: Option<Millis>,
}

impl Secret {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Secret> {
        Ok(Secret {
            arn: row.get(0)?,
            name: row.get(1)?,
            description: row.get(2)?,
            kms_key_id: row.get(3)?,
            tags: row.get(4)?,
            created_at: Millis(row.get(5)?),
            changed_at: Millis(row.get(6)?),
            accessed_at: row.get::<_, Option<i64>>(7)?.map(Millis),
            deleted_at: row.get::<_, Option<i64>>(8)?.map(Millis),
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

    /// A secret that exists, even if it waits for its deletion.
    pub(crate) fn read(tx: &Transaction<'_>, id: &str) -> Result<Secret, AwsError> {
        Secret::find(tx, id)?.ok_or_else(|| not_found("Secrets Manager can't find the specified secret."))
    }

    /// A secret that can be used.
    pub(crate) fn read_live(tx: &Transaction<'_>, id: &str) -> Result<Secret, AwsError> {
        let secret = Secret::read(tx, id)?;
        if secret.deleted_at.is_some() {
            return Err(invalid_request(
                "You can't perform this operation on the secret because it was marked for deletion.",
            ));
        }
        Ok(secret)
    }

    /// Every secret, the newest first.
    pub(crate) fn all(tx: &Transaction<'_>) -> Result<Vec<Secret>, AwsError> {
        Ok(tx
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM secrets ORDER BY created_at DESC, rowid DESC"
            ))?
            .query_map([], Secret::from_row)?
            .collect::<Result<_, _>>()?)
    }

    pub(crate) fn tags(&self) -> Result<BTreeMap<String, String>, AwsError> {
        Ok(serde_json::from_str(&self.tags)?)
    }

    pub(crate) fn touch(&self, tx: &Transaction<'_>, now: Millis) -> Result<(), AwsError> {
        tx.prepare_cached("UPDATE secrets SET changed_at = ?2 WHERE arn = ?1")?
            .execute((&self.arn, now.0))?;
        Ok(())
    }
}

/// Removes the secrets whose recovery window has passed.
pub(crate) fn purge_overdue(tx: &Transaction<'_>, now: Millis) -> Result<(), AwsError> {
    tx.prepare_cached("DELETE FROM secrets WHERE purge_at <= ?1")?
        .execute([now.0])?;
    Ok(())
}
