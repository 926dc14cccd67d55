mod objects;
mod uploads;

use aws_sdk_s3::Client;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;

pub(crate) const BUCKET: &str = "documents";

pub(crate) async fn create_bucket(client: &Client) {
    client.create_bucket().bucket(BUCKET).send().await.unwrap();
}

pub(crate) async fn put(client: &Client, key: &str, body: &str) {
    let request = client.put_object().bucket(BUCKET).key(key);
    let request = request.body(ByteStream::from(body.as_bytes().to_vec()));
    request.send().await.unwrap();
}

pub(crate) async fn get(client: &Client, key: &str) -> String {
    let answer = client.get_object().bucket(BUCKET).key(key).send().await.unwrap();
    let bytes = answer.body.collect().await.unwrap().to_vec();
    String::from_utf8(bytes).unwrap()
}

fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &str {
    error.code().unwrap_or("none")
}
