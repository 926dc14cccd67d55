//! Failures below the protocol, and the errors of S3 that several operations share.

use http::HeaderMap;
use s3s::{S3Error, S3ErrorCode, s3_error};

/// An answer of S3, or the failure of a file or a database. Handlers turn it into the former.
#[derive(Debug)]
pub(crate) struct Failure(S3Error);

impl From<S3Error> for Failure {
    fn from(error: S3Error) -> Failure {
        Failure(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure(S3Error::internal_error(error))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure(S3Error::internal_error(error))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(S3Error::internal_error(error))
    }
}

impl From<Failure> for S3Error {
    fn from(failure: Failure) -> S3Error {
        failure.0
    }
}

pub(crate) fn no_such_bucket(bucket: &str) -> S3Error {
    s3_error!(NoSuchBucket, "The specified bucket does not exist: {bucket}")
}

pub(crate) fn no_such_key(key: &str) -> S3Error {
    s3_error!(NoSuchKey, "The specified key does not exist: {key}")
}

pub(crate) fn no_such_version(version: &str) -> S3Error {
    s3_error!(NoSuchVersion, "The specified version does not exist: {version}")
}

pub(crate) fn no_such_upload(upload: &str) -> S3Error {
    s3_error!(NoSuchUpload, "The specified multipart upload does not exist: {upload}")
}

/// An error that `s3s` has no name for.
pub(crate) fn named(code: &'static str, status: http::StatusCode, message: &'static str) -> S3Error {
    let mut error = S3Error::with_message(S3ErrorCode::Custom(code.into()), message);
    error.set_status_code(status);
    error
}

/// What a read of a delete marker answers with, beside its status.
pub(crate) fn on_delete_marker(mut error: S3Error, version_id: &str) -> S3Error {
    let mut headers = HeaderMap::new();
    headers.insert("x-amz-delete-marker", http::HeaderValue::from_static("true"));
    if let Ok(version_id) = http::HeaderValue::try_from(version_id) {
        headers.insert("x-amz-version-id", version_id);
    }
    error.set_headers(headers);
    error
}
