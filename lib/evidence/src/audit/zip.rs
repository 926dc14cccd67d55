//! The ZIP format (APPNOTE 6.3.10), as far as an archive needs it that is written once from front to back.
//!
//! Libraries keep the directory of an archive in memory until its end, some 500 bytes for each entry: 40 MB for a month of a
//! busy company. Here each record of the directory is bytes that the caller puts aside. Sizes and checksums are known before an
//! entry is written, so every reader can follow, also one that reads from a pipe.

use jiff::{Timestamp, tz::Offset};

/// In a field of 32 bits: look into the Zip64 field.
const ELSEWHERE_32: u32 = u32::MAX;
const ELSEWHERE_16: u16 = u16::MAX;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// 2.0, and 4.5 for Zip64.
const NEEDS_DEFLATE: u16 = 20;
const NEEDS_ZIP64: u16 = 45;
/// Made on Unix, so that the mode counts: a file that its owner writes and everybody reads.
const MADE_BY: u16 = (3 << 8) | NEEDS_ZIP64;
const MODE: u32 = 0o100_644 << 16;

/// How an entry's bytes stand in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
}

/// What the archive says of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) modified: Option<Timestamp>,
    pub(super) method: Method,
    pub(super) crc32: u32,
    /// In the archive.
    pub(super) packed_bytes: u64,
    pub(super) size_bytes: u64,
}

impl Entry {
    /// What stands before the entry's bytes.
    pub(super) fn header(&self) -> Vec<u8> {
        let mut extra = Vec::new();
        let is_large = small(self.size_bytes).is_none() || small(self.packed_bytes).is_none();
        if is_large {
            put_u64(&mut extra, self.size_bytes);
            put_u64(&mut extra, self.packed_bytes);
        }
        let mut header = Vec::with_capacity(64 + self.name.len());
        put_u32(&mut header, 0x0403_4b50);
        put_u16(&mut header, needs(is_large));
        self.put_common(&mut header, is_large, &zip64(&extra));
        header.extend_from_slice(self.name.as_bytes());
        header.extend_from_slice(&zip64(&extra));
        header
    }

    /// What stands in the directory about an entry that begins at `offset`.
    pub(super) fn record(&self, offset: u64) -> Vec<u8> {
        let mut extra = Vec::new();
        let is_large = small(self.size_bytes).is_none() || small(self.packed_bytes).is_none();
        if is_large {
            put_u64(&mut extra, self.size_bytes);
            put_u64(&mut extra, self.packed_bytes);
        }
        if small(offset).is_none() {
            put_u64(&mut extra, offset);
        }
        let extra = zip64(&extra);
        let mut record = Vec::with_capacity(80 + self.name.len());
        put_u32(&mut record, 0x0201_4b50);
        put_u16(&mut record, MADE_BY);
        put_u16(&mut record, needs(!extra.is_empty()));
        self.put_common(&mut record, is_large, &extra);
        // No comment, on the first disk, no internal attributes.
        for _ in 0..3 {
            put_u16(&mut record, 0);
        }
        put_u32(&mut record, MODE);
        put_u32(&mut record, small(offset).unwrap_or(ELSEWHERE_32));
        record.extend_from_slice(self.name.as_bytes());
        record.extend_from_slice(&extra);
        record
    }

    /// From the flags to the length of the extra field.
    fn put_common(&self, bytes: &mut Vec<u8>, is_large: bool, extra: &[u8]) {
        let (date, time) = dos(self.modified);
        put_u16(bytes, FLAGS);
        put_u16(bytes, if self.method == Method::Deflated { 8 } else { 0 });
        put_u16(bytes, time);
        put_u16(bytes, date);
        put_u32(bytes, self.crc32);
        for size in [self.packed_bytes, self.size_bytes] {
            let size = small(size).filter(|_| !is_large);
            put_u32(bytes, size.unwrap_or(ELSEWHERE_32));
        }
        // Names are ours and short.
        put_u16(bytes, u16::try_from(self.name.len()).unwrap_or(u16::MAX));
        put_u16(bytes, u16::try_from(extra.len()).unwrap_or(u16::MAX));
    }
}

/// What stands behind a directory of so many entries and bytes that begins at `offset`.
pub(super) fn end(entries: u64, size: u64, offset: u64) -> Vec<u8> {
    let mut end = Vec::with_capacity(98);
    let few = u16::try_from(entries).ok().filter(|entries| *entries < ELSEWHERE_16);
    if few.is_none() || small(size).is_none() || small(offset).is_none() {
        put_u32(&mut end, 0x0606_4b50);
        put_u64(&mut end, 44);
        put_u16(&mut end, MADE_BY);
        put_u16(&mut end, NEEDS_ZIP64);
        put_u32(&mut end, 0);
        put_u32(&mut end, 0);
        for number in [entries, entries, size, offset] {
            put_u64(&mut end, number);
        }
        put_u32(&mut end, 0x0706_4b50);
        put_u32(&mut end, 0);
        put_u64(&mut end, offset.saturating_add(size));
        put_u32(&mut end, 1);
    }
    put_u32(&mut end, 0x0605_4b50);
    put_u16(&mut end, 0);
    put_u16(&mut end, 0);
    put_u16(&mut end, few.unwrap_or(ELSEWHERE_16));
    put_u16(&mut end, few.unwrap_or(ELSEWHERE_16));
    put_u32(&mut end, small(size).unwrap_or(ELSEWHERE_32));
    put_u32(&mut end, small(offset).unwrap_or(ELSEWHERE_32));
    put_u16(&mut end, 0);
    end
}

/// A number that a field of 32 bits holds.
fn small(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| *number < ELSEWHERE_32)
}

fn needs(zip64: bool) -> u16 {
    if zip64 { NEEDS_ZIP64 } else { NEEDS_DEFLATE }
}

/// The Zip64 field with these numbers; nothing without them.
fn zip64(numbers: &[u8]) -> Vec<u8> {
    let mut field = Vec::with_capacity(4 + numbers.len());
    if !numbers.is_empty() {
        put_u16(&mut field, 1);
        put_u16(&mut field, u16::try_from(numbers.len()).unwrap_or(u16::MAX));
        field.extend_from_slice(numbers);
    }
    field
}

/// Date and time of MS-DOS, at −04:00; the first of them all where there is none.
fn dos(at: Option<Timestamp>) -> (u16, u16) {
    const FIRST: (u16, u16) = ((1 << 5) | 1, 0);
    let Some(at) = at else {
        return FIRST;
    };
    let at = Offset::constant(-4).to_datetime(at);
    let part = |number: i8| u16::try_from(number).unwrap_or(0);
    match u16::try_from(at.year() - 1980) {
        Ok(years) if years < 128 => (
            (years << 9) | (part(at.month()) << 5) | part(at.day()),
            (part(at.hour()) << 11) | (part(at.minute()) << 5) | (part(at.second()) / 2),
        ),
        _ => FIRST,
    }
}

fn put_u16(bytes: &mut Vec<u8>, number: u16) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn put_u32(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn put_u64(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use super::*;

    fn entry(name: &str, bytes: &[u8]) -> Entry {
        Entry {
            name: name.to_owned(),
            modified: Some("2026-11-28T03:59:58Z".parse().unwrap()),
            method: Method::Stored,
            crc32: crc32fast::hash(bytes),
            packed_bytes: bytes.len() as u64,
            size_bytes: bytes.len() as u64,
        }
    }

    fn archive(count: u32) -> Vec<u8> {
        let (mut archive, mut directory) = (Vec::new(), Vec::new());
        for place in 0..count {
            let bytes = place.to_string().into_bytes();
            let entry = entry(&format!("a/{place}.txt"), &bytes);
            directory.extend(entry.record(archive.len() as u64));
            archive.extend(entry.header());
            archive.extend(bytes);
        }
        let offset = archive.len() as u64;
        archive.extend(&directory);
        archive.extend(end(u64::from(count), directory.len() as u64, offset));
        archive
    }

    #[test]
    fn another_reader_finds_every_entry_of_none_few_and_more_than_the_old_format_holds() {
        for count in [0, 1, 65_534, 65_535, 70_000] {
            let mut read = ::zip::ZipArchive::new(Cursor::new(archive(count))).unwrap();
            assert_eq!(read.len(), count as usize);
            for place in [0, count / 2, count.saturating_sub(1)] {
                if place < count {
                    let mut file = read.by_name(&format!("a/{place}.txt")).unwrap();
                    let mut text = String::new();
                    file.read_to_string(&mut text).unwrap();
                    assert_eq!(text, place.to_string());
                    let at = file.last_modified().unwrap();
                    assert_eq!((at.year(), at.day(), at.hour(), at.second()), (2026, 27, 23, 58));
                }
            }
        }
    }

    #[test]
    fn what_32_bits_do_not_hold_stands_in_the_zip64_field() {
        let far = entry("a", b"x").record(5_000_000_000);
        assert_eq!(&far[42..46], &[0xFF; 4]);
        assert_eq!(
            &far[47..],
            &[&[1, 0, 8, 0], 5_000_000_000_u64.to_le_bytes().as_slice()].concat()
        );
        let large = Entry {
            packed_bytes: 4_294_967_295,
            size_bytes: 7,
            ..entry("a", b"x")
        };
        let header = large.header();
        assert_eq!(&header[18..26], &[0xFF; 8]);
        let sizes = [7_u64.to_le_bytes(), 4_294_967_295_u64.to_le_bytes()].concat();
        assert_eq!(&header[31..], &[[1, 0, 16, 0].as_slice(), &sizes].concat());
        assert_eq!(&large.record(3)[47..], &[[1, 0, 16, 0].as_slice(), &sizes].concat());
    }

    #[test]
    fn a_time_that_the_format_does_not_know_is_its_first() {
        let first = dos(None);
        assert_eq!(first, ((1 << 5) | 1, 0));
        for at in ["1979-12-31T00:00:00Z", "2108-02-01T00:00:00Z"] {
            assert_eq!(dos(Some(at.parse().unwrap())), first, "{at}");
        }
    }
}
