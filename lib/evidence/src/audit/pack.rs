//! Bytes made ready for the archive: compressed, with their checksums.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use bytes::Bytes;
use flate2::{Compression, write::DeflateEncoder};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::zip::{Entry, Method};

/// A file of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) entry: Entry,
    pub(super) sha256: [u8; 32],
    /// As they stand in the archive.
    pub(super) bytes: Bytes,
}

/// Packs a file: compressed if that makes it smaller, which it does to no PDF of ours.
pub(super) fn pack(name: String, modified: Option<Timestamp>, bytes: Bytes) -> io::Result<Packed> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
    encoder.write_all(&bytes)?;
    let deflated = encoder.finish()?;
    let entry = |method, packed: usize| Entry {
        name,
        modified,
        method,
        crc32: crc32fast::hash(&bytes),
        packed_bytes: packed as u64,
        size_bytes: bytes.len() as u64,
    };
    let sha256 = Sha256::digest(&bytes).into();
    if deflated.len() < bytes.len() {
        let entry = entry(Method::Deflated, deflated.len());
        let bytes = deflated.into();
        return Ok(Packed { entry, sha256, bytes });
    }
    let entry = entry(Method::Stored, bytes.len());
    Ok(Packed { entry, sha256, bytes })
}

/// A file that grows with the archive, and therefore on the disk: compressed as it comes.
pub(super) struct Growing {
    encoder: DeflateEncoder<BufWriter<File>>,
    crc32: crc32fast::Hasher,
    sha256: Sha256,
    size_bytes: u64,
}

/// A file that has grown.
#[derive(Debug)]
pub(super) struct Grown {
    pub(super) entry: Entry,
    pub(super) sha256: [u8; 32],
    pub(super) pieces: Pieces,
}

impl Growing {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            encoder: DeflateEncoder::new(BufWriter::new(tempfile::tempfile()?), Compression::default()),
            crc32: crc32fast::Hasher::new(),
            sha256: Sha256::new(),
            size_bytes: 0,
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc32.update(bytes);
        self.sha256.update(bytes);
        self.size_bytes += bytes.len() as u64;
        self.encoder.write_all(bytes)
    }

    pub(super) fn finish(self, name: &str) -> io::Result<Grown> {
        let pieces = Pieces::of(self.encoder.finish()?)?;
        let entry = Entry {
            name: name.to_owned(),
            modified: None,
            method: Method::Deflated,
            crc32: self.crc32.finalize(),
            packed_bytes: pieces.left,
            size_bytes: self.size_bytes,
        };
        let sha256 = self.sha256.finalize().into();
        Ok(Grown { entry, sha256, pieces })
    }
}

/// A file on the disk, read again piece by piece.
#[derive(Debug)]
pub(super) struct Pieces {
    file: File,
    left: u64,
}

impl Pieces {
    const SIZE: usize = 64 * 1024;

    pub(super) fn of(written: BufWriter<File>) -> io::Result<Self> {
        let mut file = written.into_inner()?;
        let left = file.stream_position()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self { file, left })
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut piece = Vec::with_capacity(Self::SIZE);
        let read = (&mut self.file).take(Self::SIZE as u64).read_to_end(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(Some(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grew_on_the_disk_is_what_would_have_been_packed_at_once() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|number| number.to_le_bytes()).collect();
        let mut growing = Growing::new().unwrap();
        text.chunks(999).for_each(|part| growing.write(part).unwrap());
        let mut grown = growing.finish("a").unwrap();
        let mut bytes = Vec::new();
        while let Some(piece) = grown.pieces.next().unwrap() {
            bytes.extend(piece);
        }
        let packed = pack("a".to_owned(), None, text.into()).unwrap();
        assert_eq!(
            (grown.entry, grown.sha256, bytes),
            (packed.entry, packed.sha256, packed.bytes.to_vec())
        );
    }

    #[test]
    fn what_does_not_get_smaller_is_stored() {
        let packed = pack("a".to_owned(), None, Bytes::from_static(b"x")).unwrap();
        assert_eq!(
            (packed.entry.method, packed.bytes.as_ref()),
            (Method::Stored, b"x".as_slice())
        );
        let packed = pack("a".to_owned(), None, vec![b'x'; 100].into()).unwrap();
        assert_eq!((packed.entry.method, packed.entry.size_bytes), (Method::Deflated, 100));
        assert!(packed.bytes.len() < 100);
    }
}
