//! Multipart uploads: parts that become one object.

use md5::{Digest, Md5};
use rusqlite::{OptionalExtension, Row, Transaction};
use s3s::dto::*;
use s3s::{S3Request, s3_error};
use uuid::Uuid;

use super::backend::Backend;
use super::buckets;
use super::errors::{Failure, no_such_upload};
use super::objects::{Stored, etag_of, received, timestamp};
use crate::clock::Millis;

const MAX_PART_NUMBER: i32 = 10_000;
/// Minimum size of every part except the last.
const MIN_PART_BYTES: u64 = 5 * 1024 * 1024;

/// The content type of an open upload, empty if none was given.
///
/// # Errors
///
/// `NoSuchUpload`, also when the upload belongs to another bucket or key.
fn content_type(tx: &Transaction<'_>, bucket: &str, key: &str, upload_id: &str) -> Result<String, Failure> {
    buckets::must_exist(tx, bucket)?;
    tx.prepare_cached("SELECT plan FROM uploads WHERE upload_id = ?1 AND bucket = ?2 AND key = ?3")?
        .query_row((upload_id, bucket, key), |row| row.get(0))
        .optional()?
        .ok_or_else(|| no_such_upload(upload_id).into())
}

struct StoredPart {
    number: i32,
    blob: String,
    size_bytes: u64,
    etag: String,
}

impl StoredPart {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredPart> {
        Ok(StoredPart {
            number: row.get(0)?,
            blob: row.get(1)?,
            size_bytes: row.get(2)?,
            etag: row.get(3)?,
        })
    }

    fn all(tx: &Transaction<'_>, upload_id: &str) -> Result<Vec<StoredPart>, Failure> {
        Ok(tx
            .prepare_cached("SELECT number, blob, size_bytes, etag FROM parts WHERE upload_id = ?1")?
            .query_map([upload_id], StoredPart::from_row)?
            .collect::<Result<_, _>>()?)
    }
}

/// The stored parts that the request names. Part numbers must be ascending.
fn choose<'a>(stored: &'a [StoredPart], named: &[CompletedPart]) -> Result<Vec<&'a StoredPart>, Failure> {
    let mut chosen: Vec<&StoredPart> = Vec::with_capacity(named.len());
    for part in named {
        let number = part.part_number.unwrap_or_default();
        if chosen.last().is_some_and(|last| last.number >= number) {
            let error = s3_error!(
                InvalidPartOrder,
                "The list of parts was not in ascending order at part {number}."
            );
            return Err(error.into());
        }
        let found = stored.iter().find(|stored| {
            let etag_fits = part.e_tag.as_ref().is_some_and(|etag| etag.value() == stored.etag);
            stored.number == number && etag_fits
        });
        chosen.push(found.ok_or_else(|| {
            s3_error!(
                InvalidPart,
                "Part {number} could not be found, or its entity tag does not match."
            )
        })?);
    }
    let Some((_, all_but_last)) = chosen.split_last() else {
        return Err(s3_error!(MalformedXML, "You must specify at least one part").into());
    };
    if let Some(small) = all_but_last.iter().find(|part| part.size_bytes < MIN_PART_BYTES) {
        let error = s3_error!(
            EntityTooSmall,
            "Part {} has {} bytes, less than the minimum of {MIN_PART_BYTES}.",
            small.number,
            small.size_bytes
        );
        return Err(error.into());
    }
    Ok(chosen)
}

/// The MD5 digest of the parts' digests, and the number of parts.
fn etag_of_parts(parts: &[&StoredPart]) -> String {
    let mut md5 = Md5::new();
    for part in parts {
        // `hex::encode` wrote the text, so decoding cannot fail.
        md5.update(hex::decode(&part.etag).unwrap_or_default());
    }
    format!("{}-{}", hex::encode(md5.finalize()), parts.len())
}

impl Backend {
    pub(crate) async fn begin_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> Result<CreateMultipartUploadOutput, Failure> {
        let input = request.input;
        let upload_id = Uuid::new_v4().simple().to_string();
        self.db.write(|tx| {
            buckets::must_exist(tx, &input.bucket)?;
            tx.execute(
                "INSERT INTO uploads (upload_id, bucket, key, begun_at, plan) VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    &upload_id,
                    &input.bucket,
                    &input.key,
                    Millis::now().0,
                    input.content_type.unwrap_or_default(),
                ),
            )?;
            Ok::<_, Failure>(())
        })?;
        Ok(CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(upload_id),
            ..Default::default()
        })
    }

    pub(crate) async fn upload_part(&self, request: S3Request<UploadPartInput>) -> Result<UploadPartOutput, Failure> {
        let input = request.input;
        if !(1..=MAX_PART_NUMBER).contains(&input.part_number) {
            let error = s3_error!(
                InvalidArgument,
                "Part number must be an integer between 1 and {MAX_PART_NUMBER}, not {}",
                input.part_number
            );
            return Err(error.into());
        }
        let bytes = received(input.body).await?;
        let (blob, etag) = (self.blobs.write(&bytes)?, etag_of(&bytes));
        let replaced = self.db.write(|tx| {
            content_type(tx, &input.bucket, &input.key, &input.upload_id)?;
            let replaced: Option<String> = tx
                .prepare_cached("DELETE FROM parts WHERE upload_id = ?1 AND number = ?2 RETURNING blob")?
                .query_row((&input.upload_id, input.part_number), |row| row.get(0))
                .optional()?;
            tx.execute(
                "INSERT INTO parts (upload_id, number, blob, size_bytes, etag, checksums, modified_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, '{}', ?6)",
                (
                    &input.upload_id,
                    input.part_number,
                    &blob,
                    bytes.len() as u64,
                    &etag,
                    Millis::now().0,
                ),
            )?;
            Ok::<_, Failure>(replaced)
        });
        match replaced {
            Ok(replaced) => self.blobs.remove(replaced),
            Err(failure) => {
                self.blobs.remove([blob]);
                return Err(failure);
            }
        }
        Ok(UploadPartOutput {
            e_tag: Some(ETag::Strong(etag)),
            ..Default::default()
        })
    }

    pub(crate) async fn complete_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> Result<CompleteMultipartUploadOutput, Failure> {
        let input = request.input;
        let (content_type, stored) = self.db.read(|tx| {
            let content_type = content_type(tx, &input.bucket, &input.key, &input.upload_id)?;
            Ok::<_, Failure>((content_type, StoredPart::all(tx, &input.upload_id)?))
        })?;
        let named = input.multipart_upload.and_then(|upload| upload.parts);
        let chosen = choose(&stored, &named.unwrap_or_default())?;
        let etag = etag_of_parts(&chosen);
        let object = Stored {
            key: input.key,
            blob: self.blobs.concatenate(chosen.iter().map(|part| part.blob.as_str()))?,
            size_bytes: chosen.iter().map(|part| part.size_bytes).sum(),
            etag: etag.clone(),
            content_type: (!content_type.is_empty()).then_some(content_type),
            modified_at: Millis::now(),
        };
        self.store(&input.bucket, &object)?;
        self.forget(&input.upload_id, stored)?;
        Ok(CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, object.key)),
            bucket: Some(input.bucket),
            key: Some(object.key),
            e_tag: Some(ETag::Strong(etag)),
            ..Default::default()
        })
    }

    pub(crate) async fn abort_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> Result<AbortMultipartUploadOutput, Failure> {
        let input = request.input;
        let parts = self.db.read(|tx| {
            content_type(tx, &input.bucket, &input.key, &input.upload_id)?;
            StoredPart::all(tx, &input.upload_id)
        })?;
        self.forget(&input.upload_id, parts)?;
        Ok(AbortMultipartUploadOutput::default())
    }

    fn forget(&self, upload_id: &str, parts: Vec<StoredPart>) -> Result<(), Failure> {
        self.db.write(|tx| {
            tx.execute("DELETE FROM uploads WHERE upload_id = ?1", [upload_id])?;
            Ok::<_, Failure>(())
        })?;
        self.blobs.remove(parts.into_iter().map(|part| part.blob));
        Ok(())
    }

    pub(crate) async fn list_uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> Result<ListMultipartUploadsOutput, Failure> {
        let bucket = request.input.bucket;
        let uploads: Vec<MultipartUpload> = self.db.read(|tx| {
            buckets::must_exist(tx, &bucket)?;
            let mut statement = tx.prepare_cached(
                "SELECT upload_id, key, begun_at FROM uploads WHERE bucket = ?1 ORDER BY key, begun_at",
            )?;
            let rows = statement.query_map([&bucket], |row| {
                Ok(MultipartUpload {
                    upload_id: Some(row.get(0)?),
                    key: Some(row.get(1)?),
                    initiated: Some(timestamp(Millis(row.get(2)?))),
                    ..Default::default()
                })
            })?;
            Ok::<_, Failure>(rows.collect::<Result<_, _>>()?)
        })?;
        Ok(ListMultipartUploadsOutput {
            bucket: Some(bucket),
            uploads: Some(uploads),
            is_truncated: Some(false),
            ..Default::default()
        })
    }
}
