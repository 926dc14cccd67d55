use aws_sdk_sqs::operation::receive_message::ReceiveMessageError;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, MessageAttributeValue, QueueAttributeName};

use super::{create, receive, send};
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
}

#[tokio::test]
async fn a_batch_has_one_to_ten_entries_each_of_which_fails_by_itself() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    send(&client, &url, "x").await;
    let handle = receive(&client, &url, 0).await.remove(0).receipt_handle.unwrap();
    let delete = async |handles: &[&str]| {
        let entries = handles.iter().enumerate().map(|(n, handle)| {
            let entry = DeleteMessageBatchRequestEntry::builder().id(n.to_string());
            entry.receipt_handle(*handle).build().unwrap()
        });
        let request = client.delete_message_batch().queue_url(&url);
        let answer = request.set_entries(Some(entries.collect())).send().await;
        answer.map_err(|error| error.into_service_error())
    };
    let error = delete(&[handle.as_str(); 11]).await.unwrap_err();
    assert!(error.is_too_many_entries_in_batch_request(), "{error:?}");
    let error = delete(&[]).await.unwrap_err();
    assert!(error.is_empty_batch_request(), "{error:?}");
    let answer = delete(&["made up", &handle]).await.unwrap();
    assert_eq!(answer.failed()[0].code(), "ReceiptHandleIsInvalid");
    assert_eq!(answer.successful()[0].id(), "1");
}

#[tokio::test]
async fn text_that_xml_cannot_carry_is_refused() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let error = client
        .send_message()
        .queue_url(&url)
        .message_body("control \u{1}")
        .send()
        .await;
    assert!(error.unwrap_err().into_service_error().is_invalid_message_contents());
}

#[tokio::test]
async fn a_queue_is_created_once_and_keeps_what_was_set() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let timeout = QueueAttributeName::VisibilityTimeout;
    let set = client.set_queue_attributes().queue_url(&url);
    set.attributes(timeout.clone(), "61").send().await.unwrap();
    assert_eq!(create(&client, "jobs").await, url);
    assert_eq!(super::attribute(&client, &url, timeout).await, "61");
}

#[tokio::test]
async fn what_is_not_embedded_is_refused_by_name() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let error = client
        .purge_queue()
        .queue_url(&url)
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert_eq!(error.meta().code(), Some("AWS.SimpleQueueService.UnsupportedOperation"));
    assert_eq!(error.meta().message(), Some("PurgeQueue is not embedded here"));
    let attribute = MessageAttributeValue::builder()
        .data_type("String")
        .string_value("x")
        .build()
        .unwrap();
    let sent = client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .message_attributes("a", attribute);
    let error = sent.send().await.unwrap_err().into_service_error();
    let message = error.meta().message().unwrap();
    assert!(message.starts_with("unknown field `MessageAttributes`"), "{message}");
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
}
