//! Failures below the protocol, and the errors of S3 that several operations share.

use s3s::{S3Error, s3_error};

/// An S3 error, or the failure of a file or a database, which becomes an S3 error.
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

pub(crate) fn no_such_upload(upload: &str) -> S3Error {
    s3_error!(NoSuchUpload, "The specified multipart upload does not exist: {upload}")
}
