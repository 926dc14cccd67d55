use aws_sdk_sqs::operation::receive_message::ReceiveMessageError;
use aws_sdk_sqs::types::{QueueAttributeName, SendMessageBatchRequestEntry};

use super::{create, create_with, receive, send};
use crate::stack::Stack;

#[tokio::test]
async fn a_message_may_have_a_mebibyte_and_not_more() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let most = "x".repeat(1024 * 1024);
    send(&client, &url, &most).await;
    let error = client
        .send_message()
        .queue_url(&url)
        .message_body(format!("{most}x"))
        .send()
        .await
        .unwrap_err();
    let code = error.into_service_error().meta().code().unwrap().to_owned();
    assert_eq!(code, "InvalidParameterValue");
    let entry = |id: &str| {
        SendMessageBatchRequestEntry::builder()
            .id(id)
            .message_body("x".repeat(600 * 1024))
            .build()
            .unwrap()
    };
    let error = client
        .send_message_batch()
        .queue_url(&url)
        .entries(entry("a"))
        .entries(entry("b"))
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_batch_request_too_long());
}

#[tokio::test]
async fn a_batch_has_at_most_ten_entries_with_ids_of_their_own() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let batch = async |ids: &[&str], body: &str| {
        let entries = ids.iter().map(|id| {
            SendMessageBatchRequestEntry::builder()
                .id(*id)
                .message_body(body)
                .build()
                .unwrap()
        });
        client
            .send_message_batch()
            .queue_url(&url)
            .set_entries(Some(entries.collect()))
            .send()
            .await
            .map_err(|error| error.into_service_error())
    };
    let eleven: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    let eleven: Vec<&str> = eleven.iter().map(String::as_str).collect();
    let error = batch(&eleven, "x").await.unwrap_err();
    assert!(error.is_too_many_entries_in_batch_request(), "{error:?}");
    let error = batch(&["a", "a"], "x").await.unwrap_err();
    assert!(error.is_batch_entry_ids_not_distinct(), "{error:?}");
    let error = batch(&["not valid"], "x").await.unwrap_err();
    assert!(error.is_invalid_batch_entry_id(), "{error:?}");
    let error = batch(&[], "x").await.unwrap_err();
    assert!(error.is_empty_batch_request(), "{error:?}");
    let answer = batch(&["a"], "control \u{1}").await.unwrap();
    assert_eq!(answer.failed()[0].code(), "InvalidMessageContents");
    assert!(receive(&client, &url, 0).await.is_empty());
}

#[tokio::test]
async fn a_queue_is_created_once_and_refused_when_it_would_differ() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let timeout = QueueAttributeName::VisibilityTimeout;
    let url = create_with(&client, "jobs", &[(timeout.clone(), "60")]).await;
    assert_eq!(create_with(&client, "jobs", &[(timeout.clone(), "60")]).await, url);
    let error = client
        .create_queue()
        .queue_name("jobs")
        .attributes(timeout, "61")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_queue_name_exists());
    create(&client, "other").await;
    let listed = client.list_queues().queue_name_prefix("jo").send().await.unwrap();
    assert_eq!(listed.queue_urls(), [url]);
}

#[tokio::test]
async fn what_is_not_there_is_named_as_the_sdk_knows_it() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let error = client
        .receive_message()
        .queue_url("http://127.0.0.1/000000000000/nowhere")
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert!(matches!(error, ReceiveMessageError::QueueDoesNotExist(_)));
    let url = create(&client, "jobs").await;
    let error = client
        .delete_message()
        .queue_url(&url)
        .receipt_handle("made up")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_receipt_handle_is_invalid());
    client.delete_queue().queue_url(&url).send().await.unwrap();
    let error = client.get_queue_url().queue_name("jobs").send().await.unwrap_err();
    assert!(error.into_service_error().is_queue_does_not_exist());
}
