//! The folder that holds the state of all services, claimed by one process at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::StartError;

/// A claimed folder, or none when state lives in memory. The claim ends when the value is dropped.
#[derive(Debug)]
pub(crate) struct DataDir(Option<Claim>);

#[derive(Debug)]
struct Claim {
    path: PathBuf,
    // Held for its lock. Two processes on one folder would each deliver the other's messages.
    _lock: File,
}

impl DataDir {
    pub(crate) fn claim(path: Option<PathBuf>) -> Result<DataDir, StartError> {
        let Some(path) = path else {
            return Ok(DataDir(None));
        };
        match lock(&path) {
            Ok(lock) => Ok(DataDir(Some(Claim { path, _lock: lock }))),
            Err(TryLockError::WouldBlock) => Err(StartError::DataDirInUse { path }),
            Err(TryLockError::Error(source)) => Err(StartError::DataDir { path, source }),
        }
    }

    /// The path of `name` in the folder; `None` when state lives in memory.
    pub(crate) fn join(&self, name: &str) -> Option<PathBuf> {
        self.0.as_ref().map(|claim| claim.path.join(name))
    }
}

fn lock(path: &Path) -> Result<File, TryLockError> {
    fs::create_dir_all(path).map_err(TryLockError::Error)?;
    let file = File::create(path.join("lock")).map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}
