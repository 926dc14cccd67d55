//! Lists of objects and of versions, with prefixes, delimiters and pages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::Transaction;
use s3s::dto::*;
use s3s::{S3Request, s3_error};

use super::backend::Backend;
use super::buckets::Bucket;
use super::details::timestamp;
use super::errors::Failure;
use super::objects::{PageStart, Version};

const MAX_KEYS: i32 = 1000;
/// Rows read at a time: few enough that skipping a common prefix wastes little.
const ROWS_AT_A_TIME: i64 = 200;
/// Greater than every character that follows a common prefix in a key.
const AFTER_EVERY_KEY: char = '\u{10FFFF}';

/// What to list.
struct Query<'a> {
    bucket: &'a str,
    prefix: &'a str,
    delimiter: Option<&'a str>,
    limit: usize,
    all_versions: bool,
}

/// How far a list has come.
#[derive(Clone)]
struct Cursor {
    key: String,
    /// Versions of `key` that are older than this are still to come.
    before_seq: i64,
}

#[derive(Default)]
struct Page {
    versions: Vec<Version>,
    common_prefixes: Vec<String>,
    /// Where the next page begins, if there is one.
    next: Option<Cursor>,
}

impl Query<'_> {
    fn page(&self, tx: &Transaction<'_>, mut cursor: Cursor) -> Result<Page, Failure> {
        Bucket::read(tx, self.bucket)?;
        let mut page = Page::default();
        loop {
            let from = PageStart {
                all_versions: self.all_versions,
                prefix: self.prefix,
                after_key: &cursor.key,
                before_seq: cursor.before_seq,
            };
            let rows = Version::page(tx, self.bucket, &from, ROWS_AT_A_TIME)?;
            let is_last = i64::try_from(rows.len()).is_ok_and(|found| found < ROWS_AT_A_TIME);
            for version in rows {
                if !version.key.starts_with(self.prefix) {
                    return Ok(page);
                }
                let group = self.common_prefix(&version.key);
                if group.is_some() && group == page.common_prefixes.last().map(String::as_str) {
                    continue;
                }
                if page.versions.len() + page.common_prefixes.len() == self.limit {
                    page.next = Some(cursor);
                    return Ok(page);
                }
                if let Some(group) = group {
                    cursor = Cursor {
                        key: format!("{group}{AFTER_EVERY_KEY}"),
                        before_seq: 0,
                    };
                    page.common_prefixes.push(group.to_owned());
                } else {
                    cursor = Cursor {
                        key: version.key.clone(),
                        before_seq: version.seq,
                    };
                    page.versions.push(version);
                }
            }
            if is_last {
                return Ok(page);
            }
        }
    }

    fn common_prefix<'k>(&self, key: &'k str) -> Option<&'k str> {
        let delimiter = self.delimiter.filter(|delimiter| !delimiter.is_empty())?;
        let rest = key.get(self.prefix.len()..)?;
        let end = self.prefix.len() + rest.find(delimiter)? + delimiter.len();
        key.get(..end)
    }
}

fn limit(max_keys: Option<i32>) -> Result<(i32, usize), Failure> {
    let given = max_keys.unwrap_or(MAX_KEYS);
    let limit = usize::try_from(given.min(MAX_KEYS))
        .map_err(|_| s3_error!(InvalidArgument, "max-keys must not be negative: {given}"))?;
    Ok((given, limit))
}

fn common_prefixes(prefixes: Vec<String>) -> Option<Vec<CommonPrefix>> {
    let wrap = |prefix| CommonPrefix { prefix: Some(prefix) };
    Some(prefixes.into_iter().map(wrap).collect())
}

fn size(bytes: u64) -> Option<i64> {
    i64::try_from(bytes).ok()
}

impl Backend {
    pub(crate) async fn list(&self, request: S3Request<ListObjectsV2Input>) -> Result<ListObjectsV2Output, Failure> {
        let input = request.input;
        let (max_keys, limit) = limit(input.max_keys)?;
        let after = match &input.continuation_token {
            Some(token) => URL_SAFE_NO_PAD
                .decode(token)
                .ok()
                .and_then(|key| String::from_utf8(key).ok())
                .ok_or_else(|| s3_error!(InvalidArgument, "The continuation token provided is incorrect"))?,
            None => input.start_after.clone().unwrap_or_default(),
        };
        let query = Query {
            bucket: &input.bucket,
            prefix: input.prefix.as_deref().unwrap_or_default(),
            delimiter: input.delimiter.as_deref(),
            limit,
            all_versions: false,
        };
        let start = Cursor {
            key: after,
            before_seq: 0,
        };
        let page = self.db.read(|tx| query.page(tx, start))?;
        let count = page.versions.len() + page.common_prefixes.len();
        let contents = page.versions.into_iter().map(|version| Object {
            e_tag: Some(version.e_tag()),
            last_modified: Some(timestamp(version.modified_at)),
            size: size(version.size_bytes),
            storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
            key: Some(version.key),
            ..Default::default()
        });
        Ok(ListObjectsV2Output {
            contents: Some(contents.collect()),
            common_prefixes: common_prefixes(page.common_prefixes),
            is_truncated: Some(page.next.is_some()),
            next_continuation_token: page.next.map(|next| URL_SAFE_NO_PAD.encode(next.key)),
            key_count: i32::try_from(count).ok(),
            max_keys: Some(max_keys),
            name: Some(input.bucket),
            prefix: input.prefix,
            delimiter: input.delimiter,
            start_after: input.start_after,
            continuation_token: input.continuation_token,
            ..Default::default()
        })
    }

    pub(crate) async fn list_versions(
        &self,
        request: S3Request<ListObjectVersionsInput>,
    ) -> Result<ListObjectVersionsOutput, Failure> {
        let input = request.input;
        let (max_keys, limit) = limit(input.max_keys)?;
        let query = Query {
            bucket: &input.bucket,
            prefix: input.prefix.as_deref().unwrap_or_default(),
            delimiter: input.delimiter.as_deref(),
            limit,
            all_versions: true,
        };
        let key_marker = input.key_marker.clone().unwrap_or_default();
        let page = self.db.read(|tx| {
            let before_seq = match input.version_id_marker.as_deref() {
                Some(version_id) if !version_id.is_empty() => {
                    Version::find(tx, &input.bucket, &key_marker, Some(version_id))?.map_or(0, |version| version.seq)
                }
                _ => 0,
            };
            let start = Cursor {
                key: key_marker.clone(),
                before_seq,
            };
            query.page(tx, start)
        })?;
        let next_version = page
            .next
            .as_ref()
            .and_then(|_| page.versions.last())
            .map(|version| version.version_id.clone());
        let (mut versions, mut delete_markers) = (Vec::new(), Vec::new());
        for version in page.versions {
            let last_modified = Some(timestamp(version.modified_at));
            if version.is_delete_marker {
                delete_markers.push(DeleteMarkerEntry {
                    is_latest: Some(version.is_latest),
                    key: Some(version.key),
                    last_modified,
                    version_id: Some(version.version_id),
                    ..Default::default()
                });
            } else {
                versions.push(ObjectVersion {
                    e_tag: Some(version.e_tag()),
                    is_latest: Some(version.is_latest),
                    last_modified,
                    size: size(version.size_bytes),
                    storage_class: Some(ObjectVersionStorageClass::from_static(
                        ObjectVersionStorageClass::STANDARD,
                    )),
                    version_id: Some(version.version_id),
                    key: Some(version.key),
                    ..Default::default()
                });
            }
        }
        Ok(ListObjectVersionsOutput {
            versions: Some(versions),
            delete_markers: Some(delete_markers),
            common_prefixes: common_prefixes(page.common_prefixes),
            is_truncated: Some(page.next.is_some()),
            next_version_id_marker: next_version.filter(|_| {
                // A page that ended with a common prefix goes on at a key, not at a version.
                page.next.as_ref().is_some_and(|next| next.before_seq > 0)
            }),
            next_key_marker: page.next.map(|next| next.key),
            max_keys: Some(max_keys),
            name: Some(input.bucket),
            prefix: input.prefix,
            delimiter: input.delimiter,
            key_marker: input.key_marker,
            version_id_marker: input.version_id_marker,
            ..Default::default()
        })
    }
}
