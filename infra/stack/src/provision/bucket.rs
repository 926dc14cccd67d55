//! Makes a bucket. Its settings are written each time, as a deployment would.

use aws_sdk_s3::{
    Client,
    types::{
        AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, BucketLocationConstraint, BucketVersioningStatus,
        CreateBucketConfiguration, ExpirationStatus, LifecycleRule, LifecycleRuleFilter,
        PublicAccessBlockConfiguration, VersioningConfiguration,
    },
};

use crate::{Bucket, provision::ProvisionError};

pub(super) async fn make(s3: &Client, bucket: &Bucket, name: &str) -> Result<(), ProvisionError> {
    create(s3, name).await?;
    if bucket.versioned {
        let versioning = VersioningConfiguration::builder()
            .status(BucketVersioningStatus::Enabled)
            .build();
        let request = s3
            .put_bucket_versioning()
            .bucket(name)
            .versioning_configuration(versioning);
        request
            .send()
            .await
            .map_err(ProvisionError::call("PutBucketVersioning", name))?;
    }
    if bucket.blocks_public_access {
        let block = PublicAccessBlockConfiguration::builder()
            .block_public_acls(true)
            .block_public_policy(true)
            .ignore_public_acls(true)
            .restrict_public_buckets(true)
            .build();
        let request = s3
            .put_public_access_block()
            .bucket(name)
            .public_access_block_configuration(block);
        request
            .send()
            .await
            .map_err(ProvisionError::call("PutPublicAccessBlock", name))?;
    }
    if let Some(days) = bucket.abort_incomplete_after_days {
        let request = s3.put_bucket_lifecycle_configuration().bucket(name);
        let request = request.lifecycle_configuration(abort_incomplete(name, days)?);
        request
            .send()
            .await
            .map_err(ProvisionError::call("PutBucketLifecycleConfiguration", name))?;
    }
    Ok(())
}

async fn create(s3: &Client, name: &str) -> Result<(), ProvisionError> {
    let mut request = s3.create_bucket().bucket(name);
    // The first region is the only one that must not be named.
    if let Some(region) = s3.config().region().filter(|region| region.as_ref() != "us-east-1") {
        let place = BucketLocationConstraint::from(region.as_ref());
        let configuration = CreateBucketConfiguration::builder().location_constraint(place).build();
        request = request.create_bucket_configuration(configuration);
    }
    match request.send().await {
        Ok(_) => Ok(()),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_bucket_already_owned_by_you()) =>
        {
            Ok(())
        }
        Err(error) => Err(ProvisionError::call("CreateBucket", name)(error)),
    }
}

fn abort_incomplete(name: &str, days: i32) -> Result<BucketLifecycleConfiguration, ProvisionError> {
    let rule = LifecycleRule::builder()
        .id("drop-incomplete-uploads")
        .status(ExpirationStatus::Enabled)
        .filter(LifecycleRuleFilter::builder().prefix("").build())
        .abort_incomplete_multipart_upload(
            AbortIncompleteMultipartUpload::builder()
                .days_after_initiation(days)
                .build(),
        )
        .build()
        .map_err(ProvisionError::call("PutBucketLifecycleConfiguration", name))?;
    let configuration = BucketLifecycleConfiguration::builder().rules(rule).build();
    configuration.map_err(ProvisionError::call("PutBucketLifecycleConfiguration", name))
}
