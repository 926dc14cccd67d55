mod limits;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};

use crate::stack::Stack;

async fn create(client: &Client, name: &str) -> String {
    create_with(client, name, &[]).await
}

pub(crate) async fn create_with(client: &Client, name: &str, attributes: &[(QueueAttributeName, &str)]) -> String {
    let created = client.create_queue().queue_name(name).send().await.unwrap();
    let url = created.queue_url.unwrap();
    if !attributes.is_empty() {
        let mut request = client.set_queue_attributes().queue_url(&url);
        for (name, value) in attributes {
            request = request.attributes(name.clone(), *value);
        }
        request.send().await.unwrap();
    }
    url
}

async fn send(client: &Client, url: &str, body: &str) {
    let request = client.send_message().queue_url(url).message_body(body);
    request.send().await.unwrap();
}

/// Receives up to ten messages; waits at most `wait_s` seconds.
pub(crate) async fn receive(client: &Client, url: &str, wait_s: i32) -> Vec<Message> {
    client
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(10)
        .wait_time_seconds(wait_s)
        .message_system_attribute_names(MessageSystemAttributeName::All)
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
    for n in 0..200 {
        send(&client, &url, &n.to_string()).await;
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
    // The receiver may or may not be waiting yet: both cases must work.
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
async fn a_receive_may_leave_its_messages_visible() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    send(&client, &url, "here").await;
    let look = |seconds| {
        client
            .receive_message()
            .queue_url(&url)
            .visibility_timeout(seconds)
            .send()
    };
    for _ in 0..2 {
        assert_eq!(look(0).await.unwrap().messages().len(), 1);
    }
}

#[tokio::test]
async fn a_visibility_timeout_of_more_than_twelve_hours_is_refused() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let receive = client.receive_message().queue_url(&url).visibility_timeout(43_201);
    assert!(receive.send().await.is_err());
}

#[tokio::test]
async fn a_message_received_too_often_goes_to_the_dead_letter_queue() {
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
}

#[tokio::test]
async fn digest_and_times_come_with_the_message() {
    let stack = Stack::start().await;
    let client = stack.sqs();
    let url = create(&client, "jobs").await;
    let sent = client
        .send_message()
        .queue_url(&url)
        .message_body("hello")
        .send()
        .await
        .unwrap();
    assert_eq!(sent.md5_of_message_body(), Some("5d41402abc4b2a76b9719d911017c592"));
    let received = receive(&client, &url, 0).await.remove(0);
    assert_eq!(received.md5_of_body(), sent.md5_of_message_body());
    let system = received.attributes().unwrap();
    for name in [
        MessageSystemAttributeName::SentTimestamp,
        MessageSystemAttributeName::ApproximateFirstReceiveTimestamp,
    ] {
        assert!(system[&name].parse::<u64>().unwrap() > 1_700_000_000_000);
    }
}
