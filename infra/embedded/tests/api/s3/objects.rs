use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{ChecksumAlgorithm, MetadataDirective, ServerSideEncryption, Tag, Tagging};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioExecutor;

use super::{BUCKET, code, create_bucket, get, put};
use crate::stack::Stack;

#[tokio::test]
async fn an_object_comes_back_with_all_that_was_said_about_it() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    let written = client
        .put_object()
        .bucket(BUCKET)
        .key("a/ñ & +%.xml")
        .content_type("application/xml")
        .cache_control("no-store")
        .metadata("rnc", "131880681")
        .body(ByteStream::from_static(b"<a/>"))
        .send()
        .await
        .unwrap();
    assert_eq!(written.server_side_encryption(), Some(&ServerSideEncryption::Aes256));
    assert!(written.checksum_crc32().is_some(), "the SDK sends this one");
    assert!(written.version_id().is_none());
    let read = client
        .get_object()
        .bucket(BUCKET)
        .key("a/ñ & +%.xml")
        .send()
        .await
        .unwrap();
    assert_eq!(read.content_type(), Some("application/xml"));
    assert_eq!(read.cache_control(), Some("no-store"));
    assert_eq!(read.content_length(), Some(4));
    assert_eq!(read.metadata().unwrap()["rnc"], "131880681");
    assert_eq!(read.e_tag(), written.e_tag());
    assert_eq!(read.checksum_crc32(), written.checksum_crc32());
    assert!(read.last_modified().is_some());
    let head = client
        .head_object()
        .bucket(BUCKET)
        .key("a/ñ & +%.xml")
        .send()
        .await
        .unwrap();
    assert_eq!(head.content_length(), Some(4));
    assert_eq!(head.e_tag(), written.e_tag());
}

#[tokio::test]
async fn the_etag_is_the_md5_of_the_content() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    let written = client
        .put_object()
        .bucket(BUCKET)
        .key("hello")
        .body(ByteStream::from_static(b"hello"))
        .send()
        .await
        .unwrap();
    assert_eq!(written.e_tag(), Some("\"5d41402abc4b2a76b9719d911017c592\""));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let stack = Stack::start().await;
    let client = stack.s3();
    let get = || client.get_object().bucket(BUCKET).key("nothing").send();
    assert_eq!(code(&get().await.unwrap_err()), "NoSuchBucket");
    create_bucket(&client, false).await;
    assert!(get().await.unwrap_err().into_service_error().is_no_such_key());
    let head = client.head_object().bucket(BUCKET).key("nothing").send();
    assert!(head.await.unwrap_err().into_service_error().is_not_found());
    let head = client.head_bucket().bucket("elsewhere").send().await;
    assert!(head.unwrap_err().into_service_error().is_not_found());
}

#[tokio::test]
async fn a_checksum_is_kept_and_a_wrong_one_refused() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    let hello = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
    let put = |checksum: &str| {
        client
            .put_object()
            .bucket(BUCKET)
            .key("hello")
            .checksum_sha256(checksum)
            .body(ByteStream::from_static(b"hello"))
            .send()
    };
    let written = put(hello).await.unwrap();
    assert_eq!(written.checksum_sha256(), Some(hello));
    let wrong = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert_eq!(code(&put(wrong).await.unwrap_err()), "BadDigest");
    let head = client
        .head_object()
        .bucket(BUCKET)
        .key("hello")
        .checksum_mode(aws_sdk_s3::types::ChecksumMode::Enabled)
        .send()
        .await
        .unwrap();
    assert_eq!(head.checksum_sha256(), Some(hello));
}

#[tokio::test]
async fn a_streamed_upload_arrives_without_its_transfer_coding() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    let content: Vec<u8> = (0..=250).cycle().take(300_000).collect();
    std::fs::write(&path, &content).unwrap();
    let written = client
        .put_object()
        .bucket(BUCKET)
        .key("big")
        .checksum_algorithm(ChecksumAlgorithm::Sha256)
        .body(ByteStream::from_path(&path).await.unwrap())
        .send()
        .await
        .unwrap();
    assert!(written.checksum_sha256().is_some());
    let read = client.get_object().bucket(BUCKET).key("big").send();
    let read = read.await.unwrap();
    assert_eq!(read.content_encoding(), None);
    assert_eq!(read.body.collect().await.unwrap().to_vec(), content);
}

#[tokio::test]
async fn presigned_addresses_work_until_they_are_changed_or_expire() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    put(&client, "a", "content").await;
    let presigned = client
        .get_object()
        .bucket(BUCKET)
        .key("a")
        .presigned(PresigningConfig::expires_in(Duration::from_secs(60)).unwrap())
        .await
        .unwrap();
    let fetch = async |uri: String| {
        let http =
            hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http::<Empty<bytes::Bytes>>();
        let answer = http.get(uri.parse().unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.into_body().collect().await.unwrap().to_bytes())
    };
    let uri = presigned.uri().to_owned();
    assert_eq!(fetch(uri.clone()).await, (200, "content".into()));
    let (status, _) = fetch(uri.replace("/a?", "/b?")).await;
    assert_eq!(status, 403);
    let (status, _) = fetch(uri.replace("X-Amz-Expires=60", "X-Amz-Expires=61")).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn tags_and_metadata_follow_a_copy_unless_they_are_replaced() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    client
        .put_object()
        .bucket(BUCKET)
        .key("a")
        .metadata("kind", "xml")
        .tagging("state=signed&note=a%20b")
        .body(ByteStream::from_static(b"content"))
        .send()
        .await
        .unwrap();
    let copy = || client.copy_object().bucket(BUCKET).copy_source(format!("{BUCKET}/a"));
    copy().key("b").send().await.unwrap();
    copy()
        .key("c")
        .metadata_directive(MetadataDirective::Replace)
        .metadata("kind", "pdf")
        .send()
        .await
        .unwrap();
    assert_eq!(get(&client, "b", None).await, "content");
    for (key, kind) in [("b", "xml"), ("c", "pdf")] {
        let head = client.head_object().bucket(BUCKET).key(key).send();
        assert_eq!(head.await.unwrap().metadata().unwrap()["kind"], kind);
    }
    let tags = async |key: &str| {
        let answer = client.get_object_tagging().bucket(BUCKET).key(key).send();
        let answer = answer.await.unwrap();
        let mut tags: Vec<String> = answer
            .tag_set()
            .iter()
            .map(|tag| format!("{}={}", tag.key(), tag.value()))
            .collect();
        // Nobody promises their order.
        tags.sort();
        tags
    };
    assert_eq!(tags("b").await, ["note=a b", "state=signed"]);
    let tag = Tag::builder().key("state").value("sent").build().unwrap();
    client
        .put_object_tagging()
        .bucket(BUCKET)
        .key("b")
        .tagging(Tagging::builder().tag_set(tag).build().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(tags("b").await, ["state=sent"]);
    assert_eq!(tags("a").await, ["note=a b", "state=signed"]);
}
