use aws_sdk_s3::primitives::ByteStream;

use super::{BUCKET, code, create_bucket, get, put, status};
use crate::stack::Stack;

#[tokio::test]
async fn conditional_puts_at_the_same_time_have_one_winner() {
    let stack = Stack::start().await;
    create_bucket(&stack.s3(), true).await;
    for key in ["one", "two", "three"] {
        let writers: Vec<_> = (0..16)
            .map(|writer| {
                let client = stack.s3();
                tokio::spawn(async move {
                    client
                        .put_object()
                        .bucket(BUCKET)
                        .key(key)
                        .if_none_match("*")
                        .body(ByteStream::from(format!("writer {writer}").into_bytes()))
                        .send()
                        .await
                })
            })
            .collect();
        let mut winners = 0;
        for writer in writers {
            match writer.await.unwrap() {
                Ok(_) => winners += 1,
                Err(error) => assert_eq!(code(&error), "PreconditionFailed"),
            }
        }
        assert_eq!(winners, 1, "for {key}");
    }
}

#[tokio::test]
async fn an_object_is_replaced_only_if_it_is_the_one_expected() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    let replace = async |etag: &str, body: &'static str| {
        client
            .put_object()
            .bucket(BUCKET)
            .key("state")
            .if_match(etag)
            .body(ByteStream::from_static(body.as_bytes()))
            .send()
            .await
    };
    let first = "\"5d41402abc4b2a76b9719d911017c592\"";
    let error = replace(first, "one").await.unwrap_err();
    assert_eq!(code(&error), "NoSuchKey");
    put(&client, "state", "one").await;
    let error = replace(first, "two").await.unwrap_err();
    assert_eq!(code(&error), "PreconditionFailed");
    let head = client.head_object().bucket(BUCKET).key("state");
    let etag = head.send().await.unwrap().e_tag.unwrap();
    replace(&etag, "two").await.unwrap();
    assert_eq!(get(&client, "state", None).await, "two");
}

#[tokio::test]
async fn a_read_can_be_conditional_and_partial() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, false).await;
    put(&client, "digits", "0123456789").await;
    let get = || client.get_object().bucket(BUCKET).key("digits");
    let etag = get().send().await.unwrap().e_tag.unwrap();
    let error = get().if_none_match(&etag).send().await.unwrap_err();
    assert_eq!(status(&error), 304);
    assert!(get().if_none_match("\"other\"").send().await.is_ok());
    let error = get().if_match("\"other\"").send().await.unwrap_err();
    assert_eq!(status(&error), 412);

    for (range, expected, content_range) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
        ("bytes=8-100", "89", "bytes 8-9/10"),
    ] {
        let answer = get().range(range).send().await.unwrap();
        assert_eq!(answer.content_range(), Some(content_range));
        let body = answer.body.collect().await.unwrap().to_vec();
        assert_eq!(body, expected.as_bytes(), "for {range}");
    }
    let error = get().range("bytes=10-").send().await.unwrap_err();
    assert_eq!(status(&error), 416);
}
