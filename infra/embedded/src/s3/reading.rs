//! Reading objects: GET and HEAD, with their conditions and ranges.

use std::ops;

use s3s::dto::*;
use s3s::{S3Request, s3_error};

use super::backend::Backend;
use super::checksums::set_checksums;
use super::details::{Details, millis, set_encryption, timestamp};
use super::errors::{Failure, named};
use super::objects::{NULL_VERSION, Version, matches, precondition_failed};

/// Fills the fields that the answers to GET and HEAD have in common.
macro_rules! describe {
    ($output:expr, $version:expr, $details:expr) => {{
        let (version, details): (&Version, Details) = ($version, $details);
        $output.accept_ranges = Some("bytes".to_owned());
        $output.content_type = details.content_type.or_else(|| Some("binary/octet-stream".to_owned()));
        $output.cache_control = details.cache_control;
        $output.content_disposition = details.content_disposition;
        $output.content_encoding = details.content_encoding;
        $output.content_language = details.content_language;
        $output.expires = details.expires;
        $output.metadata = Some(details.metadata);
        $output.e_tag = Some(version.e_tag());
        $output.last_modified = Some(timestamp(version.modified_at));
        $output.parts_count = details.parts_count;
        $output.version_id = said_version(version);
        set_encryption!($output, &details.encryption);
        if let Some(retention) = &version.lock.retention {
            $output.object_lock_mode = Some(retention.mode.clone().into());
            $output.object_lock_retain_until_date = Some(timestamp(retention.until));
        }
        if version.lock.has_legal_hold {
            $output.object_lock_legal_hold_status =
                Some(ObjectLockLegalHoldStatus::from_static(ObjectLockLegalHoldStatus::ON));
        }
    }};
}

/// The version id that an answer shows: none of what was written without versioning.
fn said_version(version: &Version) -> Option<String> {
    (version.version_id != NULL_VERSION).then(|| version.version_id.clone())
}

impl Backend {
    pub(crate) async fn get(&self, request: S3Request<GetObjectInput>) -> Result<GetObjectOutput, Failure> {
        let input = request.input;
        let conditions = ReadConditions {
            if_match: input.if_match,
            if_none_match: input.if_none_match,
            if_modified_since: input.if_modified_since,
            if_unmodified_since: input.if_unmodified_since,
        };
        // The file is opened in the transaction, so that no delete comes in between.
        let (version, range, body) = self.db.read(|tx| {
            let version = Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref())?;
            conditions.check(&version)?;
            let range = requested_range(input.range, version.size_bytes)?;
            let blob = version.blob.as_deref().unwrap_or_default();
            let bytes = range.clone().unwrap_or(0..version.size_bytes);
            let body = self.blobs.read(blob, bytes)?;
            Ok::<_, Failure>((version, range, body))
        })?;
        let details = version.details()?;
        let mut output = GetObjectOutput::default();
        if range.is_none() && is_checked(input.checksum_mode.as_ref()) {
            set_checksums!(output, &details.checksums);
            output.checksum_type = Some(ChecksumType::from_static(details.checksums.kind()));
        }
        let tag_count = version.tags()?.len();
        output.tag_count = i32::try_from(tag_count).ok().filter(|count| *count > 0);
        (output.content_length, output.content_range) = lengths(range, version.size_bytes);
        describe!(output, &version, details);
        output.body = Some(body);
        Ok(output)
    }

    pub(crate) async fn head(&self, request: S3Request<HeadObjectInput>) -> Result<HeadObjectOutput, Failure> {
        let input = request.input;
        let version = self
            .db
            .read(|tx| Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref()))?;
        ReadConditions {
            if_match: input.if_match,
            if_none_match: input.if_none_match,
            if_modified_since: input.if_modified_since,
            if_unmodified_since: input.if_unmodified_since,
        }
        .check(&version)?;
        let details = version.details()?;
        let range = requested_range(input.range, version.size_bytes)?;
        let mut output = HeadObjectOutput::default();
        if range.is_none() && is_checked(input.checksum_mode.as_ref()) {
            set_checksums!(output, &details.checksums);
            output.checksum_type = Some(ChecksumType::from_static(details.checksums.kind()));
        }
        (output.content_length, output.content_range) = lengths(range, version.size_bytes);
        describe!(output, &version, details);
        Ok(output)
    }
}

fn is_checked(mode: Option<&ChecksumMode>) -> bool {
    mode.is_some_and(|mode| mode.as_str() == ChecksumMode::ENABLED)
}

fn requested_range(range: Option<Range>, size_bytes: u64) -> Result<Option<ops::Range<u64>>, Failure> {
    let Some(range) = range else {
        return Ok(None);
    };
    let range = range.check(size_bytes).map_err(|_| {
        s3_error!(
            InvalidRange,
            "The requested range is not satisfiable: the object has {size_bytes} bytes"
        )
    })?;
    Ok(Some(range))
}

fn lengths(range: Option<ops::Range<u64>>, size_bytes: u64) -> (Option<i64>, Option<String>) {
    let length = |bytes: u64| i64::try_from(bytes).ok();
    match range {
        None => (length(size_bytes), None),
        Some(range) => (
            length(range.end - range.start),
            Some(format!(
                "bytes {}-{}/{size_bytes}",
                range.start,
                range.end.saturating_sub(1)
            )),
        ),
    }
}

/// The conditions of a read, in the order in which HTTP wants them looked at.
struct ReadConditions {
    if_match: Option<ETagCondition>,
    if_none_match: Option<ETagCondition>,
    if_modified_since: Option<Timestamp>,
    if_unmodified_since: Option<Timestamp>,
}

impl ReadConditions {
    fn check(&self, version: &Version) -> Result<(), Failure> {
        // Headers carry whole seconds.
        let modified_s = version.modified_at.0.div_euclid(1000);
        let is_after = |since: &Timestamp| millis(since).is_some_and(|since| modified_s > since.0.div_euclid(1000));
        match (&self.if_match, &self.if_unmodified_since) {
            (Some(condition), _) if !matches(condition, version) => {
                return Err(precondition_failed("If-Match").into());
            }
            (None, Some(since)) if is_after(since) => {
                return Err(precondition_failed("If-Unmodified-Since").into());
            }
            _ => {}
        }
        let is_known = match (&self.if_none_match, &self.if_modified_since) {
            (Some(condition), _) => matches(condition, version),
            (None, Some(since)) => !is_after(since),
            (None, None) => false,
        };
        if is_known {
            return Err(not_modified(version));
        }
        Ok(())
    }
}

fn not_modified(version: &Version) -> Failure {
    let mut error = named("NotModified", http::StatusCode::NOT_MODIFIED, "Not Modified");
    let mut headers = http::HeaderMap::new();
    if let Ok(etag) = version.e_tag().to_http_header() {
        headers.insert(http::header::ETAG, etag);
    }
    error.set_headers(headers);
    error.into()
}
