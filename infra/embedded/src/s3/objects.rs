//! Objects: writing, reading, deleting and listing. A key has only its last write; versions are not supported.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures::TryStreamExt;
use md5::{Digest, Md5};
use rusqlite::{OptionalExtension, Row, Transaction};
use s3s::dto::*;
use s3s::{S3Error, S3Request, s3_error};

use super::backend::Backend;
use super::buckets;
use super::errors::{Failure, no_such_key};
use crate::clock::Millis;

const MAX_KEYS: i32 = 1000;
const COLUMNS: &str = "key, blob, size_bytes, etag, json_extract(details, '$.content_type'), modified_at";
/// Excludes rows of an earlier version of this program: replaced versions and delete markers.
const IS_OBJECT: &str = "is_latest AND NOT is_delete_marker";

pub(crate) struct Stored {
    pub(crate) key: String,
    pub(crate) blob: String,
    pub(crate) size_bytes: u64,
    pub(crate) etag: String,
    pub(crate) content_type: Option<String>,
    pub(crate) modified_at: Millis,
}

impl Stored {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Stored> {
        Ok(Stored {
            key: row.get(0)?,
            blob: row.get(1)?,
            size_bytes: row.get(2)?,
            etag: row.get(3)?,
            content_type: row.get(4)?,
            modified_at: Millis(row.get(5)?),
        })
    }

    /// # Errors
    ///
    /// `NoSuchBucket` and `NoSuchKey`.
    fn read(tx: &Transaction<'_>, bucket: &str, key: &str) -> Result<Stored, Failure> {
        buckets::must_exist(tx, bucket)?;
        tx.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM objects WHERE bucket = ?1 AND key = ?2 AND {IS_OBJECT}"
        ))?
        .query_row((bucket, key), Stored::from_row)
        .optional()?
        .ok_or_else(|| no_such_key(key).into())
    }

    fn insert(&self, tx: &Transaction<'_>, bucket: &str) -> Result<(), Failure> {
        // An earlier version of this program reads the members of `details` that are empty here.
        tx.prepare_cached(
            "INSERT INTO objects (bucket, key, blob, size_bytes, etag, details, modified_at,
                                  version_id, is_latest, is_delete_marker, tags, legal_hold)
             VALUES (?1, ?2, ?3, ?4, ?5,
                     json_object('content_type', ?6, 'metadata', json('{}'), 'checksums', json('{\"composite\":false}'),
                                 'encryption', json('{\"algorithm\":\"AES256\"}')),
                     ?7, 'null', 1, 0, '{}', 0)",
        )?
        .execute((
            bucket,
            &self.key,
            &self.blob,
            self.size_bytes,
            &self.etag,
            &self.content_type,
            self.modified_at.0,
        ))?;
        Ok(())
    }

    fn view(self) -> Object {
        Object {
            e_tag: Some(ETag::Strong(self.etag)),
            last_modified: Some(timestamp(self.modified_at)),
            size: i64::try_from(self.size_bytes).ok(),
            storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
            key: Some(self.key),
            ..Default::default()
        }
    }
}

/// Deletes every row of a key and returns the names of their blobs, which no record names any more.
fn remove(tx: &Transaction<'_>, bucket: &str, key: &str) -> Result<Vec<String>, Failure> {
    let blobs: Vec<Option<String>> = tx
        .prepare_cached("DELETE FROM objects WHERE bucket = ?1 AND key = ?2 RETURNING blob")?
        .query_map((bucket, key), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(blobs.into_iter().flatten().collect())
}

/// Reads a whole body.
pub(crate) async fn received(body: Option<StreamingBlob>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    if let Some(mut body) = body {
        let broken = |source: s3s::StdError| S3Error::with_source(s3s::S3ErrorCode::IncompleteBody, source);
        while let Some(chunk) = TryStreamExt::try_next(&mut body).await.map_err(broken)? {
            let chunk: Bytes = chunk;
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok(bytes)
}

pub(crate) fn etag_of(bytes: &[u8]) -> String {
    hex::encode(Md5::digest(bytes))
}

pub(crate) fn timestamp(at: Millis) -> Timestamp {
    Timestamp::from(at.as_system_time())
}

impl Backend {
    pub(crate) async fn put(&self, request: S3Request<PutObjectInput>) -> Result<PutObjectOutput, Failure> {
        let input = request.input;
        let bytes = received(input.body).await?;
        let etag = etag_of(&bytes);
        let object = Stored {
            key: input.key,
            blob: self.blobs.write(&bytes)?,
            size_bytes: bytes.len() as u64,
            etag: etag.clone(),
            content_type: input.content_type,
            modified_at: Millis::now(),
        };
        self.store(&input.bucket, &object)?;
        Ok(PutObjectOutput {
            e_tag: Some(ETag::Strong(etag)),
            ..Default::default()
        })
    }

    /// Replaces the object's record, or removes the new blob when the write fails.
    pub(crate) fn store(&self, bucket: &str, object: &Stored) -> Result<(), Failure> {
        let replaced = self.db.write(|tx| {
            buckets::must_exist(tx, bucket)?;
            let replaced = remove(tx, bucket, &object.key)?;
            object.insert(tx, bucket)?;
            Ok(replaced)
        });
        match replaced {
            Ok(replaced) => {
                self.blobs.remove(replaced);
                Ok(())
            }
            Err(failure) => {
                self.blobs.remove([object.blob.clone()]);
                Err(failure)
            }
        }
    }

    pub(crate) async fn get(&self, request: S3Request<GetObjectInput>) -> Result<GetObjectOutput, Failure> {
        let input = request.input;
        // The file is opened inside the transaction, so that a concurrent delete cannot intervene.
        let (object, body) = self.db.read(|tx| {
            let object = Stored::read(tx, &input.bucket, &input.key)?;
            let body = self.blobs.read(&object.blob)?;
            Ok::<_, Failure>((object, body))
        })?;
        Ok(GetObjectOutput {
            body: Some(body),
            content_length: i64::try_from(object.size_bytes).ok(),
            content_type: object.content_type.or_else(|| Some("binary/octet-stream".to_owned())),
            e_tag: Some(ETag::Strong(object.etag)),
            last_modified: Some(timestamp(object.modified_at)),
            ..Default::default()
        })
    }

    /// Deleting a missing object succeeds.
    pub(crate) async fn delete(&self, request: S3Request<DeleteObjectInput>) -> Result<DeleteObjectOutput, Failure> {
        let input = request.input;
        let removed = self.db.write(|tx| {
            buckets::must_exist(tx, &input.bucket)?;
            remove(tx, &input.bucket, &input.key)
        })?;
        self.blobs.remove(removed);
        Ok(DeleteObjectOutput::default())
    }

    pub(crate) async fn list(&self, request: S3Request<ListObjectsV2Input>) -> Result<ListObjectsV2Output, Failure> {
        let input = request.input;
        let max_keys = input.max_keys.unwrap_or(MAX_KEYS);
        let limit = usize::try_from(max_keys.min(MAX_KEYS))
            .map_err(|_| s3_error!(InvalidArgument, "max-keys must not be negative: {max_keys}"))?;
        let after = match &input.continuation_token {
            Some(token) => URL_SAFE_NO_PAD
                .decode(token)
                .ok()
                .and_then(|key| String::from_utf8(key).ok())
                .ok_or_else(|| s3_error!(InvalidArgument, "The continuation token provided is incorrect"))?,
            None => String::new(),
        };
        let mut found: Vec<Stored> = self.db.read(|tx| {
            buckets::must_exist(tx, &input.bucket)?;
            let mut statement = tx.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM objects
                 WHERE bucket = ?1 AND key > ?2 AND substr(key, 1, length(?3)) = ?3 AND {IS_OBJECT}
                 ORDER BY key LIMIT ?4"
            ))?;
            let prefix = input.prefix.as_deref().unwrap_or_default();
            let rows = statement.query_map((&input.bucket, after, prefix, limit + 1), Stored::from_row)?;
            Ok::<_, Failure>(rows.collect::<Result<_, _>>()?)
        })?;
        let is_truncated = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| is_truncated);
        Ok(ListObjectsV2Output {
            next_continuation_token: last.map(|last| URL_SAFE_NO_PAD.encode(&last.key)),
            is_truncated: Some(is_truncated),
            key_count: i32::try_from(found.len()).ok(),
            max_keys: Some(max_keys),
            contents: Some(found.into_iter().map(Stored::view).collect()),
            name: Some(input.bucket),
            prefix: input.prefix,
            continuation_token: input.continuation_token,
            ..Default::default()
        })
    }
}
