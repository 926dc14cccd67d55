//! The state folder, which one running system at a time uses.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::start::StartError;

const LOCK: &str = "lock";
const AWS: &str = "aws";
const SIMULATOR: &str = "simulator";
const DEMO: &str = "demo.json";
const AUTHORITY: &str = "authority.pem";
const ENVIRONMENT: &str = "environment.json";
const CERTIFY: &str = "certify.json";
const LAPSE: &str = "time-lapse.json";

/// A locked folder; the lock ends when the value is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct StateFolder {
    path: PathBuf,
    _lock: File,
}

impl StateFolder {
    /// Locks the folder, and creates it if it is missing.
    pub(crate) fn claim(path: &Path) -> Result<Self, StartError> {
        let state = |source| StartError::State {
            folder: path.to_owned(),
            source,
        };
        fs::create_dir_all(path).map_err(state)?;
        let lock = File::create(path.join(LOCK)).map_err(state)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(StartError::InUse {
                folder: path.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(state(source)),
        }
    }

    /// Deletes the state. Only files of this system are deleted: the folder may contain others.
    pub(crate) fn reset(&self) -> Result<(), StartError> {
        for name in [AWS, SIMULATOR, DEMO, AUTHORITY, CERTIFY, ENVIRONMENT, LAPSE] {
            let path = self.path.join(name);
            let removed = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else if path.exists() {
                fs::remove_file(&path)
            } else {
                Ok(())
            };
            removed.map_err(|source| StartError::State { folder: path, source })?;
        }
        Ok(())
    }

    /// State of the embedded AWS services.
    pub(crate) fn aws(&self) -> PathBuf {
        self.path.join(AWS)
    }

    /// State of the simulated tax authority.
    pub(crate) fn simulator(&self) -> PathBuf {
        self.path.join(SIMULATOR)
    }

    /// The demo company and its key.
    pub(crate) fn demo(&self) -> PathBuf {
        self.path.join(DEMO)
    }

    /// Key and certificate of the certification authority.
    pub(crate) fn authority(&self) -> PathBuf {
        authority(&self.path)
    }

    /// The speed of time on this state, and its start.
    pub(crate) fn lapse(&self) -> PathBuf {
        lapse(&self.path)
    }

    /// Each function's variables, for `ecf-local env`.
    pub(crate) fn environment(&self) -> PathBuf {
        environment(&self.path)
    }
}

/// [`StateFolder::environment`] of a folder that another process has locked.
pub(crate) fn environment(folder: &Path) -> PathBuf {
    folder.join(ENVIRONMENT)
}

/// [`StateFolder::authority`] of a folder that another process has locked.
pub(crate) fn authority(folder: &Path) -> PathBuf {
    folder.join(AUTHORITY)
}

/// The keys that `ecf-local certify` was issued.
pub(crate) fn certify(folder: &Path) -> PathBuf {
    folder.join(CERTIFY)
}

pub(crate) fn lapse(folder: &Path) -> PathBuf {
    folder.join(LAPSE)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_reset_leaves_what_this_system_has_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let claimed = StateFolder::claim(folder.path()).unwrap();
        fs::create_dir_all(claimed.aws().join("blobs")).unwrap();
        fs::write(claimed.demo(), "{}").unwrap();
        fs::write(folder.path().join("thesis.tex"), "ten years").unwrap();
        claimed.reset().unwrap();
        assert!(!claimed.aws().exists() && !claimed.demo().exists());
        assert!(folder.path().join("thesis.tex").exists());
    }

    #[test]
    fn a_folder_is_claimed_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = StateFolder::claim(folder.path()).unwrap();
        assert!(matches!(
            StateFolder::claim(folder.path()),
            Err(StartError::InUse { .. })
        ));
        drop(first);
        StateFolder::claim(folder.path()).unwrap();
    }
}
