#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::{
    cell::{Cell, RefCell},
    convert::Infallible,
};

use serde::Deserialize;
use tokio::sync::Barrier;

use super::*;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Job {
    n: u32,
}

fn record(id: &str, body: &str) -> SqsRecord {
    SqsRecord {
        message_id: id.to_owned(),
        body: body.to_owned(),
        ..SqsRecord::default()
    }
}

fn batch(bodies: &[&str]) -> SqsEvent {
    let records = bodies
        .iter()
        .enumerate()
        .map(|(index, body)| record(&format!("m{index}"), body));
    SqsEvent {
        records: records.collect(),
    }
}

fn failed(response: &SqsBatchResponse) -> Vec<&str> {
    response
        .batch_item_failures
        .iter()
        .map(|failure| failure.item_identifier.as_str())
        .collect()
}

async fn never_resent(job: Job, _after: Duration) -> Result<(), Infallible> {
    panic!("{job:?} was queued again")
}

#[tokio::test]
async fn only_the_unparsable_message_is_reported() {
    let seen = RefCell::new(Vec::new());
    let response = process_batch(
        batch(&[r#"{"n":1}"#, "not a job", r#"{"n":3}"#]),
        |job: Job, message| {
            seen.borrow_mut().push((job.n, message.message_id));
            async { Outcome::Done }
        },
        never_resent,
    )
    .await;
    assert_eq!(failed(&response), ["m1"]);
    assert_eq!(*seen.borrow(), [(1, "m0".to_owned()), (3, "m2".to_owned())]);
}

#[tokio::test]
async fn a_job_to_repeat_is_sent_anew_and_its_old_message_deleted() {
    let sent = RefCell::new(Vec::new());
    let response = process_batch(
        batch(&[r#"{"n":7}"#]),
        |job: Job, _| async move {
            Outcome::Again {
                job: Job { n: job.n + 1 },
                after: Duration::from_secs(30),
            }
        },
        |job, after| {
            sent.borrow_mut().push((job, after));
            async { Ok::<_, Infallible>(()) }
        },
    )
    .await;
    assert!(failed(&response).is_empty());
    assert_eq!(*sent.borrow(), [(Job { n: 8 }, Duration::from_secs(30))]);
}

#[tokio::test]
async fn a_message_stays_when_its_next_attempt_cannot_be_queued() {
    let response = process_batch(
        batch(&[r#"{"n":1}"#, r#"{"n":2}"#]),
        |job: Job, _| async move {
            match job.n {
                1 => Outcome::Again {
                    job,
                    after: Duration::ZERO,
                },
                _ => Outcome::Done,
            }
        },
        |_, _| async { Err("queue unreachable") },
    )
    .await;
    assert_eq!(failed(&response), ["m0"]);
}

#[tokio::test]
async fn a_job_given_up_is_not_delivered_again() {
    let response = process_batch(
        batch(&[r#"{"n":1}"#]),
        |_: Job, _| async {
            Outcome::GiveUp {
                reason: "receipt is unknown".to_owned(),
            }
        },
        never_resent,
    )
    .await;
    assert_eq!(response, SqsBatchResponse::default());
}

#[tokio::test]
async fn a_panic_fails_its_own_message_only() {
    let done = Cell::new(0);
    let response = process_batch(
        batch(&[r#"{"n":1}"#, r#"{"n":2}"#]),
        |job: Job, _| {
            let done = &done;
            async move {
                assert_ne!(job.n, 1, "provoked");
                done.set(done.get() + 1);
                Outcome::Done
            }
        },
        never_resent,
    )
    .await;
    assert_eq!(failed(&response), ["m0"]);
    assert_eq!(done.get(), 1);
}

#[tokio::test]
async fn the_jobs_of_a_batch_run_at_the_same_time() {
    let all_started = Barrier::new(10);
    let bodies = [r#"{"n":1}"#; 10];
    let run = process_batch(
        batch(&bodies),
        |_: Job, _| async {
            all_started.wait().await;
            Outcome::Done
        },
        never_resent,
    );
    let response = tokio::time::timeout(Duration::from_secs(5), run).await.unwrap();
    assert!(failed(&response).is_empty());
}

#[tokio::test]
async fn an_event_as_lambda_sends_it_is_read() {
    let event: SqsEvent = serde_json::from_str(
        r#"{"Records":[{"messageId":"059f36b4","receiptHandle":"AQEB","body":"{\"n\":4}",
            "attributes":{"ApproximateReceiveCount":"3","SentTimestamp":"1545082649183"},"messageAttributes":{},
            "md5OfBody":"e4e68fb7","eventSource":"aws:sqs","awsRegion":"us-east-1",
            "eventSourceARN":"arn:aws:sqs:us-east-1:123456789012:submission"}]}"#,
    )
    .unwrap();
    let seen = RefCell::new(None);
    let response = process_batch(
        event,
        |job: Job, message| {
            seen.replace(Some((job.n, message.receive_count)));
            async { Outcome::Done }
        },
        never_resent,
    )
    .await;
    assert_eq!(seen.take(), Some((4, 3)));
    assert_eq!(serde_json::to_string(&response).unwrap(), r#"{"batchItemFailures":[]}"#);
}

#[test]
fn a_failure_is_named_as_lambda_expects() {
    let response = SqsBatchResponse {
        batch_item_failures: vec![BatchItemFailure {
            item_identifier: "059f36b4".to_owned(),
        }],
    };
    assert_eq!(
        serde_json::to_string(&response).unwrap(),
        r#"{"batchItemFailures":[{"itemIdentifier":"059f36b4"}]}"#
    );
}

/// Hosts with several threads spawn batches, so the future must be `Send`.
#[test]
fn a_batch_can_be_spawned() {
    fn spawnable<T: Send>(_: T) {}
    let app = std::sync::Arc::new(());
    spawnable(process_batch(
        batch(&[]),
        |_: Job, _| {
            let app = app.clone();
            async move {
                let () = *app;
                Outcome::Done
            }
        },
        never_resent,
    ));
}
