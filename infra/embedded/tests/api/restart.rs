use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::types::{MessageSystemAttributeName, QueueAttributeName};
use ecf_embedded::{Embedded, Options, StartError};
use tokio::net::TcpStream;

use crate::dynamodb::{create_table, text};
use crate::stack::Stack;
use crate::{s3, sqs};

const SECRET: &str = "\0 ñ\r\n";

/// Writes one record into each service.
async fn fill(stack: &Stack) {
    create_table(&stack.dynamodb(), "receipts").await;
    stack
        .dynamodb()
        .put_item()
        .table_name("receipts")
        .item("pk", text("one"))
        .item("total", AttributeValue::N("100.00".to_owned()))
        .send()
        .await
        .unwrap();
    s3::create_bucket(&stack.s3()).await;
    s3::put(&stack.s3(), "a", "one").await;
    s3::put(&stack.s3(), "a", "two").await;
    stack
        .secrets()
        .create_secret()
        .name("company/1")
        .secret_string(SECRET)
        .send()
        .await
        .unwrap();
    let visibility = [(QueueAttributeName::VisibilityTimeout, "1")];
    let url = sqs::create_with(&stack.sqs(), "jobs", &visibility).await;
    for body in ["in flight", "waiting"] {
        stack
            .sqs()
            .send_message()
            .queue_url(&url)
            .message_body(body)
            .send()
            .await
            .unwrap();
    }
    let taken = stack.sqs().receive_message().queue_url(&url).send().await;
    assert_eq!(taken.unwrap().messages()[0].body(), Some("in flight"));
}

/// Asserts that all of these records exist.
async fn must_have_everything(stack: &Stack) {
    let item = stack
        .dynamodb()
        .get_item()
        .table_name("receipts")
        .key("pk", text("one"))
        .send()
        .await
        .unwrap();
    assert!(item.item().is_some());
    assert_eq!(s3::get(&stack.s3(), "a").await, "two");
    let secret = stack.secrets().get_secret_value().secret_id("company/1");
    let secret = secret.send().await.unwrap();
    assert_eq!(secret.secret_string(), Some(SECRET));

    let url = sqs::create_with(&stack.sqs(), "jobs", &[]).await;
    let mut bodies = Vec::new();
    for _receive in 0..10 {
        for message in sqs::receive(&stack.sqs(), &url, 5).await {
            let handle = message.receipt_handle().unwrap();
            let delete = stack.sqs().delete_message().queue_url(&url);
            delete.receipt_handle(handle).send().await.unwrap();
            bodies.push(message.body.unwrap());
        }
        if bodies.len() == 2 {
            break;
        }
    }
    bodies.sort();
    assert_eq!(bodies, ["in flight", "waiting"]);
}

#[tokio::test]
async fn a_shutdown_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let stack = Stack::start_in(folder.path()).await;
    fill(&stack).await;
    stack.embedded.shutdown().await;
    let stack = Stack::start_in(folder.path()).await;
    must_have_everything(&stack).await;
}

#[tokio::test]
async fn dropping_without_a_shutdown_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let stack = Stack::start_in(folder.path()).await;
    fill(&stack).await;
    drop(stack);
    let stack = Stack::start_in(folder.path()).await;
    must_have_everything(&stack).await;
}

#[tokio::test]
async fn a_copy_of_the_folder_taken_while_it_runs_has_everything_that_was_acknowledged() {
    // A killed process leaves the content of its files at that moment.
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stack = Stack::start_in(folder.path()).await;
    fill(&stack).await;
    copy_folder(folder.path(), copy.path());
    let stack = Stack::start_in(copy.path()).await;
    must_have_everything(&stack).await;
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn a_folder_serves_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Stack::start_in(folder.path()).await;
    let second = Embedded::start(Options {
        data_dir: Some(folder.path().to_owned()),
        ..Options::default()
    });
    let error = second.await.unwrap_err();
    assert!(matches!(error, StartError::DataDirInUse { .. }), "{error}");
}

#[tokio::test]
async fn a_start_that_releases_what_was_in_flight_shows_it_at_once_and_counts_it() {
    let folder = tempfile::tempdir().unwrap();
    let stack = Stack::start_in(folder.path()).await;
    let visibility = [(QueueAttributeName::VisibilityTimeout, "3600")];
    let url = sqs::create_with(&stack.sqs(), "jobs", &visibility).await;
    for (body, delay) in [("in flight", 0), ("delayed", 900)] {
        let send = stack.sqs().send_message().queue_url(&url).message_body(body);
        send.delay_seconds(delay).send().await.unwrap();
    }
    let taken = sqs::receive(&stack.sqs(), &url, 0).await;
    drop(stack);

    let stack = Stack::open(Options {
        data_dir: Some(folder.path().to_owned()),
        release_in_flight: true,
        ..Options::default()
    })
    .await;
    let url = sqs::create_with(&stack.sqs(), "jobs", &[]).await;
    let messages = sqs::receive(&stack.sqs(), &url, 0).await;
    let [message] = messages.as_slice() else {
        panic!("a delay is not in flight: {messages:?}")
    };
    assert_eq!(message.body(), Some("in flight"));
    let count = &message.attributes().unwrap()[&MessageSystemAttributeName::ApproximateReceiveCount];
    assert_eq!(count, "2");
    // The receiver that died with the process cannot delete the message from its new receiver.
    let stale = stack.sqs().delete_message().queue_url(&url);
    stale
        .receipt_handle(taken[0].receipt_handle().unwrap())
        .send()
        .await
        .unwrap();
    let left = stack
        .sqs()
        .get_queue_attributes()
        .queue_url(&url)
        .attribute_names(QueueAttributeName::All);
    let left = left.send().await.unwrap().attributes.unwrap();
    assert_eq!(left[&QueueAttributeName::ApproximateNumberOfMessagesNotVisible], "1");
}

#[tokio::test]
async fn nothing_listens_any_more_after_a_drop() {
    let stack = Stack::start().await;
    let address = stack.embedded.endpoint_url().replace("http://", "");
    assert!(TcpStream::connect(&address).await.is_ok());
    drop(stack);
    let mut tries = 0;
    while TcpStream::connect(&address).await.is_ok() {
        tries += 1;
        assert!(tries < 10_000, "something still listens");
    }
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let first = Stack::start().await;
    let port = first.embedded.endpoint_url().rsplit(':').next().unwrap();
    let port = port.parse().unwrap();
    let error = Embedded::start(Options {
        port,
        ..Options::default()
    })
    .await
    .unwrap_err();
    assert!(matches!(error, StartError::Listen { port: named, .. } if named == port));
}

#[tokio::test]
async fn a_long_poll_does_not_hold_up_a_shutdown() {
    let stack = Stack::start().await;
    let url = sqs::create_with(&stack.sqs(), "jobs", &[]).await;
    let client = stack.sqs();
    let waiting = tokio::spawn(async move {
        let request = client.receive_message().queue_url(&url);
        request.wait_time_seconds(20).send().await
    });
    // Gives the poll time to reach the server before the shutdown starts.
    for _turn in 0..100 {
        sqs::create_with(&stack.sqs(), "jobs", &[]).await;
    }
    let begun = std::time::Instant::now();
    stack.embedded.shutdown().await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(2));
    assert!(waiting.await.unwrap().unwrap().messages().is_empty());
}
