//! Where an archive goes while it is made: to whoever asked for it, and to the bucket.

use std::mem;

use bytes::{Bytes, BytesMut};
use ecf_store::{ExportUpload, StoreError};
use tokio::sync::mpsc;

use super::{AuditError, Worth};

/// So much is put together before it is passed on.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// The two ends of an archive under way.
#[derive(Debug)]
pub(super) struct Out {
    caller: Option<mpsc::Sender<Bytes>>,
    upload: Option<ExportUpload>,
    /// Whether an archive that is not kept is one in vain.
    must_keep: bool,
    /// What is kept, at least.
    least: Worth,
    /// What a caller's connection carries at most.
    limit_bytes: Option<u64>,
    waiting: BytesMut,
    written: u64,
}

impl Out {
    /// To the caller, and to the bucket as long as it takes it.
    pub(super) fn to_caller(caller: mpsc::Sender<Bytes>, upload: ExportUpload, limit_bytes: u64) -> Self {
        Self {
            caller: Some(caller),
            limit_bytes: Some(limit_bytes),
            must_keep: false,
            ..Self::to_bucket(upload, Worth::Whole)
        }
    }

    /// To the bucket alone, when it is worth so much.
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

    /// Ends it.
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

    /// Gives it up after a failure.
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
        // Who hangs up and asks again finds it in the bucket.
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

    /// A bucket that does not take it keeps nobody from getting it.
    fn lost(&self, error: StoreError) -> Result<(), AuditError> {
        if self.must_keep {
            return Err(error.into());
        }
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "an export is not kept");
        Ok(())
    }
}

async fn give_up(upload: ExportUpload) {
    if let Err(error) = upload.abort().await {
        tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "an export's upload was not given up; it goes by the bucket's rule");
    }
}
