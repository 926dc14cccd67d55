use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};

use super::{BUCKET, code, create_bucket};
use crate::stack::Stack;

#[tokio::test]
async fn parts_become_one_object_when_the_upload_is_completed() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
    let begin = async || {
        let begun = client
            .create_multipart_upload()
            .bucket(BUCKET)
            .key("big")
            .content_type("application/zip")
            .send()
            .await
            .unwrap();
        begun.upload_id.unwrap()
    };
    let part = async |upload: &str, number: i32, body: Vec<u8>| {
        let written = client
            .upload_part()
            .bucket(BUCKET)
            .key("big")
            .upload_id(upload)
            .part_number(number)
            .body(ByteStream::from(body))
            .send()
            .await
            .unwrap();
        CompletedPart::builder()
            .part_number(number)
            .set_e_tag(written.e_tag)
            .build()
    };
    let complete = async |upload: &str, parts: Vec<CompletedPart>| {
        client
            .complete_multipart_upload()
            .bucket(BUCKET)
            .key("big")
            .upload_id(upload)
            .multipart_upload(CompletedMultipartUpload::builder().set_parts(Some(parts)).build())
            .send()
            .await
    };
    const FIVE_MB: usize = 5 * 1024 * 1024;

    let upload = begin().await;
    let first = part(&upload, 1, vec![b'a'; FIVE_MB]).await;
    let small = part(&upload, 2, vec![b'b'; 10]).await;
    let last = part(&upload, 3, vec![b'c'; 10]).await;
    let error = complete(&upload, vec![small.clone(), first.clone()]).await;
    assert_eq!(code(&error.unwrap_err()), "InvalidPartOrder");
    let error = complete(&upload, vec![first.clone(), small, last.clone()]).await;
    assert_eq!(code(&error.unwrap_err()), "EntityTooSmall");
    let completed = complete(&upload, vec![first, last]).await.unwrap();
    assert!(completed.e_tag().unwrap().ends_with("-2\""));
    let read = client.get_object().bucket(BUCKET).key("big").send();
    let read = read.await.unwrap();
    assert_eq!(read.content_type(), Some("application/zip"));
    let content = read.body.collect().await.unwrap().to_vec();
    assert_eq!(content.len(), FIVE_MB + 10);
    assert_eq!(content[FIVE_MB - 1..=FIVE_MB], *b"ac");

    let upload = begin().await;
    part(&upload, 1, b"x".to_vec()).await;
    let under_way = async || {
        let listed = client.list_multipart_uploads().bucket(BUCKET).send().await.unwrap();
        listed.uploads().len()
    };
    assert_eq!(under_way().await, 1);
    client
        .abort_multipart_upload()
        .bucket(BUCKET)
        .key("big")
        .upload_id(&upload)
        .send()
        .await
        .unwrap();
    assert_eq!(under_way().await, 0);
    let error = complete(&upload, vec![]).await.unwrap_err();
    assert_eq!(code(&error), "NoSuchUpload");
}
