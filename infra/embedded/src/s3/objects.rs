//! Object versions: finding them, adding one on a condition, removing one.
//!
//! Every write of an object is one transaction in which its condition is checked, so of any number of conditional
//! writes at the same time exactly one succeeds.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, Transaction};
use s3s::dto::{ETag, ETagCondition};
use s3s::{S3Error, s3_error};
use uuid::Uuid;

use super::buckets::{Bucket, Versioning};
use super::details::Details;
use super::errors::{Failure, no_such_key, no_such_version, on_delete_marker};
use super::locks::{Lock, Retention};
use crate::clock::Millis;

/// The version id of what was written without versioning.
pub(crate) const NULL_VERSION: &str = "null";

const COLUMNS: &str = "seq, key, version_id, is_latest, is_delete_marker, size_bytes, etag, blob, modified_at, \
                       details, tags, retention_mode, retain_until, legal_hold";

pub(crate) type Tags = BTreeMap<String, String>;

/// One version of an object, or a delete marker.
pub(crate) struct Version {
    pub(crate) seq: i64,
    pub(crate) key: String,
    pub(crate) version_id: String,
    pub(crate) is_latest: bool,
    pub(crate) is_delete_marker: bool,
    pub(crate) size_bytes: u64,
    pub(crate) etag: String,
    pub(crate) blob: Option<String>,
    pub(crate) modified_at: Millis,
    details: String,
    tags: String,
    pub(crate) lock: Lock,
}

impl Version {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Version> {
        let mode: Option<String> = row.get(11)?;
        let until: Option<i64> = row.get(12)?;
        let retention = mode.zip(until).map(|(mode, until)| Retention {
            mode,
            until: Millis(until),
        });
        Ok(Version {
            seq: row.get(0)?,
            key: row.get(1)?,
            version_id: row.get(2)?,
            is_latest: row.get(3)?,
            is_delete_marker: row.get(4)?,
            size_bytes: row.get(5)?,
            etag: row.get(6)?,
            blob: row.get(7)?,
            modified_at: Millis(row.get(8)?),
            details: row.get(9)?,
            tags: row.get(10)?,
            lock: Lock {
                retention,
                has_legal_hold: row.get(13)?,
            },
        })
    }

    pub(crate) fn details(&self) -> Result<Details, Failure> {
        Ok(serde_json::from_str(&self.details)?)
    }

    pub(crate) fn tags(&self) -> Result<Tags, Failure> {
        Ok(serde_json::from_str(&self.tags)?)
    }

    pub(crate) fn e_tag(&self) -> ETag {
        ETag::Strong(self.etag.clone())
    }

    /// The version, or the latest; delete markers included.
    pub(crate) fn find(
        tx: &Transaction<'_>,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
    ) -> Result<Option<Version>, Failure> {
        let condition = match version_id {
            Some(_) => "version_id = ?3",
            None => "is_latest AND ?3 IS NULL",
        };
        Ok(tx
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM objects WHERE bucket = ?1 AND key = ?2 AND {condition}"
            ))?
            .query_row((bucket, key, version_id), Version::from_row)
            .optional()?)
    }

    /// The version, or the latest, that has content.
    ///
    /// # Errors
    ///
    /// As a GET answers: `NoSuchBucket`, `NoSuchKey`, `NoSuchVersion`, or for a delete marker that was named
    /// `MethodNotAllowed`.
    pub(crate) fn read(
        tx: &Transaction<'_>,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
    ) -> Result<Version, Failure> {
        Bucket::read(tx, bucket)?;
        let found = Version::find(tx, bucket, key, version_id)?;
        let error = match (found, version_id) {
            (Some(version), _) if !version.is_delete_marker => return Ok(version),
            (Some(marker), Some(_)) => on_delete_marker(
                s3_error!(
                    MethodNotAllowed,
                    "The specified method is not allowed against a delete marker."
                ),
                &marker.version_id,
            ),
            (Some(marker), None) => on_delete_marker(no_such_key(key), &marker.version_id),
            (None, Some(version_id)) => no_such_version(version_id),
            (None, None) => no_such_key(key),
        };
        Err(error.into())
    }

    /// The versions after a place in the order of keys, the newest of each key first.
    pub(crate) fn page(
        tx: &Transaction<'_>,
        bucket: &str,
        from: &PageStart<'_>,
        limit: i64,
    ) -> Result<Vec<Version>, Failure> {
        let condition = match from.all_versions {
            true => "(key > ?2 OR (key = ?2 AND seq < ?3))",
            false => "is_latest AND NOT is_delete_marker AND key > ?2 AND ?3 IS NOT NULL",
        };
        Ok(tx
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM objects WHERE bucket = ?1 AND {condition} AND key >= ?4
                 ORDER BY key, seq DESC LIMIT ?5"
            ))?
            .query_map(
                (bucket, from.after_key, from.before_seq, from.prefix, limit),
                Version::from_row,
            )?
            .collect::<Result<_, _>>()?)
    }
}

/// Where a page of a list begins.
pub(crate) struct PageStart<'a> {
    pub(crate) all_versions: bool,
    pub(crate) prefix: &'a str,
    pub(crate) after_key: &'a str,
    /// With all versions: versions of `after_key` itself that are older than this are still to come.
    pub(crate) before_seq: i64,
}

/// What must hold for a write to take place.
#[derive(Default)]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<ETagCondition>,
    pub(crate) if_none_match: Option<ETagCondition>,
}

impl Conditions {
    pub(crate) fn check(&self, current: Option<&Version>, key: &str) -> Result<(), Failure> {
        let current = current.filter(|version| !version.is_delete_marker);
        if let Some(condition) = &self.if_match {
            let current = current.ok_or_else(|| no_such_key(key))?;
            if !matches(condition, current) {
                return Err(precondition_failed("If-Match").into());
            }
        }
        if let Some(condition) = &self.if_none_match
            && current.is_some_and(|current| matches(condition, current))
        {
            return Err(precondition_failed("If-None-Match").into());
        }
        Ok(())
    }
}

pub(crate) fn matches(condition: &ETagCondition, version: &Version) -> bool {
    match condition {
        ETagCondition::Any => true,
        ETagCondition::ETag(etag) => etag.value() == version.etag,
    }
}

pub(crate) fn precondition_failed(header: &str) -> S3Error {
    s3_error!(
        PreconditionFailed,
        "At least one of the pre-conditions you specified did not hold: {header}"
    )
}

/// A version about to be written.
pub(crate) struct NewVersion<'a> {
    pub(crate) key: &'a str,
    /// `None` makes a delete marker.
    pub(crate) content: Option<Content<'a>>,
    pub(crate) lock: Lock,
}

pub(crate) struct Content<'a> {
    pub(crate) blob: &'a str,
    pub(crate) size_bytes: u64,
    pub(crate) etag: &'a str,
    pub(crate) details: &'a Details,
    pub(crate) tags: &'a Tags,
}

/// A version that was written.
pub(crate) struct Inserted {
    /// None in a bucket without versioning, where S3 does not say one either.
    pub(crate) version_id: Option<String>,
    /// The bytes that no record names any more, to be removed after the transaction.
    pub(crate) replaced_blob: Option<String>,
}

/// Writes a version on top of the others, or in place of the one without a version id.
pub(crate) fn insert(
    tx: &Transaction<'_>,
    bucket: &Bucket,
    new: &NewVersion<'_>,
    now: Millis,
) -> Result<Inserted, Failure> {
    let is_versioned = bucket.versioning == Versioning::Enabled;
    let version_id = match is_versioned {
        true => Uuid::new_v4().simple().to_string(),
        false => NULL_VERSION.to_owned(),
    };
    let mut replaced_blob = None;
    if !is_versioned && let Some(replaced) = Version::find(tx, &bucket.name, new.key, Some(NULL_VERSION))? {
        tx.prepare_cached("DELETE FROM objects WHERE seq = ?1")?
            .execute([replaced.seq])?;
        replaced_blob = replaced.blob;
    }
    tx.prepare_cached("UPDATE objects SET is_latest = 0 WHERE bucket = ?1 AND key = ?2 AND is_latest")?
        .execute((&bucket.name, new.key))?;
    let (no_details, no_tags) = (Details::default(), Tags::new());
    let (blob, size_bytes, etag, details, tags) = match &new.content {
        Some(content) => (
            Some(content.blob),
            content.size_bytes,
            content.etag,
            content.details,
            content.tags,
        ),
        None => (None, 0, "", &no_details, &no_tags),
    };
    tx.prepare_cached(
        "INSERT INTO objects (bucket, key, version_id, is_latest, is_delete_marker, size_bytes, etag, blob,
                              modified_at, details, tags, retention_mode, retain_until, legal_hold)
         VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(rusqlite::params![
        bucket.name,
        new.key,
        version_id,
        new.content.is_none(),
        size_bytes,
        etag,
        blob,
        now.0,
        serde_json::to_string(details)?,
        serde_json::to_string(tags)?,
        new.lock.retention.as_ref().map(|retention| &retention.mode),
        new.lock.retention.as_ref().map(|retention| retention.until.0),
        new.lock.has_legal_hold,
    ])?;
    Ok(Inserted {
        version_id: (bucket.versioning != Versioning::Off).then_some(version_id),
        replaced_blob,
    })
}

/// Removes one version for good; the one before it, if any, becomes the latest.
pub(crate) fn remove(tx: &Transaction<'_>, bucket: &Bucket, version: &Version) -> Result<(), Failure> {
    tx.prepare_cached("DELETE FROM objects WHERE seq = ?1")?
        .execute([version.seq])?;
    if version.is_latest {
        tx.prepare_cached(
            "UPDATE objects SET is_latest = 1
             WHERE seq = (SELECT max(seq) FROM objects WHERE bucket = ?1 AND key = ?2)",
        )?
        .execute((&bucket.name, &version.key))?;
    }
    Ok(())
}
