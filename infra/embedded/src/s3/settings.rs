//! The settings of buckets. Two change what writes do: the default encryption and the default retention; the others
//! are kept and given back.

use rusqlite::{OptionalExtension, Transaction};
use s3s::dto::*;
use s3s::{S3Request, s3_error};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::backend::Backend;
use super::buckets::{Bucket, Versioning};
use super::details::Encryption;
use super::errors::{Failure, named};

#[derive(Clone, Copy)]
enum Setting {
    Encryption,
    Lifecycle,
    ObjectLock,
    Policy,
    PublicAccessBlock,
    Tagging,
}

impl Setting {
    fn name(self) -> &'static str {
        match self {
            Setting::Encryption => "encryption",
            Setting::Lifecycle => "lifecycle",
            Setting::ObjectLock => "object-lock",
            Setting::Policy => "policy",
            Setting::PublicAccessBlock => "public-access-block",
            Setting::Tagging => "tagging",
        }
    }
}

impl Bucket {
    /// How objects are encrypted whose request does not say.
    pub(crate) fn default_encryption(&self, tx: &Transaction<'_>) -> Result<Encryption, Failure> {
        let setting: Option<ServerSideEncryptionConfiguration> = read_setting(tx, &self.name, Setting::Encryption)?;
        let rule = setting.and_then(|setting| setting.rules.into_iter().next());
        let Some(rule) = rule else {
            return Ok(Encryption::default());
        };
        let by_default = rule.apply_server_side_encryption_by_default;
        Ok(match by_default {
            Some(default) => Encryption {
                algorithm: default.sse_algorithm,
                kms_key_id: default.kms_master_key_id,
                bucket_key_enabled: rule.bucket_key_enabled,
            },
            None => Encryption::default(),
        })
    }

    pub(crate) fn default_retention(&self, tx: &Transaction<'_>) -> Result<Option<DefaultRetention>, Failure> {
        let setting: Option<ObjectLockConfiguration> = read_setting(tx, &self.name, Setting::ObjectLock)?;
        Ok(setting
            .and_then(|setting| setting.rule)
            .and_then(|rule| rule.default_retention))
    }
}

fn read_setting<T: DeserializeOwned>(
    tx: &Transaction<'_>,
    bucket: &str,
    setting: Setting,
) -> Result<Option<T>, Failure> {
    let text: Option<String> = tx
        .prepare_cached("SELECT value FROM settings WHERE bucket = ?1 AND name = ?2")?
        .query_row((bucket, setting.name()), |row| row.get(0))
        .optional()?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}

impl Backend {
    fn keep<T: Serialize>(&self, bucket: &str, setting: Setting, value: Option<&T>) -> Result<(), Failure> {
        self.db.write(|tx| {
            let bucket = Bucket::read(tx, bucket)?;
            match value {
                Some(value) => tx.execute(
                    "INSERT INTO settings (bucket, name, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT (bucket, name) DO UPDATE SET value = excluded.value",
                    (&bucket.name, setting.name(), serde_json::to_string(value)?),
                )?,
                None => tx.execute(
                    "DELETE FROM settings WHERE bucket = ?1 AND name = ?2",
                    (&bucket.name, setting.name()),
                )?,
            };
            Ok(())
        })
    }

    fn kept<T: DeserializeOwned>(&self, bucket: &str, setting: Setting) -> Result<Option<T>, Failure> {
        self.db.read(|tx| {
            let bucket = Bucket::read(tx, bucket)?;
            read_setting(tx, &bucket.name, setting)
        })
    }

    pub(crate) async fn set_bucket_encryption(
        &self,
        request: S3Request<PutBucketEncryptionInput>,
    ) -> Result<PutBucketEncryptionOutput, Failure> {
        let value = &request.input.server_side_encryption_configuration;
        self.keep(&request.input.bucket, Setting::Encryption, Some(value))?;
        Ok(PutBucketEncryptionOutput {})
    }

    pub(crate) async fn bucket_encryption(
        &self,
        request: S3Request<GetBucketEncryptionInput>,
    ) -> Result<GetBucketEncryptionOutput, Failure> {
        let kept = self.kept(&request.input.bucket, Setting::Encryption)?;
        let setting = kept.unwrap_or_else(|| ServerSideEncryptionConfiguration {
            rules: vec![ServerSideEncryptionRule {
                apply_server_side_encryption_by_default: Some(ServerSideEncryptionByDefault {
                    kms_master_key_id: None,
                    sse_algorithm: ServerSideEncryption::from_static(ServerSideEncryption::AES256),
                }),
                bucket_key_enabled: Some(false),
            }],
        });
        Ok(GetBucketEncryptionOutput {
            server_side_encryption_configuration: Some(setting),
        })
    }

    pub(crate) async fn set_public_access_block(
        &self,
        request: S3Request<PutPublicAccessBlockInput>,
    ) -> Result<PutPublicAccessBlockOutput, Failure> {
        let value = &request.input.public_access_block_configuration;
        self.keep(&request.input.bucket, Setting::PublicAccessBlock, Some(value))?;
        Ok(PutPublicAccessBlockOutput {})
    }

    pub(crate) async fn public_access_block(
        &self,
        request: S3Request<GetPublicAccessBlockInput>,
    ) -> Result<GetPublicAccessBlockOutput, Failure> {
        let kept = self.kept(&request.input.bucket, Setting::PublicAccessBlock)?;
        // What S3 has turned on for every new bucket since 2023.
        let setting = kept.unwrap_or(PublicAccessBlockConfiguration {
            block_public_acls: Some(true),
            block_public_policy: Some(true),
            ignore_public_acls: Some(true),
            restrict_public_buckets: Some(true),
        });
        Ok(GetPublicAccessBlockOutput {
            public_access_block_configuration: Some(setting),
        })
    }

    pub(crate) async fn set_bucket_lifecycle(
        &self,
        request: S3Request<PutBucketLifecycleConfigurationInput>,
    ) -> Result<PutBucketLifecycleConfigurationOutput, Failure> {
        let value = request.input.lifecycle_configuration;
        let value = value.ok_or_else(|| s3_error!(MalformedXML, "Rules are required"))?;
        self.keep(&request.input.bucket, Setting::Lifecycle, Some(&value))?;
        Ok(PutBucketLifecycleConfigurationOutput::default())
    }

    pub(crate) async fn bucket_lifecycle(
        &self,
        request: S3Request<GetBucketLifecycleConfigurationInput>,
    ) -> Result<GetBucketLifecycleConfigurationOutput, Failure> {
        let kept: Option<BucketLifecycleConfiguration> = self.kept(&request.input.bucket, Setting::Lifecycle)?;
        let setting = kept.ok_or_else(|| {
            s3_error!(
                NoSuchLifecycleConfiguration,
                "The lifecycle configuration does not exist"
            )
        })?;
        Ok(GetBucketLifecycleConfigurationOutput {
            rules: Some(setting.rules),
            ..Default::default()
        })
    }

    pub(crate) async fn delete_bucket_lifecycle(
        &self,
        request: S3Request<DeleteBucketLifecycleInput>,
    ) -> Result<DeleteBucketLifecycleOutput, Failure> {
        self.keep::<()>(&request.input.bucket, Setting::Lifecycle, None)?;
        Ok(DeleteBucketLifecycleOutput {})
    }

    pub(crate) async fn set_bucket_policy(
        &self,
        request: S3Request<PutBucketPolicyInput>,
    ) -> Result<PutBucketPolicyOutput, Failure> {
        let value = &request.input.policy;
        self.keep(&request.input.bucket, Setting::Policy, Some(value))?;
        Ok(PutBucketPolicyOutput {})
    }

    pub(crate) async fn bucket_policy(
        &self,
        request: S3Request<GetBucketPolicyInput>,
    ) -> Result<GetBucketPolicyOutput, Failure> {
        let policy: Option<String> = self.kept(&request.input.bucket, Setting::Policy)?;
        let policy = policy.ok_or_else(|| s3_error!(NoSuchBucketPolicy, "The bucket policy does not exist"))?;
        Ok(GetBucketPolicyOutput { policy: Some(policy) })
    }

    pub(crate) async fn set_bucket_tagging(
        &self,
        request: S3Request<PutBucketTaggingInput>,
    ) -> Result<PutBucketTaggingOutput, Failure> {
        let value = &request.input.tagging.tag_set;
        self.keep(&request.input.bucket, Setting::Tagging, Some(value))?;
        Ok(PutBucketTaggingOutput {})
    }

    pub(crate) async fn bucket_tagging(
        &self,
        request: S3Request<GetBucketTaggingInput>,
    ) -> Result<GetBucketTaggingOutput, Failure> {
        let kept: Option<TagSet> = self.kept(&request.input.bucket, Setting::Tagging)?;
        let tag_set = kept.ok_or_else(|| s3_error!(NoSuchTagSet, "The TagSet does not exist"))?;
        Ok(GetBucketTaggingOutput { tag_set })
    }

    pub(crate) async fn set_object_lock(
        &self,
        request: S3Request<PutObjectLockConfigurationInput>,
    ) -> Result<PutObjectLockConfigurationOutput, Failure> {
        let value = request.input.object_lock_configuration;
        let value = value.ok_or_else(|| s3_error!(MalformedXML, "ObjectLockConfiguration is required"))?;
        self.db.write(|tx| {
            let bucket = Bucket::read(tx, &request.input.bucket)?;
            if bucket.versioning != Versioning::Enabled {
                return Err(Failure::from(s3_error!(
                    InvalidBucketState,
                    "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration"
                )));
            }
            tx.execute("UPDATE buckets SET object_lock = 1 WHERE name = ?1", [&bucket.name])?;
            Ok(())
        })?;
        self.keep(&request.input.bucket, Setting::ObjectLock, Some(&value))?;
        Ok(PutObjectLockConfigurationOutput::default())
    }

    pub(crate) async fn object_lock(
        &self,
        request: S3Request<GetObjectLockConfigurationInput>,
    ) -> Result<GetObjectLockConfigurationOutput, Failure> {
        let kept = self.kept(&request.input.bucket, Setting::ObjectLock)?;
        let bucket = self.db.read(|tx| Bucket::read(tx, &request.input.bucket))?;
        if !bucket.has_object_lock {
            return Err(named(
                "ObjectLockConfigurationNotFoundError",
                http::StatusCode::NOT_FOUND,
                "Object Lock configuration does not exist for this bucket",
            )
            .into());
        }
        let setting = kept.unwrap_or(ObjectLockConfiguration {
            object_lock_enabled: Some(ObjectLockEnabled::from_static(ObjectLockEnabled::ENABLED)),
            rule: None,
        });
        Ok(GetObjectLockConfigurationOutput {
            object_lock_configuration: Some(setting),
        })
    }
}
