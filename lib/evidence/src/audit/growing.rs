//! A file of the archive that gets one line per entry. It grows on the disk until all other files are written.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};

use sha2::{Digest as _, Sha256};

pub(super) struct Growing {
    file: BufWriter<File>,
    sha256: Sha256,
    size_bytes: u64,
}

/// A complete file, positioned at its start.
#[derive(Debug)]
pub(super) struct Grown {
    pub(super) file: File,
    pub(super) sha256: [u8; 32],
    pub(super) size_bytes: u64,
}

impl Growing {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            sha256: Sha256::new(),
            size_bytes: 0,
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sha256.update(bytes);
        self.size_bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    pub(super) fn finish(self) -> io::Result<Grown> {
        let mut file = self.file.into_inner()?;
        file.rewind()?;
        Ok(Grown {
            file,
            sha256: self.sha256.finalize().into(),
            size_bytes: self.size_bytes,
        })
    }
}
