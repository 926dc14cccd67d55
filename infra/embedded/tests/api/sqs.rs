mod limits;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName, SendMessageBatchRequestEntry,
};

use crate::stack::Stack;

async fn create(client: &Client, name: &str) -> String {
    create_with(client, name, &[]).await
}

pub(crate) async fn create_with(client: &Client, name: &str, attributes: &[(QueueAttributeName, &str)]) -> String {
    let mut request = client.create_queue().queue_name(name);
    for (name, value) in attributes {
        request = request.attributes(name.clone(), *value);
    }
    request.send().await.unwrap().queue_url.unwrap()
}

async fn send(client: &Client, url: &str, body: &str) {
    let request = client.send_message().queue_url(url).message_body(body);
    request.send().await.unwrap();
}

/// Receives up to ten messages, waiting at most so long.
pub(crate) async fn receive(client: &Client, url: &str, wait_s: i32) -> Vec<Message> {
    client
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(10)
        .wait_time_seconds(wait_s)
        .message_system_attribute_names(MessageSystemAttributeName::All)
        .message_attribute_names("All")
        .send()
        .await
        .unwrap()
        .messages
        .unwrap_or_default()
}

async fn attribute(client: &Client, url: &str, name: QueueAttributeName) -> String {
    let answer = client
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(name.clone())
        .send()
        .await
        .unwrap();
    answer.attributes.unwrap()[&name].clone()
}

fn bodies(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|m| m.body().unwrap()).collect()
}

fn receive_count(message: &Message) -> &str {
    &message.attributes().unwrap()[&MessageSystemAttributeName::ApproximateReceiveCount]
}

#[tokio::test]
async fn each_message_goes_to_one_of_sixteen_consumers() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    for batch in 0..20 {
        let entries = (0..10).map(|n| {
            SendMessageBatchRequestEntry::builder()
                .id(n.to_string())
                .message_body(format!("{batch}-{n}"))
                .build()
                .unwrap()
        });
        let sent = client
            .send_message_batch()
            .queue_url(&url)
            .set_entries(Some(entries.collect()))
            .send()
            .await
            .unwrap();
        assert_eq!(sent.successful().len(), 10);
    }
    let consumers: Vec<_> = (0..16)
        .map(|_| {
            let (client, url) = (stack.sqs(), url.clone());
            tokio::spawn(async move {
                let mut mine = Vec::new();
                loop {
                    let messages = receive(&client, &url, 0).await;
                    if messages.is_empty() {
                        return mine;
                    }
                    for message in messages {
                        client
                            .delete_message()
                            .queue_url(&url)
                            .receipt_handle(message.receipt_handle().unwrap())
                            .send()
                            .await
                            .unwrap();
                        mine.push(message.body.unwrap());
                    }
                }
            })
        })
        .collect();
    let mut all = Vec::new();
    for consumer in consumers {
        all.extend(consumer.await.unwrap());
    }
    assert_eq!(all.len(), 200);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 200);
}

#[tokio::test]
async fn a_waiting_receiver_gets_a_message_as_soon_as_it_is_sent() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let receiver = tokio::spawn({
        let (client, url) = (stack.sqs(), url.clone());
        async move { (receive(&client, &url, 20).await, Instant::now()) }
    });
    // The receiver may or may not be waiting yet: both must work.
    send(&client, &url, "hello").await;
    let sent = Instant::now();
    let (messages, received) = receiver.await.unwrap();
    assert_eq!(bodies(&messages), ["hello"]);
    assert!(received.saturating_duration_since(sent) < Duration::from_secs(5));
}

#[tokio::test]
async fn a_delayed_message_arrives_after_its_delay() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let begun = Instant::now();
    client
        .send_message()
        .queue_url(&url)
        .message_body("later")
        .delay_seconds(1)
        .send()
        .await
        .unwrap();
    assert!(receive(&client, &url, 0).await.is_empty());
    let delayed = QueueAttributeName::ApproximateNumberOfMessagesDelayed;
    assert_eq!(attribute(&client, &url, delayed).await, "1");
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["later"]);
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn the_delay_of_a_queue_is_that_of_its_messages() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create_with(&client, "jobs", &[(QueueAttributeName::DelaySeconds, "900")]).await;
    send(&client, &url, "later").await;
    client
        .send_message()
        .queue_url(&url)
        .message_body("now")
        .delay_seconds(0)
        .send()
        .await
        .unwrap();
    assert_eq!(bodies(&receive(&client, &url, 0).await), ["now"]);
}

#[tokio::test]
async fn a_message_that_is_not_deleted_comes_back_and_its_old_receipt_deletes_nothing() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create_with(&client, "jobs", &[(QueueAttributeName::VisibilityTimeout, "1")]).await;
    send(&client, &url, "again").await;
    let first = receive(&client, &url, 0).await;
    assert_eq!(receive_count(&first[0]), "1");
    assert!(receive(&client, &url, 0).await.is_empty());
    let in_flight = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;
    assert_eq!(attribute(&client, &url, in_flight).await, "1");

    let second = receive(&client, &url, 10).await;
    assert_eq!(receive_count(&second[0]), "2");
    let delete = async |message: &Message| {
        client
            .delete_message()
            .queue_url(&url)
            .receipt_handle(message.receipt_handle().unwrap())
            .send()
            .await
            .unwrap();
    };
    delete(&first[0]).await;
    assert_eq!(receive_count(&receive(&client, &url, 10).await[0]), "3");
    let third = receive(&client, &url, 10).await;
    delete(&third[0]).await;
    let visible = QueueAttributeName::ApproximateNumberOfMessages;
    let in_flight = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;
    assert_eq!(attribute(&client, &url, visible).await, "0");
    assert_eq!(attribute(&client, &url, in_flight).await, "0");
}

#[tokio::test]
async fn visibility_can_be_ended_only_of_a_message_in_flight() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    send(&client, &url, "back").await;
    let received = receive(&client, &url, 0).await;
    let handle = received[0].receipt_handle().unwrap();
    let show = || {
        client
            .change_message_visibility()
            .queue_url(&url)
            .receipt_handle(handle)
            .visibility_timeout(0)
            .send()
    };
    show().await.unwrap();
    let error = show().await.unwrap_err().into_service_error();
    assert!(error.is_message_not_inflight(), "{error:?}");
    assert_eq!(bodies(&receive(&client, &url, 0).await), ["back"]);
}

#[tokio::test]
async fn a_message_received_too_often_goes_to_the_dead_letter_queue_and_back() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let dead = create(&client, "jobs-dead").await;
    let dead_arn = attribute(&client, &dead, QueueAttributeName::QueueArn).await;
    let policy = format!(r#"{{"deadLetterTargetArn":"{dead_arn}","maxReceiveCount":"2"}}"#);
    let url = create_with(
        &client,
        "jobs",
        &[
            (QueueAttributeName::VisibilityTimeout, "0"),
            (QueueAttributeName::RedrivePolicy, &policy),
        ],
    )
    .await;
    send(&client, &url, "poison").await;
    let first = receive(&client, &url, 0).await;
    assert_eq!(receive_count(&first[0]), "1");
    assert_eq!(receive_count(&receive(&client, &url, 0).await[0]), "2");
    assert!(receive(&client, &url, 0).await.is_empty());

    let buried = receive(&client, &dead, 0).await;
    assert_eq!(bodies(&buried), ["poison"]);
    assert_eq!(buried[0].message_id(), first[0].message_id());
    let arn = attribute(&client, &url, QueueAttributeName::QueueArn).await;
    assert_eq!(
        buried[0].attributes().unwrap()[&MessageSystemAttributeName::DeadLetterQueueSourceArn],
        arn
    );
    client
        .change_message_visibility()
        .queue_url(&dead)
        .receipt_handle(buried[0].receipt_handle().unwrap())
        .visibility_timeout(0)
        .send()
        .await
        .unwrap();

    client
        .start_message_move_task()
        .source_arn(&dead_arn)
        .send()
        .await
        .unwrap();
    let tasks = client
        .list_message_move_tasks()
        .source_arn(&dead_arn)
        .send()
        .await
        .unwrap();
    assert_eq!(tasks.results()[0].status(), Some("COMPLETED"));
    assert_eq!(tasks.results()[0].approximate_number_of_messages_moved(), 1);
    assert!(receive(&client, &dead, 0).await.is_empty());
    let back = receive(&client, &url, 0).await;
    assert_eq!(bodies(&back), ["poison"]);
    assert_eq!(receive_count(&back[0]), "1");
    assert_ne!(back[0].message_id(), first[0].message_id());
}

#[tokio::test]
async fn digests_and_attributes_come_with_the_message() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let attribute = MessageAttributeValue::builder()
        .data_type("Number")
        .string_value("1493147359900")
        .build()
        .unwrap();
    let sent = client
        .send_message()
        .queue_url(&url)
        .message_body("hello")
        .message_attributes("timestamp", attribute)
        .send()
        .await
        .unwrap();
    assert_eq!(sent.md5_of_message_body(), Some("5d41402abc4b2a76b9719d911017c592"));
    let received = receive(&client, &url, 0).await.remove(0);
    assert_eq!(received.md5_of_body(), sent.md5_of_message_body());
    assert_eq!(received.md5_of_message_attributes(), sent.md5_of_message_attributes());
    let attributes: &HashMap<_, _> = received.message_attributes().unwrap();
    assert_eq!(attributes["timestamp"].string_value(), Some("1493147359900"));
    let system = received.attributes().unwrap();
    for name in [
        MessageSystemAttributeName::SentTimestamp,
        MessageSystemAttributeName::ApproximateFirstReceiveTimestamp,
    ] {
        assert!(system[&name].parse::<u64>().unwrap() > 1_700_000_000_000);
    }
}
