//! Multipart uploads.

use rusqlite::{OptionalExtension, Transaction};
use s3s::dto::*;
use s3s::{S3Request, s3_error};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::aws_chunked::Trailers;
use super::backend::Backend;
use super::buckets::Bucket;
use super::checksums::{self, Algorithm, Checksums, Promise, set_checksums};
use super::details::{Details, set_encryption, take_details, timestamp};
use super::errors::{Failure, no_such_upload};
use super::locks::{Lock, Retention};
use super::objects::{Conditions, Content, Tags};
use super::parts::{StoredPart, choose, etag_of};
use super::tags;
use crate::clock::Millis;

const MAX_PART_NUMBER: i32 = 10_000;

/// What an upload will become.
#[derive(Deserialize, Serialize)]
struct Plan {
    details: Details,
    tags: Tags,
    /// Mode and milliseconds since the epoch.
    retention: Option<(String, i64)>,
    has_legal_hold: bool,
    algorithm: Algorithm,
    /// Whether the checksum is over the whole object or over the checksums of its parts.
    is_full_object: bool,
}

impl Plan {
    fn lock(&self) -> Lock {
        Lock {
            retention: self.retention.clone().map(|(mode, until)| Retention {
                mode,
                until: Millis(until),
            }),
            has_legal_hold: self.has_legal_hold,
        }
    }
}

struct Upload {
    upload_id: String,
    plan: Plan,
}

impl Upload {
    /// # Errors
    ///
    /// `NoSuchUpload`, also when bucket or key are not the upload's.
    fn read(tx: &Transaction<'_>, bucket: &str, key: &str, upload_id: &str) -> Result<Upload, Failure> {
        Bucket::read(tx, bucket)?;
        let plan: Option<String> = tx
            .prepare_cached("SELECT plan FROM uploads WHERE upload_id = ?1 AND bucket = ?2 AND key = ?3")?
            .query_row((upload_id, bucket, key), |row| row.get(0))
            .optional()?;
        let plan = plan.ok_or_else(|| no_such_upload(upload_id))?;
        Ok(Upload {
            upload_id: upload_id.to_owned(),
            plan: serde_json::from_str(&plan)?,
        })
    }

    fn parts(&self, tx: &Transaction<'_>) -> Result<Vec<StoredPart>, Failure> {
        Ok(tx
            .prepare_cached(
                "SELECT number, blob, size_bytes, etag, checksums, modified_at FROM parts WHERE upload_id = ?1 ORDER BY number",
            )?
            .query_map([&self.upload_id], StoredPart::from_row)?
            .collect::<Result<_, _>>()?)
    }

    fn remove(&self, tx: &Transaction<'_>) -> Result<(), Failure> {
        tx.execute("DELETE FROM uploads WHERE upload_id = ?1", [&self.upload_id])?;
        Ok(())
    }
}

impl Backend {
    pub(crate) async fn begin_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> Result<CreateMultipartUploadOutput, Failure> {
        let mut input = request.input;
        let tags = tags::parse_header(input.tagging.as_deref())?;
        let lock = Lock::given(
            input.object_lock_mode.take(),
            input.object_lock_retain_until_date.as_ref(),
            input.object_lock_legal_hold_status.as_ref(),
        )?;
        let algorithm = input
            .checksum_algorithm
            .as_ref()
            .and_then(|name| Algorithm::parse(name.as_str()))
            .unwrap_or(Algorithm::Crc64Nvme);
        let kind = input.checksum_type.as_ref().map(ChecksumType::as_str);
        let is_full_object = kind == Some(checksums::FULL_OBJECT) || algorithm == Algorithm::Crc64Nvme;
        let upload_id = Uuid::new_v4().simple().to_string();
        let encryption = self.db.write(|tx| {
            let bucket = Bucket::read(tx, &input.bucket)?;
            let details = take_details!(input, bucket.default_encryption(tx)?);
            let encryption = details.encryption.clone();
            let plan = Plan {
                details,
                tags,
                retention: lock.retention.map(|retention| (retention.mode, retention.until.0)),
                has_legal_hold: lock.has_legal_hold,
                algorithm,
                is_full_object,
            };
            tx.execute(
                "INSERT INTO uploads (upload_id, bucket, key, begun_at, plan) VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    &upload_id,
                    &bucket.name,
                    &input.key,
                    Millis::now().0,
                    serde_json::to_string(&plan)?,
                ),
            )?;
            Ok::<_, Failure>(encryption)
        })?;
        let kind = match is_full_object {
            true => checksums::FULL_OBJECT,
            false => checksums::COMPOSITE,
        };
        let mut output = CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(upload_id),
            checksum_algorithm: Some(ChecksumAlgorithm::from_static(algorithm.name())),
            checksum_type: Some(ChecksumType::from_static(kind)),
            ..Default::default()
        };
        set_encryption!(output, &encryption);
        Ok(output)
    }

    pub(crate) async fn upload_part(&self, request: S3Request<UploadPartInput>) -> Result<UploadPartOutput, Failure> {
        let promise = Promise::read(&request.headers, request.extensions.get::<Trailers>());
        let mut input = request.input;
        if !(1..=MAX_PART_NUMBER).contains(&input.part_number) {
            return Err(s3_error!(
                InvalidArgument,
                "Part number must be an integer between 1 and {MAX_PART_NUMBER}, not {}",
                input.part_number
            )
            .into());
        }
        let upload = self
            .db
            .read(|tx| Upload::read(tx, &input.bucket, &input.key, &input.upload_id))?;
        let blob = self.receive(input.body.take(), &promise).await?;
        let etag = hex::encode(blob.md5);
        let recorded = self.db.write(|tx| {
            // The upload may have been completed while the part came in.
            Upload::read(tx, &input.bucket, &input.key, &input.upload_id)?;
            let replaced: Option<String> = tx
                .query_row(
                    "SELECT blob FROM parts WHERE upload_id = ?1 AND number = ?2",
                    (&input.upload_id, input.part_number),
                    |row| row.get(0),
                )
                .optional()?;
            tx.execute(
                "INSERT OR REPLACE INTO parts (upload_id, number, blob, size_bytes, etag, checksums, modified_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    &input.upload_id,
                    input.part_number,
                    &blob.id,
                    blob.size_bytes,
                    &etag,
                    serde_json::to_string(&blob.checksums)?,
                    Millis::now().0,
                ),
            )?;
            Ok::<_, Failure>(replaced)
        });
        match recorded {
            Ok(replaced) => self.blobs.remove(replaced),
            Err(failure) => {
                self.blobs.remove([blob.id]);
                return Err(failure);
            }
        }
        let mut output = UploadPartOutput {
            e_tag: Some(ETag::Strong(etag)),
            ..Default::default()
        };
        set_checksums!(output, &blob.checksums);
        set_encryption!(output, &upload.plan.details.encryption);
        Ok(output)
    }

    pub(crate) async fn complete_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> Result<CompleteMultipartUploadOutput, Failure> {
        let input = request.input;
        let now = Millis::now();
        let (upload, stored) = self.db.read(|tx| {
            let upload = Upload::read(tx, &input.bucket, &input.key, &input.upload_id)?;
            let parts = upload.parts(tx)?;
            Ok::<_, Failure>((upload, parts))
        })?;
        let named = input.multipart_upload.and_then(|upload| upload.parts);
        let chosen = choose(&stored, &named.unwrap_or_default())?;
        let blobs: Vec<String> = chosen.iter().map(|part| part.blob.clone()).collect();
        let algorithm = upload.plan.algorithm;
        let blob = self.blobs.concatenate(&blobs, algorithm.hasher())?;

        let mut details = upload.plan.details.clone();
        details.parts_count = i32::try_from(chosen.len()).ok();
        details.checksums = match upload.plan.is_full_object {
            true => blob.checksums.clone(),
            false => {
                let of_parts: Vec<Checksums> = chosen.iter().map(|part| part.checksums()).collect::<Result<_, _>>()?;
                // Parts that came without this checksum leave none to make one of.
                checksums::composite(algorithm, &of_parts).unwrap_or_default()
            }
        };
        let etag = etag_of(&chosen);
        let content = Content {
            blob: &blob.id,
            size_bytes: blob.size_bytes,
            etag: &etag,
            details: &details,
            tags: &upload.plan.tags,
        };
        let conditions = Conditions {
            if_match: input.if_match,
            if_none_match: input.if_none_match,
        };
        let inserted = self.store(
            &input.bucket,
            &input.key,
            content,
            &upload.plan.lock(),
            &conditions,
            now,
        )?;
        self.db.write(|tx| upload.remove(tx))?;
        self.blobs.remove(stored.into_iter().map(|part| part.blob));

        let mut output = CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(ETag::Strong(etag.clone())),
            checksum_type: Some(ChecksumType::from_static(details.checksums.kind())),
            version_id: inserted.version_id,
            ..Default::default()
        };
        set_checksums!(output, &details.checksums);
        set_encryption!(output, &details.encryption);
        Ok(output)
    }

    pub(crate) async fn abort_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> Result<AbortMultipartUploadOutput, Failure> {
        let input = request.input;
        let parts = self.db.write(|tx| {
            let upload = Upload::read(tx, &input.bucket, &input.key, &input.upload_id)?;
            let parts = upload.parts(tx)?;
            upload.remove(tx)?;
            Ok::<_, Failure>(parts)
        })?;
        self.blobs.remove(parts.into_iter().map(|part| part.blob));
        Ok(AbortMultipartUploadOutput::default())
    }

    pub(crate) async fn list_parts(&self, request: S3Request<ListPartsInput>) -> Result<ListPartsOutput, Failure> {
        let input = request.input;
        let after = input.part_number_marker.unwrap_or(0);
        let limit = usize::try_from(input.max_parts.unwrap_or(1000).clamp(0, 1000)).unwrap_or(0);
        let mut parts = self
            .db
            .read(|tx| Upload::read(tx, &input.bucket, &input.key, &input.upload_id)?.parts(tx))?;
        parts.retain(|part| part.number > after);
        let is_truncated = parts.len() > limit;
        parts.truncate(limit);
        let next = parts.last().filter(|_| is_truncated).map(|part| part.number);
        let mut views = Vec::with_capacity(parts.len());
        for part in parts {
            let mut view = Part {
                e_tag: Some(ETag::Strong(part.etag.clone())),
                last_modified: Some(timestamp(part.modified_at)),
                part_number: Some(part.number),
                size: i64::try_from(part.size_bytes).ok(),
                ..Default::default()
            };
            set_checksums!(view, &part.checksums()?);
            views.push(view);
        }
        Ok(ListPartsOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(input.upload_id),
            parts: Some(views),
            is_truncated: Some(is_truncated),
            next_part_number_marker: next,
            ..Default::default()
        })
    }

    pub(crate) async fn list_uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> Result<ListMultipartUploadsOutput, Failure> {
        let input = request.input;
        let prefix = input.prefix.clone().unwrap_or_default();
        let uploads: Vec<MultipartUpload> = self.db.read(|tx| {
            Bucket::read(tx, &input.bucket)?;
            let mut statement = tx.prepare_cached(
                "SELECT upload_id, key, begun_at FROM uploads
                 WHERE bucket = ?1 AND substr(key, 1, length(?2)) = ?2 ORDER BY key, begun_at",
            )?;
            let rows = statement.query_map((&input.bucket, &prefix), |row| {
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
            bucket: Some(input.bucket),
            prefix: input.prefix,
            uploads: Some(uploads),
            is_truncated: Some(false),
            ..Default::default()
        })
    }
}
