//! The bytes of objects and parts, each under a name of its own that no record shares.
//!
//! A blob is written aside, brought to disk and renamed before any record names it, so a record never names half a
//! blob. A blob that no record came to name is garbage that nobody sees.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures::{StreamExt, stream};
use md5::{Digest, Md5};
use s3s::checksum::ChecksumHasher;
use s3s::dto::StreamingBlob;
use uuid::Uuid;

use super::checksums::Checksums;
use crate::StartError;
use crate::data_dir::DataDir;
use crate::sqlite::blocking;

const READ_BYTES: usize = 256 * 1024;

/// Where blobs are kept.
pub(crate) enum Blobs {
    Files { root: PathBuf },
    Memory(Mutex<HashMap<String, Bytes>>),
}

/// A blob that was written whole.
pub(crate) struct Blob {
    pub(crate) id: String,
    pub(crate) size_bytes: u64,
    pub(crate) md5: [u8; 16],
    pub(crate) checksums: Checksums,
}

impl Blobs {
    pub(crate) fn open(data_dir: &DataDir) -> Result<Blobs, StartError> {
        let Some(root) = data_dir.join("s3") else {
            return Ok(Blobs::Memory(Mutex::default()));
        };
        let prepare = |root: &Path| {
            let incoming = root.join("incoming");
            // What was being written when the last process ended was never acknowledged.
            if incoming.exists() {
                fs::remove_dir_all(&incoming)?;
            }
            fs::create_dir_all(&incoming)
        };
        match prepare(&root) {
            Ok(()) => Ok(Blobs::Files { root }),
            Err(source) => Err(StartError::DataDir { path: root, source }),
        }
    }

    /// Starts a blob; what was written is thrown away unless `finish` is reached.
    pub(crate) fn writer(&self, hasher: ChecksumHasher) -> io::Result<BlobWriter<'_>> {
        let id = Uuid::new_v4().simple().to_string();
        let sink = match self {
            Blobs::Files { root } => {
                let path = root.join("incoming").join(&id);
                Sink::File {
                    file: File::create_new(&path)?,
                    path,
                }
            }
            Blobs::Memory(_) => Sink::Memory(Vec::new()),
        };
        Ok(BlobWriter {
            blobs: self,
            id,
            sink,
            size_bytes: 0,
            md5: Md5::new(),
            hasher,
        })
    }

    /// Streams a part of a blob. It can be read to its end even if it is removed meanwhile.
    pub(crate) fn read(&self, id: &str, range: Range<u64>) -> io::Result<StreamingBlob> {
        let chunks = self.chunks(id, range)?;
        Ok(StreamingBlob::wrap(stream::iter(chunks).map(|chunk| chunk)))
    }

    /// Writes the given blobs, one after the other, into a new one.
    pub(crate) fn concatenate(&self, ids: &[String], hasher: ChecksumHasher) -> io::Result<Blob> {
        let mut writer = self.writer(hasher)?;
        for id in ids {
            for chunk in self.chunks(id, 0..u64::MAX)? {
                writer.write(&chunk?)?;
            }
        }
        writer.finish()
    }

    fn chunks(&self, id: &str, range: Range<u64>) -> io::Result<Chunks> {
        match self {
            Blobs::Files { root } => {
                let mut file = File::open(path_of(root, id))?;
                file.seek(SeekFrom::Start(range.start))?;
                Ok(Chunks::File {
                    file,
                    left: range.end.saturating_sub(range.start),
                })
            }
            Blobs::Memory(blobs) => {
                let blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = blobs.get(id).ok_or(io::ErrorKind::NotFound)?;
                let within =
                    |offset: u64| usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
                Ok(Chunks::Memory(Some(
                    bytes.slice(within(range.start)..within(range.end)),
                )))
            }
        }
    }

    /// Removes blobs that no record names any more.
    pub(crate) fn remove(&self, ids: impl IntoIterator<Item = String>) {
        for id in ids {
            match self {
                Blobs::Files { root } => {
                    if let Err(error) = blocking(|| fs::remove_file(path_of(root, &id))) {
                        tracing::warn!(
                            blob = id,
                            error = &error as &dyn std::error::Error,
                            "a blob that is not used any more could not be removed"
                        );
                    }
                }
                Blobs::Memory(blobs) => {
                    let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
                    blobs.remove(&id);
                }
            }
        }
    }
}

/// One folder for each of 256 beginnings keeps folders small.
fn path_of(root: &Path, id: &str) -> PathBuf {
    root.join(&id[..2]).join(id)
}

/// A blob under way.
pub(crate) struct BlobWriter<'a> {
    blobs: &'a Blobs,
    id: String,
    sink: Sink,
    size_bytes: u64,
    md5: Md5,
    hasher: ChecksumHasher,
}

enum Sink {
    File { file: File, path: PathBuf },
    Memory(Vec<u8>),
    Finished,
}

impl BlobWriter<'_> {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.md5.update(bytes);
        self.hasher.update(bytes);
        self.size_bytes += bytes.len() as u64;
        match &mut self.sink {
            Sink::File { file, .. } => blocking(|| file.write_all(bytes)),
            Sink::Memory(written) => {
                written.extend_from_slice(bytes);
                Ok(())
            }
            Sink::Finished => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    pub(crate) fn finish(mut self) -> io::Result<Blob> {
        match (std::mem::replace(&mut self.sink, Sink::Finished), self.blobs) {
            (Sink::File { file, path }, Blobs::Files { root }) => {
                let moved = blocking(|| {
                    file.sync_all()?;
                    let target = path_of(root, &self.id);
                    if let Some(folder) = target.parent() {
                        fs::create_dir_all(folder)?;
                    }
                    fs::rename(&path, target)
                });
                if moved.is_err() {
                    self.sink = Sink::File { file, path };
                }
                moved?;
            }
            (Sink::Memory(written), Blobs::Memory(blobs)) => {
                let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
                blobs.insert(self.id.clone(), written.into());
            }
            _ => return Err(io::ErrorKind::NotConnected.into()),
        }
        Ok(Blob {
            id: std::mem::take(&mut self.id),
            size_bytes: self.size_bytes,
            md5: std::mem::take(&mut self.md5).finalize().into(),
            checksums: std::mem::take(&mut self.hasher).finalize().into(),
        })
    }
}

impl Drop for BlobWriter<'_> {
    fn drop(&mut self) {
        if let Sink::File { path, .. } = &self.sink {
            // The folder of unfinished blobs is emptied at the next start anyway.
            let _ = fs::remove_file(path);
        }
    }
}

enum Chunks {
    File { file: File, left: u64 },
    Memory(Option<Bytes>),
}

impl Iterator for Chunks {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        match self {
            Chunks::Memory(bytes) => bytes.take().map(Ok),
            Chunks::File { left: 0, .. } => None,
            Chunks::File { file, left } => {
                let wanted = READ_BYTES.min(usize::try_from(*left).unwrap_or(READ_BYTES));
                let mut chunk = vec![0; wanted];
                match blocking(|| file.read(&mut chunk)) {
                    Ok(0) => {
                        *left = 0;
                        None
                    }
                    Ok(read) => {
                        chunk.truncate(read);
                        *left -= read as u64;
                        Some(Ok(chunk.into()))
                    }
                    Err(error) => {
                        *left = 0;
                        Some(Err(error))
                    }
                }
            }
        }
    }
}
