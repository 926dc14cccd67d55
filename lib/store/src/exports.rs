//! Archives in S3: written in parts while they are built, and read as a stream.
//!
//! An archive's name contains the hash of its content, so an archive with the same content is reused. No record refers
//! to an archive: it expires after some weeks (`infra/storage.yaml`) and can be built again.

use aws_sdk_s3::{
    Client,
    operation::get_object::GetObjectError,
    primitives::ByteStream,
    types::{CompletedMultipartUpload, CompletedPart},
};
use bytes::{Bytes, BytesMut};

use crate::{ContentHash, StoreError, ids::Scope};

/// Size of a part: the minimum of S3. With its limit of 10,000 parts an archive has up to 50 GB.
const PART_BYTES: usize = 5 * 1024 * 1024;
const CONTENT_TYPE: &str = "application/zip";

/// The archives of companies.
#[derive(Debug, Clone)]
pub struct Exports {
    client: Client,
    bucket: String,
}

/// A stored archive.
#[derive(Debug)]
pub struct StoredExport {
    pub size_bytes: u64,
    body: ByteStream,
}

impl StoredExport {
    /// The next chunk of the archive.
    ///
    /// # Errors
    /// Fails when the transfer breaks off.
    pub async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let piece = self.body.next().await.transpose();
        piece.map_err(|error| StoreError::retry("read export", error))
    }
}

impl Exports {
    /// Archives in this bucket.
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self {
            client,
            bucket: bucket.into(),
        }
    }

    /// The object name of the archive with this content.
    pub fn object(scope: &Scope, content: &ContentHash) -> String {
        format!(
            "exports/{}/{}/{content}.zip",
            scope.company,
            scope.environment.path_segment()
        )
    }

    /// The archive with this content, if it exists.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn find(&self, scope: &Scope, content: &ContentHash) -> Result<Option<StoredExport>, StoreError> {
        let key = Self::object(scope, content);
        match self.client.get_object().bucket(&self.bucket).key(key).send().await {
            Ok(answer) => Ok(Some(StoredExport {
                size_bytes: answer.content_length.and_then(|size| size.try_into().ok()).unwrap_or(0),
                body: answer.body,
            })),
            Err(error) if matches!(error.as_service_error(), Some(GetObjectError::NoSuchKey(_))) => Ok(None),
            Err(error) => Err(StoreError::from_sdk("read export", error)),
        }
    }

    /// Begins an archive. It exists only after [`ExportUpload::complete`].
    pub fn begin(&self, scope: &Scope, content: &ContentHash) -> ExportUpload {
        ExportUpload {
            exports: self.clone(),
            key: Self::object(scope, content),
            waiting: BytesMut::new(),
            upload_id: None,
            parts: Vec::new(),
        }
    }
}

/// An archive that is being written.
#[derive(Debug)]
pub struct ExportUpload {
    exports: Exports,
    key: String,
    waiting: BytesMut,
    /// Absent until the first part is full, because a small archive is a single request.
    upload_id: Option<String>,
    parts: Vec<CompletedPart>,
}

impl ExportUpload {
    /// Appends bytes.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            if self.waiting.capacity() == 0 {
                // Allocated at once, because a growing buffer briefly exists twice.
                self.waiting.reserve(PART_BYTES);
            }
            let fitting = bytes.len().min(PART_BYTES - self.waiting.len());
            let (now, later) = bytes.split_at(fitting);
            self.waiting.extend_from_slice(now);
            bytes = later;
            if self.waiting.len() == PART_BYTES {
                let part = std::mem::take(&mut self.waiting).freeze();
                self.put_part(part).await?;
            }
        }
        Ok(())
    }

    /// Completes the archive.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn complete(mut self) -> Result<(), StoreError> {
        let rest = self.waiting.split().freeze();
        let Some(upload_id) = self.upload_id.clone() else {
            let request = self.exports.client.put_object().bucket(&self.exports.bucket);
            let request = request.key(&self.key).content_type(CONTENT_TYPE);
            let sent = request.body(ByteStream::from(rest)).send().await;
            sent.map_err(|error| StoreError::from_sdk("write export", error))?;
            return Ok(());
        };
        if !rest.is_empty() {
            self.put_part(rest).await?;
        }
        let parts = std::mem::take(&mut self.parts);
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let request = self.exports.client.complete_multipart_upload();
        let request = request.bucket(&self.exports.bucket).key(&self.key);
        let sent = request.upload_id(upload_id).multipart_upload(parts).send().await;
        sent.map_err(|error| StoreError::from_sdk("complete export", error))?;
        Ok(())
    }

    /// Aborts the archive. The bucket's rule for incomplete uploads removes parts that remain after a failure.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn abort(self) -> Result<(), StoreError> {
        let Some(upload_id) = self.upload_id else {
            return Ok(());
        };
        let request = self.exports.client.abort_multipart_upload();
        let request = request.bucket(&self.exports.bucket).key(&self.key);
        let sent = request.upload_id(upload_id).send().await;
        sent.map_err(|error| StoreError::from_sdk("abort export", error))?;
        Ok(())
    }

    async fn put_part(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let upload_id = match &self.upload_id {
            Some(upload_id) => upload_id.clone(),
            None => {
                let request = self.exports.client.create_multipart_upload();
                let request = request.bucket(&self.exports.bucket).key(&self.key);
                let begun = request.content_type(CONTENT_TYPE).send().await;
                let begun = begun.map_err(|error| StoreError::from_sdk("begin export", error))?;
                let id = begun.upload_id;
                let id = id.ok_or_else(|| StoreError::unexpected("begin export", "the answer has no upload id"))?;
                self.upload_id.insert(id).clone()
            }
        };
        let number =
            i32::try_from(self.parts.len() + 1).map_err(|error| StoreError::unexpected("write export", error))?;
        let request = self
            .exports
            .client
            .upload_part()
            .bucket(&self.exports.bucket)
            .key(&self.key);
        let request = request.upload_id(upload_id).part_number(number);
        let sent = request.body(ByteStream::from(bytes)).send().await;
        let sent = sent.map_err(|error| StoreError::from_sdk("write export", error))?;
        let part = CompletedPart::builder()
            .part_number(number)
            .set_e_tag(sent.e_tag)
            .build();
        self.parts.push(part);
        Ok(())
    }
}
