//! The parts of a multipart upload, and how they become one object.

use md5::{Digest, Md5};
use rusqlite::Row;
use s3s::dto::CompletedPart;
use s3s::s3_error;

use super::checksums::Checksums;
use super::errors::Failure;
use crate::clock::Millis;

/// Every part but the last has at least this size.
const MIN_PART_BYTES: u64 = 5 * 1024 * 1024;

pub(crate) struct StoredPart {
    pub(crate) number: i32,
    pub(crate) blob: String,
    pub(crate) size_bytes: u64,
    pub(crate) etag: String,
    checksums: String,
    pub(crate) modified_at: Millis,
}

impl StoredPart {
    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredPart> {
        Ok(StoredPart {
            number: row.get(0)?,
            blob: row.get(1)?,
            size_bytes: row.get(2)?,
            etag: row.get(3)?,
            checksums: row.get(4)?,
            modified_at: Millis(row.get(5)?),
        })
    }

    pub(crate) fn checksums(&self) -> Result<Checksums, Failure> {
        Ok(serde_json::from_str(&self.checksums)?)
    }
}

/// The stored parts that the request names, in its order, which must be the order of their numbers.
pub(crate) fn choose<'a>(stored: &'a [StoredPart], named: &[CompletedPart]) -> Result<Vec<&'a StoredPart>, Failure> {
    if named.is_empty() {
        return Err(s3_error!(MalformedXML, "You must specify at least one part").into());
    }
    let mut chosen: Vec<&StoredPart> = Vec::with_capacity(named.len());
    for part in named {
        let number = part.part_number.unwrap_or_default();
        if chosen.last().is_some_and(|last| last.number >= number) {
            return Err(s3_error!(
                InvalidPartOrder,
                "The list of parts was not in ascending order at part {number}."
            )
            .into());
        }
        let found = stored.iter().find(|stored| {
            let etag_fits = part.e_tag.as_ref().is_some_and(|etag| etag.value() == stored.etag);
            stored.number == number && etag_fits
        });
        chosen.push(found.ok_or_else(|| {
            s3_error!(
                InvalidPart,
                "Part {number} could not be found, or its entity tag does not match."
            )
        })?);
    }
    let all_but_last = &chosen[..chosen.len() - 1];
    if let Some(small) = all_but_last.iter().find(|part| part.size_bytes < MIN_PART_BYTES) {
        return Err(s3_error!(
            EntityTooSmall,
            "Part {} has {} bytes, less than the minimum of {MIN_PART_BYTES}.",
            small.number,
            small.size_bytes
        )
        .into());
    }
    Ok(chosen)
}

/// The digest of the digests of the parts, and how many they are.
pub(crate) fn etag_of(parts: &[&StoredPart]) -> String {
    let mut md5 = Md5::new();
    for part in parts {
        // Written by `hex::encode`, so it reads back.
        md5.update(hex::decode(&part.etag).unwrap_or_default());
    }
    format!("{}-{}", hex::encode(md5.finalize()), parts.len())
}
