//! The folder with the state of all services. One process at a time locks it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::StartError;

/// The locked folder, or `None` when state is in memory. Dropping the value unlocks the folder.
#[derive(Debug)]
pub(crate) struct DataDir(Option<Claim>);

#[derive(Debug)]
struct Claim {
    path: PathBuf,
    // Stored for its lock. Two processes on one folder would deliver each other's messages.
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
