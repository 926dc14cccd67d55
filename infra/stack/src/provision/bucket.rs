//! Creates a bucket.

use aws_sdk_s3::{
    Client,
    types::{BucketLocationConstraint, CreateBucketConfiguration},
};

use crate::provision::ProvisionError;

pub(super) async fn make(s3: &Client, name: &str) -> Result<(), ProvisionError> {
    let mut request = s3.create_bucket().bucket(name);
    // S3 rejects `us-east-1` as a location constraint.
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
