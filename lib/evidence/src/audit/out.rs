//! The destinations of an archive while it is built: the caller who requested it, and the bucket.

use std::mem;

use bytes::{Bytes, BytesMut};
use ecf_store::{StoreError, exports::ExportUpload};
use tokio::sync::mpsc;

use super::{AuditError, Worth};

/// Bytes that are collected before they are passed on.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// The destinations of an archive.
#[derive(Debug)]
pub(super) struct Out {
    caller: Option<mpsc::Sender<Bytes>>,
    upload: Option<ExportUpload>,
    /// Whether a failed upload fails the archive.
    must_keep: bool,
    /// The least complete archive that is stored.
    least: Worth,
    /// The size limit of the caller's connection; `None`: no limit.
    limit_bytes: Option<u64>,
    waiting: BytesMut,
    written: u64,
}

impl Out {
    /// Writes to the caller, and to the bucket until an upload fails.
    pub(super) fn to_caller(caller: mpsc::Sender<Bytes>, upload: ExportUpload, limit_bytes: u64) -> Self {
        Self {
            caller: Some(caller),
            limit_bytes: Some(limit_bytes),
            must_keep: false,
            ..Self::to_bucket(upload, Worth::Whole)
        }
    }

    /// Writes to the bucket alone; the upload is completed when the archive is worth at least `least`.
    pub(super) fn to_bucket(upload: ExportUpload, least: Worth) -> Self {
        Self {
            caller: None,
            upload: Some(upload),
            must_keep: true,
            least,
            limit_bytes: None,
            waiting: BytesMut::with_capacity(CHUNK_BYTES),
            written: 0,
        }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), AuditError> {
        self.written += bytes.len() as u64;
        if let Some(limit_bytes) = self.limit_bytes.filter(|limit| *limit < self.written) {
            return Err(AuditError::TooLarge { limit_bytes });
        }
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= CHUNK_BYTES {
            self.pass_on().await?;
        }
        Ok(())
    }

    /// Passes the rest on, and completes or aborts the upload. Returns the size in bytes.
    pub(super) async fn finish(mut self, worth: Worth) -> Result<u64, AuditError> {
        self.pass_on().await?;
        match self.upload.take() {
            Some(upload) if worth >= self.least => {
                if let Err(error) = upload.complete().await {
                    self.lost(error)?;
                }
            }
            Some(upload) => {
                upload.abort().await?;
                if self.must_keep {
                    return Err(match worth {
                        Worth::Changed => AuditError::Changed,
                        Worth::Remarked | Worth::Whole => AuditError::Remarked,
                    });
                }
            }
            None => {}
        }
        Ok(self.written)
    }

    /// Aborts the upload after a failure.
    pub(super) async fn abort(self) {
        if let Some(upload) = self.upload {
            give_up(upload).await;
        }
    }

    async fn pass_on(&mut self) -> Result<(), AuditError> {
        let bytes = mem::replace(&mut self.waiting, BytesMut::with_capacity(CHUNK_BYTES)).freeze();
        if let Some(mut upload) = self.upload.take() {
            match upload.write(&bytes).await {
                Ok(()) => self.upload = Some(upload),
                Err(error) => {
                    give_up(upload).await;
                    self.lost(error)?;
                }
            }
        }
        // When the caller disconnects, the upload continues: a repeated request finds the archive in the bucket.
        if let Some(caller) = &self.caller
            && caller.send(bytes).await.is_err()
        {
            self.caller = None;
        }
        if self.caller.is_none() && self.upload.is_none() {
            return Err(AuditError::Unwanted);
        }
        Ok(())
    }

    /// Handles a failed upload: an archive for a caller continues without it.
    fn lost(&self, error: StoreError) -> Result<(), AuditError> {
        if self.must_keep {
            return Err(error.into());
        }
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "an export was not stored");
        Ok(())
    }
}

async fn give_up(upload: ExportUpload) {
    if let Err(error) = upload.abort().await {
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "an unfinished upload was not aborted; the lifecycle rule of the bucket removes it");
    }
}
