mod conditions;
mod objects;
mod settings;
mod uploads;
mod versions;

use aws_sdk_s3::Client;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{BucketVersioningStatus, VersioningConfiguration};

pub(crate) const BUCKET: &str = "documents";

pub(crate) async fn create_bucket(client: &Client, versioned: bool) {
    client.create_bucket().bucket(BUCKET).send().await.unwrap();
    if versioned {
        client
            .put_bucket_versioning()
            .bucket(BUCKET)
            .versioning_configuration(
                VersioningConfiguration::builder()
                    .status(BucketVersioningStatus::Enabled)
                    .build(),
            )
            .send()
            .await
            .unwrap();
    }
}

/// Writes an object and answers with its version.
pub(crate) async fn put(client: &Client, key: &str, body: &str) -> Option<String> {
    let request = client.put_object().bucket(BUCKET).key(key);
    let request = request.body(ByteStream::from(body.as_bytes().to_vec()));
    request.send().await.unwrap().version_id
}

pub(crate) async fn get(client: &Client, key: &str, version: Option<&str>) -> String {
    let request = client.get_object().bucket(BUCKET).key(key);
    let answer = request.set_version_id(version.map(str::to_owned)).send().await.unwrap();
    let bytes = answer.body.collect().await.unwrap().to_vec();
    String::from_utf8(bytes).unwrap()
}

fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &str {
    error.code().unwrap_or("none")
}

fn status<E>(error: &SdkError<E>) -> u16 {
    error.raw_response().unwrap().status().as_u16()
}
