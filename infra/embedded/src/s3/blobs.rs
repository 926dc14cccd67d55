//! The content of objects and parts. Each blob has a unique name and belongs to one record.
//!
//! A blob is written to a temporary file, synced to disk and renamed before a record names it. A record therefore never
//! names an incomplete blob. A blob that no record names is invisible garbage.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures::stream;
use s3s::Body;
use s3s::dto::StreamingBlob;
use uuid::Uuid;

use crate::StartError;
use crate::data_dir::DataDir;
use crate::sqlite::blocking;

const READ_BYTES: usize = 256 * 1024;

/// The store of blobs.
pub(crate) enum Blobs {
    Files { root: PathBuf },
    Memory(Mutex<HashMap<String, Bytes>>),
}

impl Blobs {
    pub(crate) fn open(data_dir: &DataDir) -> Result<Blobs, StartError> {
        let Some(root) = data_dir.join("s3") else {
            return Ok(Blobs::Memory(Mutex::default()));
        };
        let prepare = |root: &Path| {
            let incoming = root.join("incoming");
            // Blobs that were still being written when the last process ended were never acknowledged.
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

    /// Writes a blob and returns its name.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<String> {
        self.create(|sink| sink.write_all(bytes))
    }

    /// Writes the concatenation of these blobs into a new one.
    pub(crate) fn concatenate<'a>(&self, ids: impl Iterator<Item = &'a str>) -> io::Result<String> {
        self.create(|sink| {
            for id in ids {
                match self {
                    Blobs::Files { root } => drop(io::copy(&mut File::open(path_of(root, id))?, sink)?),
                    Blobs::Memory(blobs) => sink.write_all(&in_memory(blobs, id)?)?,
                }
            }
            Ok(())
        })
    }

    fn create(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
        let id = Uuid::new_v4().simple().to_string();
        match self {
            Blobs::Files { root } => {
                let (incoming, target) = (root.join("incoming").join(&id), path_of(root, &id));
                let written = blocking(|| {
                    let mut file = File::create_new(&incoming)?;
                    fill(&mut file)?;
                    file.sync_all()?;
                    if let Some(folder) = target.parent() {
                        fs::create_dir_all(folder)?;
                    }
                    fs::rename(&incoming, &target)
                });
                if written.is_err() {
                    // Ignored: the folder of unfinished blobs is emptied at the next start.
                    let _ = fs::remove_file(&incoming);
                }
                written?;
            }
            Blobs::Memory(blobs) => {
                let mut bytes = Vec::new();
                fill(&mut bytes)?;
                let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
                blobs.insert(id.clone(), bytes.into());
            }
        }
        Ok(id)
    }

    /// Streams a blob. The stream can be read to its end even if the blob is removed meanwhile.
    pub(crate) fn read(&self, id: &str) -> io::Result<StreamingBlob> {
        match self {
            Blobs::Files { root } => {
                let mut file = File::open(path_of(root, id))?;
                let pieces = std::iter::from_fn(move || {
                    let mut piece = vec![0; READ_BYTES];
                    match blocking(|| file.read(&mut piece)) {
                        Ok(0) => None,
                        Ok(read) => {
                            piece.truncate(read);
                            Some(Ok(Bytes::from(piece)))
                        }
                        Err(error) => Some(Err(error)),
                    }
                });
                Ok(StreamingBlob::wrap(stream::iter(pieces)))
            }
            Blobs::Memory(blobs) => Ok(StreamingBlob::from(Body::from(in_memory(blobs, id)?))),
        }
    }

    /// Removes blobs that no record names.
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

fn in_memory(blobs: &Mutex<HashMap<String, Bytes>>, id: &str) -> io::Result<Bytes> {
    let blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(blobs.get(id).ok_or(io::ErrorKind::NotFound)?.clone())
}

/// One folder for each of the 256 possible first bytes keeps folders small.
fn path_of(root: &Path, id: &str) -> PathBuf {
    root.join(&id[..2]).join(id)
}
