//! The operations of S3 and where each is done.

use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};

use super::blobs::Blobs;
use crate::StartError;
use crate::data_dir::DataDir;
use crate::sqlite::{Db, Schema};

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
        // The blobs first: they make the folder.
        let blobs = Blobs::open(data_dir)?;
        let db = Db::open(data_dir.join("s3.sqlite").as_deref(), &SCHEMA)?;
        Ok(Backend { db, blobs })
    }
}

/// One line for each operation: its name at S3, its types, and the method of ours that does it.
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
    };
}

operations! {
    create_bucket(CreateBucketInput) -> CreateBucketOutput = create_bucket;
    delete_bucket(DeleteBucketInput) -> DeleteBucketOutput = delete_bucket;
    head_bucket(HeadBucketInput) -> HeadBucketOutput = head_bucket;
    list_buckets(ListBucketsInput) -> ListBucketsOutput = list_buckets;
    get_bucket_location(GetBucketLocationInput) -> GetBucketLocationOutput = bucket_location;
    get_bucket_versioning(GetBucketVersioningInput) -> GetBucketVersioningOutput = bucket_versioning;
    put_bucket_versioning(PutBucketVersioningInput) -> PutBucketVersioningOutput = set_bucket_versioning;
    get_bucket_encryption(GetBucketEncryptionInput) -> GetBucketEncryptionOutput = bucket_encryption;
    put_bucket_encryption(PutBucketEncryptionInput) -> PutBucketEncryptionOutput = set_bucket_encryption;
    get_public_access_block(GetPublicAccessBlockInput) -> GetPublicAccessBlockOutput = public_access_block;
    put_public_access_block(PutPublicAccessBlockInput) -> PutPublicAccessBlockOutput = set_public_access_block;
    get_bucket_lifecycle_configuration(GetBucketLifecycleConfigurationInput)
        -> GetBucketLifecycleConfigurationOutput = bucket_lifecycle;
    put_bucket_lifecycle_configuration(PutBucketLifecycleConfigurationInput)
        -> PutBucketLifecycleConfigurationOutput = set_bucket_lifecycle;
    delete_bucket_lifecycle(DeleteBucketLifecycleInput) -> DeleteBucketLifecycleOutput = delete_bucket_lifecycle;
    get_bucket_policy(GetBucketPolicyInput) -> GetBucketPolicyOutput = bucket_policy;
    put_bucket_policy(PutBucketPolicyInput) -> PutBucketPolicyOutput = set_bucket_policy;
    get_bucket_tagging(GetBucketTaggingInput) -> GetBucketTaggingOutput = bucket_tagging;
    put_bucket_tagging(PutBucketTaggingInput) -> PutBucketTaggingOutput = set_bucket_tagging;
    get_object_lock_configuration(GetObjectLockConfigurationInput) -> GetObjectLockConfigurationOutput = object_lock;
    put_object_lock_configuration(PutObjectLockConfigurationInput)
        -> PutObjectLockConfigurationOutput = set_object_lock;

    put_object(PutObjectInput) -> PutObjectOutput = put;
    copy_object(CopyObjectInput) -> CopyObjectOutput = copy;
    get_object(GetObjectInput) -> GetObjectOutput = get;
    head_object(HeadObjectInput) -> HeadObjectOutput = head;
    delete_object(DeleteObjectInput) -> DeleteObjectOutput = delete;
    delete_objects(DeleteObjectsInput) -> DeleteObjectsOutput = delete_many;
    get_object_tagging(GetObjectTaggingInput) -> GetObjectTaggingOutput = tagging;
    put_object_tagging(PutObjectTaggingInput) -> PutObjectTaggingOutput = set_tagging;
    delete_object_tagging(DeleteObjectTaggingInput) -> DeleteObjectTaggingOutput = delete_tagging;
    get_object_retention(GetObjectRetentionInput) -> GetObjectRetentionOutput = retention;
    put_object_retention(PutObjectRetentionInput) -> PutObjectRetentionOutput = set_retention;
    get_object_legal_hold(GetObjectLegalHoldInput) -> GetObjectLegalHoldOutput = legal_hold;
    put_object_legal_hold(PutObjectLegalHoldInput) -> PutObjectLegalHoldOutput = set_legal_hold;
    list_objects_v2(ListObjectsV2Input) -> ListObjectsV2Output = list;
    list_object_versions(ListObjectVersionsInput) -> ListObjectVersionsOutput = list_versions;

    create_multipart_upload(CreateMultipartUploadInput) -> CreateMultipartUploadOutput = begin_upload;
    upload_part(UploadPartInput) -> UploadPartOutput = upload_part;
    complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput = complete_upload;
    abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput = abort_upload;
    list_parts(ListPartsInput) -> ListPartsOutput = list_parts;
    list_multipart_uploads(ListMultipartUploadsInput) -> ListMultipartUploadsOutput = list_uploads;
}
