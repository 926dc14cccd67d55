//! Makes a bucket. Its settings are written each time, as a deployment would.

use aws_sdk_s3::{
    Client,
    types::{
        AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, BucketLocationConstraint, BucketVersioningStatus,
        CreateBucketConfiguration, ExpirationStatus, LifecycleExpiration, LifecycleRule, LifecycleRuleFilter,
        NoncurrentVersionExpiration, PublicAccessBlockConfiguration, VersioningConfiguration,
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
    let rules = rules(bucket, name)?;
    if !rules.is_empty() {
        let configuration = BucketLifecycleConfiguration::builder().set_rules(Some(rules)).build();
        let configuration = configuration.map_err(ProvisionError::call("PutBucketLifecycleConfiguration", name))?;
        let request = s3.put_bucket_lifecycle_configuration().bucket(name);
        let request = request.lifecycle_configuration(configuration);
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

fn rules(bucket: &Bucket, name: &str) -> Result<Vec<LifecycleRule>, ProvisionError> {
    let rule = |id: &str, prefix: &str| {
        LifecycleRule::builder()
            .id(id)
            .status(ExpirationStatus::Enabled)
            .filter(LifecycleRuleFilter::builder().prefix(prefix).build())
    };
    let abort = bucket.abort_incomplete_after_days.map(|days| {
        let abort = AbortIncompleteMultipartUpload::builder()
            .days_after_initiation(days)
            .build();
        rule("drop-incomplete-uploads", "").abort_incomplete_multipart_upload(abort)
    });
    let expiries = bucket.expiries.iter().map(|expiry| {
        let noncurrent = NoncurrentVersionExpiration::builder()
            .noncurrent_days(expiry.noncurrent_days)
            .build();
        rule(&expiry.id, &expiry.prefix)
            .expiration(LifecycleExpiration::builder().days(expiry.days).build())
            .noncurrent_version_expiration(noncurrent)
    });
    let rules = abort.into_iter().chain(expiries).map(|rule| rule.build());
    let rules: Result<_, _> = rules.collect();
    rules.map_err(ProvisionError::call("PutBucketLifecycleConfiguration", name))
}
