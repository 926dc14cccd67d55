use std::time::Duration;

use aws_sdk_s3::error::ProvideErrorMetadata;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioExecutor;

use super::{BUCKET, code, create_bucket, get, put};
use crate::stack::Stack;

#[tokio::test]
async fn an_object_comes_back_with_all_that_was_said_about_it() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
    let key = "a/ñ & +%.xml";
    let put = client
        .put_object()
        .bucket(BUCKET)
        .key(key)
        .content_type("application/xml");
    let written = put.body(ByteStream::from_static(b"hello")).send().await.unwrap();
    // The MD5 of the content.
    assert_eq!(written.e_tag(), Some("\"5d41402abc4b2a76b9719d911017c592\""));
    let read = client.get_object().bucket(BUCKET).key(key).send().await.unwrap();
    assert_eq!(read.content_type(), Some("application/xml"));
    assert_eq!(read.content_length(), Some(5));
    assert_eq!(read.e_tag(), written.e_tag());
    assert!(read.last_modified().is_some());
    assert_eq!(read.body.collect().await.unwrap().to_vec(), b"hello");
}

#[tokio::test]
async fn the_last_write_is_the_object_until_it_is_deleted() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
    put(&client, "a", "one").await;
    put(&client, "a", "two").await;
    assert_eq!(get(&client, "a").await, "two");
    for _twice in 0..2 {
        let delete = client.delete_object().bucket(BUCKET).key("a").send();
        delete.await.unwrap();
    }
    let error = client.get_object().bucket(BUCKET).key("a").send().await.unwrap_err();
    assert_eq!(code(&error), "NoSuchKey");
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let stack = Stack::start().await;
    let client = stack.s3();
    let get = || client.get_object().bucket(BUCKET).key("nothing").send();
    assert_eq!(code(&get().await.unwrap_err()), "NoSuchBucket");
    create_bucket(&client).await;
    assert!(get().await.unwrap_err().into_service_error().is_no_such_key());
}

#[tokio::test]
async fn a_bucket_is_created_once() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
    let error = client.create_bucket().bucket(BUCKET).send().await;
    assert!(error.unwrap_err().into_service_error().is_bucket_already_owned_by_you());
}

#[tokio::test]
async fn presigned_addresses_work_until_they_are_changed_or_expire() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
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
async fn lists_go_page_by_page_in_the_order_of_keys() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
    for key in ["b/2", "a/1", "c", "b/1", "a/2"] {
        put(&client, key, key).await;
    }
    let keys = async |prefix: &str| {
        let (mut found, mut token) = (Vec::new(), None);
        loop {
            let list = client.list_objects_v2().bucket(BUCKET).prefix(prefix).max_keys(2);
            let page = list.set_continuation_token(token).send().await.unwrap();
            assert!(page.contents().len() <= 2);
            found.extend(page.contents().iter().map(|object| object.key().unwrap().to_owned()));
            token = page.next_continuation_token;
            if token.is_none() {
                return found;
            }
        }
    };
    assert_eq!(keys("").await, ["a/1", "a/2", "b/1", "b/2", "c"]);
    assert_eq!(keys("b/").await, ["b/1", "b/2"]);
}

#[tokio::test]
async fn what_is_not_embedded_is_refused_by_name() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client).await;
    put(&client, "a", "one").await;
    let object = || client.get_object().bucket(BUCKET).key("a");
    let refused = |error: &dyn ProvideErrorMetadata| {
        assert_eq!(error.code(), Some("NotImplemented"));
        error.message().unwrap().to_owned()
    };
    let tagging = client.get_object_tagging().bucket(BUCKET).key("a").send().await;
    let version = object().version_id("1").send().await;
    let range = object().range("bytes=0-1").send().await;
    let condition = client
        .put_object()
        .bucket(BUCKET)
        .key("a")
        .if_none_match("*")
        .send()
        .await;
    let encryption = client
        .put_object()
        .bucket(BUCKET)
        .key("a")
        .ssekms_key_id("key")
        .send()
        .await;
    assert_eq!(
        [
            refused(&tagging.unwrap_err()),
            refused(&version.unwrap_err()),
            refused(&range.unwrap_err()),
            refused(&condition.unwrap_err()),
            refused(&encryption.unwrap_err()),
        ],
        [
            "GetObjectTagging is not embedded here",
            "GetObject with the parameter versionId is not embedded here",
            "GetObject with the header range is not embedded here",
            "PutObject with the header if-none-match is not embedded here",
            "PutObject with the header x-amz-server-side-encryption-aws-kms-key-id is not embedded here",
        ]
    );
    assert_eq!(get(&client, "a").await, "one");
}
