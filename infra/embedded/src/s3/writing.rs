//! Writing objects: PUT, copies and deletes.

use bytes::Bytes;
use futures::TryStreamExt;
use s3s::dto::*;
use s3s::{S3Error, S3Request, s3_error};

use super::aws_chunked::Trailers;
use super::backend::Backend;
use super::blobs::Blob;
use super::buckets::{Bucket, Versioning};
use super::checksums::{Algorithm, Promise, set_checksums};
use super::details::{set_encryption, take_details, timestamp};
use super::errors::Failure;
use super::locks::Lock;
use super::objects::{self, Conditions, Content, Inserted, NULL_VERSION, NewVersion, Version, precondition_failed};
use super::tags;
use crate::clock::Millis;

impl Backend {
    pub(crate) async fn put(&self, request: S3Request<PutObjectInput>) -> Result<PutObjectOutput, Failure> {
        let promise = Promise::read(&request.headers, request.extensions.get::<Trailers>());
        let mut input = request.input;
        let now = Millis::now();
        let tags = tags::parse_header(input.tagging.as_deref())?;
        let lock = Lock::given(
            input.object_lock_mode.take(),
            input.object_lock_retain_until_date.as_ref(),
            input.object_lock_legal_hold_status.as_ref(),
        )?;
        let conditions = Conditions {
            if_match: input.if_match.take(),
            if_none_match: input.if_none_match.take(),
        };
        let (bucket, encryption) = self.db.read(|tx| {
            let bucket = Bucket::read(tx, &input.bucket)?;
            let encryption = bucket.default_encryption(tx)?;
            Ok::<_, Failure>((bucket, encryption))
        })?;
        let mut details = take_details!(input, encryption);
        let blob = self.receive(input.body.take(), &promise).await?;
        details.checksums = blob.checksums.clone();
        let etag = hex::encode(blob.md5);
        let content = Content {
            blob: &blob.id,
            size_bytes: blob.size_bytes,
            etag: &etag,
            details: &details,
            tags: &tags,
        };
        let inserted = self.store(&bucket.name, &input.key, content, &lock, &conditions, now)?;

        let mut output = PutObjectOutput {
            e_tag: Some(ETag::Strong(etag.clone())),
            checksum_type: Some(ChecksumType::from_static(details.checksums.kind())),
            version_id: inserted.version_id,
            ..Default::default()
        };
        set_checksums!(output, &details.checksums);
        set_encryption!(output, &details.encryption);
        Ok(output)
    }

    /// Takes a body in and compares it with what the request promised about it.
    pub(crate) async fn receive(&self, body: Option<StreamingBlob>, promise: &Promise) -> Result<Blob, Failure> {
        let mut writer = self.blobs.writer(promise.hasher())?;
        if let Some(mut body) = body {
            let broken = |source: s3s::StdError| S3Error::with_source(s3s::S3ErrorCode::IncompleteBody, source);
            while let Some(chunk) = TryStreamExt::try_next(&mut body).await.map_err(broken)? {
                let chunk: Bytes = chunk;
                writer.write(&chunk)?;
            }
        }
        let blob = writer.finish()?;
        if let Err(error) = promise.check(&blob.md5, &blob.checksums) {
            self.blobs.remove([blob.id]);
            return Err(error.into());
        }
        Ok(blob)
    }

    /// Records a blob as an object, or removes it when that is refused.
    pub(crate) fn store(
        &self,
        bucket: &str,
        key: &str,
        content: Content<'_>,
        lock: &Lock,
        conditions: &Conditions,
        now: Millis,
    ) -> Result<Inserted, Failure> {
        let blob = content.blob.to_owned();
        let stored = self.db.write(|tx| {
            let bucket = Bucket::read(tx, bucket)?;
            conditions.check(Version::find(tx, &bucket.name, key, None)?.as_ref(), key)?;
            let new = NewVersion {
                key,
                content: Some(content),
                lock: Lock::for_new(tx, &bucket, lock, now)?,
            };
            objects::insert(tx, &bucket, &new, now)
        });
        match stored {
            Ok(mut inserted) => {
                self.blobs.remove(inserted.replaced_blob.take());
                Ok(inserted)
            }
            Err(failure) => {
                self.blobs.remove([blob]);
                Err(failure)
            }
        }
    }

    pub(crate) async fn copy(&self, request: S3Request<CopyObjectInput>) -> Result<CopyObjectOutput, Failure> {
        let mut input = request.input;
        let now = Millis::now();
        let CopySource::Bucket {
            bucket: source_bucket,
            key: source_key,
            version_id: source_version,
        } = &input.copy_source
        else {
            return Err(s3_error!(NotImplemented, "only buckets can be copied from").into());
        };
        let lock = Lock::given(
            input.object_lock_mode.take(),
            input.object_lock_retain_until_date.as_ref(),
            input.object_lock_legal_hold_status.as_ref(),
        )?;
        let (source, encryption, blob) = self.db.read(|tx| {
            let source = Version::read(tx, source_bucket, source_key, source_version.as_deref())?;
            if let Some(condition) = &input.copy_source_if_match
                && !objects::matches(condition, &source)
            {
                return Err(precondition_failed("x-amz-copy-source-If-Match").into());
            }
            let target = Bucket::read(tx, &input.bucket)?;
            let encryption = target.default_encryption(tx)?;
            let algorithm = input
                .checksum_algorithm
                .as_ref()
                .and_then(|name| Algorithm::parse(name.as_str()))
                .unwrap_or(Algorithm::Crc64Nvme);
            let bytes = source.blob.clone();
            let blob = self.blobs.concatenate(bytes.as_slice(), algorithm.hasher())?;
            Ok::<_, Failure>((source, encryption, blob))
        })?;
        let replaces = |directive: Option<&str>| directive == Some(MetadataDirective::REPLACE);
        let mut details = if replaces(input.metadata_directive.as_ref().map(|d| d.as_str())) {
            take_details!(input, encryption)
        } else {
            let mut details = source.details()?;
            details.encryption = encryption;
            details
        };
        let tags = if replaces(input.tagging_directive.as_ref().map(|d| d.as_str())) {
            tags::parse_header(input.tagging.as_deref())?
        } else {
            source.tags()?
        };
        details.checksums = blob.checksums.clone();
        details.parts_count = None;
        let etag = hex::encode(blob.md5);
        let content = Content {
            blob: &blob.id,
            size_bytes: blob.size_bytes,
            etag: &etag,
            details: &details,
            tags: &tags,
        };
        let inserted = self.store(&input.bucket, &input.key, content, &lock, &Conditions::default(), now)?;
        let mut result = CopyObjectResult {
            e_tag: Some(ETag::Strong(etag.clone())),
            last_modified: Some(timestamp(now)),
            ..Default::default()
        };
        set_checksums!(result, &details.checksums);
        let mut output = CopyObjectOutput {
            copy_object_result: Some(result),
            copy_source_version_id: (source.version_id != NULL_VERSION).then(|| source.version_id.clone()),
            version_id: inserted.version_id,
            ..Default::default()
        };
        set_encryption!(output, &details.encryption);
        Ok(output)
    }

    pub(crate) async fn delete(&self, request: S3Request<DeleteObjectInput>) -> Result<DeleteObjectOutput, Failure> {
        let bypass = request.input.bypass_governance_retention.unwrap_or(false);
        let input = request.input;
        let target = Target {
            key: input.key,
            version_id: input.version_id,
            if_match: input.if_match,
        };
        let deleted = self.delete_one(&input.bucket, &target, bypass)?;
        Ok(DeleteObjectOutput {
            delete_marker: deleted.is_marker.then_some(true),
            version_id: deleted.version_id,
            ..Default::default()
        })
    }

    pub(crate) async fn delete_many(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> Result<DeleteObjectsOutput, Failure> {
        let input = request.input;
        let bypass = input.bypass_governance_retention.unwrap_or(false);
        let is_quiet = input.delete.quiet.unwrap_or(false);
        let (mut done, mut errors) = (Vec::new(), Vec::new());
        self.db.read(|tx| Bucket::read(tx, &input.bucket))?;
        for object in input.delete.objects {
            let target = Target {
                key: object.key,
                version_id: object.version_id,
                if_match: object.e_tag.map(ETagCondition::ETag),
            };
            match self.delete_one(&input.bucket, &target, bypass) {
                Ok(_) if is_quiet => {}
                Ok(deleted) => done.push(DeletedObject {
                    delete_marker: deleted.is_marker.then_some(true),
                    delete_marker_version_id: deleted.version_id.filter(|_| deleted.is_marker),
                    key: Some(target.key),
                    version_id: target.version_id,
                }),
                Err(failure) => {
                    let error = S3Error::from(failure);
                    errors.push(s3s::dto::Error {
                        code: Some(error.code().as_str().to_owned()),
                        key: Some(target.key),
                        message: error.message().map(str::to_owned),
                        version_id: target.version_id,
                    });
                }
            }
        }
        Ok(DeleteObjectsOutput {
            deleted: Some(done),
            errors: Some(errors),
            ..Default::default()
        })
    }

    /// With a version: removes it for good unless it is locked. Without: hides the object behind a delete marker
    /// where there is versioning.
    fn delete_one(&self, bucket: &str, target: &Target, bypass_governance: bool) -> Result<Deleted, Failure> {
        let now = Millis::now();
        let (deleted, unused) = self.db.write(|tx| {
            let bucket = Bucket::read(tx, bucket)?;
            let found = Version::find(tx, &bucket.name, &target.key, target.version_id.as_deref())?;
            Conditions {
                if_match: target.if_match.clone(),
                if_none_match: None,
            }
            .check(found.as_ref(), &target.key)?;
            if target.version_id.is_none() && bucket.versioning != Versioning::Off {
                let marker = NewVersion {
                    key: &target.key,
                    content: None,
                    lock: Lock::default(),
                };
                let inserted = objects::insert(tx, &bucket, &marker, now)?;
                let deleted = Deleted {
                    is_marker: true,
                    version_id: inserted.version_id,
                };
                return Ok((deleted, inserted.replaced_blob));
            }
            let Some(version) = found else {
                // Deleting what is not there succeeds.
                let deleted = Deleted {
                    is_marker: false,
                    version_id: target.version_id.clone(),
                };
                return Ok((deleted, None));
            };
            version.lock.must_allow_deletion(bypass_governance, now)?;
            objects::remove(tx, &bucket, &version)?;
            let deleted = Deleted {
                is_marker: version.is_delete_marker,
                version_id: target.version_id.clone(),
            };
            Ok::<_, Failure>((deleted, version.blob))
        })?;
        self.blobs.remove(unused);
        Ok(deleted)
    }
}

struct Target {
    key: String,
    version_id: Option<String>,
    if_match: Option<ETagCondition>,
}

struct Deleted {
    /// A delete marker was made, or the version removed was one.
    is_marker: bool,
    version_id: Option<String>,
}
