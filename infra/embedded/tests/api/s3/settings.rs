use aws_sdk_s3::types::{BucketVersioningStatus, PublicAccessBlockConfiguration};

use super::{BUCKET, code, create_bucket};
use crate::stack::Stack;

#[tokio::test]
async fn settings_of_a_bucket_read_back_as_they_were_given() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, true).await;
    let error = client.create_bucket().bucket(BUCKET).send().await;
    assert!(error.unwrap_err().into_service_error().is_bucket_already_owned_by_you());
    client
        .put_public_access_block()
        .bucket(BUCKET)
        .public_access_block_configuration(
            PublicAccessBlockConfiguration::builder()
                .block_public_acls(true)
                .ignore_public_acls(false)
                .build(),
        )
        .send()
        .await
        .unwrap();
    let block = client
        .get_public_access_block()
        .bucket(BUCKET)
        .send()
        .await
        .unwrap()
        .public_access_block_configuration
        .unwrap();
    assert_eq!(block.block_public_acls(), Some(true));
    assert_eq!(block.ignore_public_acls(), Some(false));
    let lifecycle = client
        .get_bucket_lifecycle_configuration()
        .bucket(BUCKET)
        .send()
        .await
        .unwrap_err();
    assert_eq!(code(&lifecycle), "NoSuchLifecycleConfiguration");
    let encryption = client.get_bucket_encryption().bucket(BUCKET).send();
    let encryption = encryption.await.unwrap();
    let rules = encryption.server_side_encryption_configuration().unwrap();
    assert_eq!(rules.rules().len(), 1);
    let versioning = client.get_bucket_versioning().bucket(BUCKET).send();
    assert_eq!(
        versioning.await.unwrap().status(),
        Some(&BucketVersioningStatus::Enabled)
    );
}
