//! Numbers chosen by callers are counted on their range, each once, despite retries, rejections and lost answers.

use ecf_store::numbers::{DueNumbers, RANGE_SHARDS};
use ecf_testkit::Fault;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::later::{TOMORROW, scheduled};
use crate::payloads::{invoice, numbered_invoice};
use crate::{Api, id_of};

impl Api {
    /// Used numbers and the next number of the company's first range, which the caller numbers.
    async fn count(&self) -> (u64, u64) {
        let range = self.ranges("31").await.remove(0);
        assert!(range.is_callers());
        assert_eq!(range.available(), range.total() - range.used);
        (range.used, range.next)
    }

    /// The count that housekeeping derives from the locks.
    async fn by_the_locks(&self) -> (u64, u64) {
        let range = self.ranges("31").await.remove(0);
        let counted = self.stack.table().used_numbers_of(&self.company.scope, &range).await;
        let counted = counted.unwrap();
        (counted.used, counted.next)
    }
}

#[tokio::test]
async fn a4_numbers_typed_by_the_caller_are_counted() {
    let api = Api::start().await;
    for (key, encf, count) in [
        ("a", "E310000000042", (1, 43)),
        ("b", "E310000000007", (2, 43)),
        ("c", "E310000000100", (3, 101)),
    ] {
        api.issue(&numbered_invoice(key, encf)).await.expect(201);
        assert_eq!(api.count().await, count, "{encf}");
    }
    // Nothing else counts: a replay, another payload with a known key, a used number, a forecast, a number of the
    // service.
    let again = numbered_invoice("a", "E310000000042");
    api.issue(&again).await.expect(200);
    api.issue(&numbered_invoice("a", "E310000000200")).await.expect(200);
    api.issue(&numbered_invoice("d", "E310000000042")).await.expect(409);
    let rehearsal = numbered_invoice("d", "E310000000200");
    api.post("/api/v1/ecf?validate_only=true", &rehearsal).await.expect(200);
    api.issue(&invoice("e")).await.expect(201);
    assert_eq!(api.count().await, (3, 101));
    assert_eq!(api.numbers_taken("31").await, 1);
    assert_eq!(api.by_the_locks().await, (3, 101));
    api.stack.leave_messages();
}

#[tokio::test]
async fn a4_a_receipt_of_a_batch_and_one_that_is_issued_later_are_counted_too() {
    let api = Api::start().await;
    let items = [
        numbered_invoice("a", "E310000000001"),
        numbered_invoice("b", "E310000000003"),
    ];
    api.post("/api/v1/ecf/batch", &json!({ "items": items }))
        .await
        .expect(200);
    assert_eq!(api.count().await, (2, 4));

    let kept = api
        .issue(&scheduled(numbered_invoice("c", "E310000000009"), TOMORROW))
        .await;
    let kept = api.record(&kept.expect(201)).await;
    assert_eq!(api.count().await, (2, 4));
    api.stack.clock().advance(jiff::SignedDuration::from_hours(24));
    for _ in 0..2 {
        let issued = api.issue_kept(&kept).await;
        assert_eq!(issued.encf().unwrap().sequence(), 9);
        assert_eq!(api.count().await, (3, 10));
    }
    api.stack.leave_messages();
}

#[tokio::test]
async fn a4_a_lost_answer_counts_once_and_a_failed_count_fails_no_receipt() {
    let api = Api::start().await;
    api.issue(&numbered_invoice("warm-up", "E310000000001"))
        .await
        .expect(201);
    for (place, (operation, nth, fault)) in [
        ("TransactWriteItems", 1, Fault::AnswerLost),
        ("UpdateItem", 1, Fault::NotSent),
        ("UpdateItem", 2, Fault::NotSent),
    ]
    .into_iter()
    .enumerate()
    {
        api.stack.calls().inject(operation, nth, fault);
        let key = format!("sale {place}");
        let body = numbered_invoice(&key, &format!("E31{:010}", 10 + place));
        let issued = api.issue(&body).await.expect(201);
        assert_eq!(api.stack.calls().faults_to_come(), 0);
        assert_eq!(api.issue(&body).await.expect(200)["public_id"], issued["public_id"]);
    }
    // One of the two updates counts the number, the other the day; the locks reveal a lost count.
    assert_eq!(api.by_the_locks().await, (4, 13));
    let (used, _) = api.count().await;
    assert_eq!(used, 3);
    api.stack.leave_messages();
}

#[tokio::test(flavor = "multi_thread")]
async fn a4_callers_at_the_same_time_and_out_of_order_are_counted_exactly() {
    let api = Api::start().await;
    let bodies: Vec<Value> = (0..64_u64)
        .map(|place| numbered_invoice(&format!("sale {place}"), &format!("E31{:010}", place * 23 % 64 + 1)))
        .collect();
    // Each request is sent twice concurrently.
    let twice = bodies.iter().chain(&bodies).map(|body| api.issue(body));
    let answers = join_all(twice).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 64);
    assert_eq!(api.count().await, (64, 65));
    api.stack.leave_messages();
}

#[tokio::test]
async fn a4_a_range_whose_number_was_used_is_looked_after() {
    let api = Api::start().await;
    let issued = api.issue(&numbered_invoice("a", "E310000000001")).await.expect(201);
    assert_eq!(api.record(&issued).await.public_id, id_of(&issued));
    api.stack.clock().advance(jiff::SignedDuration::from_mins(10));
    let mut due = Vec::new();
    for shard in 0..RANGE_SHARDS {
        due.extend(
            api.stack
                .table()
                .due_numbers(shard, api.stack.clock().now(), 100)
                .await
                .unwrap(),
        );
    }
    let id = api.ranges("31").await[0].id();
    assert!(
        due.iter()
            .any(|entry| matches!(entry, DueNumbers::Range(due) if due.id == id))
    );
    api.stack.leave_messages();
}
