//! The S3 operations and the methods that implement them.

use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};

use super::blobs::Blobs;
use crate::StartError;
use crate::data_dir::DataDir;
use crate::sqlite::{Db, Schema};

/// Unused columns and tables belong to an earlier version with the same layout number. Each version opens the other's
/// folder (`infra/checks/upgrade`).
const SCHEMA: Schema = Schema {
    service: "s3",
    layout: 1,
    sql: "
        CREATE TABLE buckets (
            name TEXT PRIMARY KEY,
            created_at INTEGER NOT NULL,
            versioning TEXT NOT NULL,
            object_lock INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE settings (
            bucket TEXT NOT NULL REFERENCES buckets (name) ON DELETE CASCADE,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (bucket, name)
        ) STRICT;
        CREATE TABLE objects (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            bucket TEXT NOT NULL REFERENCES buckets (name),
            key TEXT NOT NULL,
            version_id TEXT NOT NULL,
            is_latest INTEGER NOT NULL,
            is_delete_marker INTEGER NOT NULL,
            size_bytes INTEGER NOT NULL,
            etag TEXT NOT NULL,
            blob TEXT,
            modified_at INTEGER NOT NULL,
            details TEXT NOT NULL,
            tags TEXT NOT NULL,
            retention_mode TEXT,
            retain_until INTEGER,
            legal_hold INTEGER NOT NULL,
            UNIQUE (bucket, key, version_id)
        ) STRICT;
        CREATE UNIQUE INDEX latest_objects ON objects (bucket, key) WHERE is_latest;
        CREATE INDEX objects_by_age ON objects (bucket, key, seq DESC);
        CREATE TABLE uploads (
            upload_id TEXT PRIMARY KEY,
            bucket TEXT NOT NULL REFERENCES buckets (name) ON DELETE CASCADE,
            key TEXT NOT NULL,
            begun_at INTEGER NOT NULL,
            plan TEXT NOT NULL
        ) STRICT;
        CREATE TABLE parts (
            upload_id TEXT NOT NULL REFERENCES uploads (upload_id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            blob TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            etag TEXT NOT NULL,
            checksums TEXT NOT NULL,
            modified_at INTEGER NOT NULL,
            PRIMARY KEY (upload_id, number)
        ) STRICT;
    ",
};

pub(crate) struct Backend {
    pub(crate) db: Db,
    pub(crate) blobs: Blobs,
}

impl Backend {
    pub(crate) fn open(data_dir: &DataDir) -> Result<Backend, StartError> {
        // The blobs go first: they create the folder.
        let blobs = Blobs::open(data_dir)?;
        let db = Db::open(data_dir.join("s3.sqlite").as_deref(), &SCHEMA)?;
        Ok(Backend { db, blobs })
    }
}

/// One line for each operation that has a caller: its S3 name, its types, and the method that implements it.
macro_rules! operations {
    ($($operation:ident($input:ty) -> $output:ty = $method:ident;)*) => {
        #[async_trait::async_trait]
        impl S3 for Backend {
            $(
                async fn $operation(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                    Ok(S3Response::new(self.$method(request).await?))
                }
            )*
        }

        const INPUTS: &[&str] = &[$(stringify!($input)),*];
    };
}

operations! {
    create_bucket(CreateBucketInput) -> CreateBucketOutput = create_bucket;
    put_object(PutObjectInput) -> PutObjectOutput = put;
    get_object(GetObjectInput) -> GetObjectOutput = get;
    delete_object(DeleteObjectInput) -> DeleteObjectOutput = delete;
    list_objects_v2(ListObjectsV2Input) -> ListObjectsV2Output = list;
    create_multipart_upload(CreateMultipartUploadInput) -> CreateMultipartUploadOutput = begin_upload;
    upload_part(UploadPartInput) -> UploadPartOutput = upload_part;
    complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput = complete_upload;
    abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput = abort_upload;
    list_multipart_uploads(ListMultipartUploadsInput) -> ListMultipartUploadsOutput = list_uploads;
}

/// Whether `operations!` lists an operation of this name.
pub(crate) fn has(operation: &str) -> bool {
    INPUTS
        .iter()
        .any(|input| input.strip_suffix("Input") == Some(operation))
}
