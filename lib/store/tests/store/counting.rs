//! Numbers that the caller chooses are counted on their range.

use ecf::{Fecha, ReceiptState};
use ecf_store::{
    Receipt, Table,
    numbers::{CallerTake, DueNumbers, DueRange, NewRange, Numbering, RANGE_SHARDS, Range},
    receipts::Verdict,
};
use jiff::SignedDuration;

use crate::faults::losing;
use crate::support::{App, T31, app, at, encf, new_receipt, noon};

fn today() -> Fecha {
    "27-11-2026".parse().unwrap()
}

impl App {
    async fn open_callers(&self, start: u64, end: u64) {
        let new = NewRange {
            ecf_type: T31,
            start,
            end,
            valid_until: None,
            numbering: Some(Numbering::Caller),
            created_at: noon(),
        };
        self.table.open_range(&self.scope, new).await.unwrap();
    }

    async fn callers_range(&self) -> Range {
        let ranges = self.table.ranges(&self.scope, Some(T31)).await.unwrap();
        ranges.into_iter().next().unwrap()
    }

    async fn claim_number(&self, number: &str) -> Range {
        let claim = self
            .table
            .claim_caller_number(&self.scope, &encf(number), today(), noon())
            .await;
        match claim.unwrap() {
            CallerTake::Ok(range) => *range,
            other => panic!("{number}: {other:?}"),
        }
    }

    /// The steps of a request: claims the number, stores the receipt, counts.
    async fn use_number(&self, table: &Table, key: &str, number: &str) -> Receipt {
        let range = self.claim_number(number).await;
        let receipt = self.receipt(key, number).await;
        table
            .count_callers_number(&self.scope, &range, &receipt, noon())
            .await
            .unwrap();
        receipt
    }

    /// Used numbers and the next number.
    async fn count(&self) -> (u64, u64) {
        let range = self.callers_range().await;
        (range.used, range.next)
    }

    async fn due_range(&self) -> Option<DueRange> {
        for shard in 0..RANGE_SHARDS {
            let later = noon() + SignedDuration::from_hours(1);
            let due = self.table.due_numbers(shard, later, 1_000).await.unwrap();
            let found = due.into_iter().find_map(|entry| match entry {
                DueNumbers::Range(entry) if entry.scope == self.scope => Some(entry),
                _ => None,
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The work of housekeeping once the range is quiet.
    async fn recount(&self) -> bool {
        let due = self.due_range().await.expect("the range is due");
        let range = self.callers_range().await;
        let counted = self.table.used_numbers_of(&self.scope, &range).await.unwrap();
        self.table
            .correct_used_numbers(&self.scope, &range, counted, Some(&due), noon())
            .await
            .unwrap()
    }
}

#[tokio::test]
async fn a4_a_number_is_counted_and_next_is_one_above_the_highest() {
    let app = app("count order").await;
    app.open_callers(1, 100).await;
    assert_eq!(app.count().await, (0, 1));
    for (number, count) in [
        ("E310000000010", (1, 11)),
        ("E310000000003", (2, 11)),
        ("E310000000100", (3, 101)),
        ("E310000000004", (4, 101)),
    ] {
        app.use_number(&app.table, number, number).await;
        assert_eq!(app.count().await, count, "{number}");
    }
    let range = app.callers_range().await;
    assert_eq!((range.available(), range.is_exhausted()), (96, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a4_two_hundred_callers_out_of_order_are_counted_exactly() {
    let app = std::sync::Arc::new(app("count crowd").await);
    app.open_callers(1, 1_000).await;
    // 7 and 200 have no common divisor, so every number from 1 to 200 occurs once, out of order.
    let calls = (0..200_u64).map(|place| {
        let app = std::sync::Arc::clone(&app);
        tokio::spawn(async move {
            let number = format!("E31{:010}", place * 7 % 200 + 1);
            app.use_number(&app.table, &number, &number).await;
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    assert_eq!(app.count().await, (200, 201));
    assert!(app.recount().await);
    assert_eq!(app.count().await, (200, 201));
}

#[tokio::test]
async fn a4_a_count_whose_answer_was_lost_counts_once() {
    let app = app("count lost answer").await;
    app.open_callers(1, 100).await;
    for number in ["E310000000009", "E310000000002"] {
        app.use_number(&losing("UpdateItem", 1), number, number).await;
    }
    assert_eq!(app.count().await, (2, 10));
}

#[tokio::test]
async fn a4_a_number_that_a_rejection_left_free_is_counted_once() {
    let app = app("count reuse").await;
    app.open_callers(1, 100).await;
    let first = app.use_number(&app.table, "first", "E310000000005").await;
    let verdict = Verdict {
        state: ReceiptState::Rejected,
        track_id: None,
        error_code: None,
        error_message: None,
        secuencia_utilizada: Some(false),
        taxauth_response: None,
        outbox: Vec::new(),
    };
    let (table, id) = (&app.table, &first.public_id);
    table.record_submitted(&app.scope, id, "track-1", noon()).await.unwrap();
    table.record_verdict(&app.scope, id, verdict, noon()).await.unwrap();
    let second = app.use_number(table, "second", "E310000000005").await;
    assert_eq!(second.predecessor, Some(first.public_id));
    assert_eq!(app.count().await, (1, 6));
    // Both are read back with it: the record decides, not its writer.
    let found = table.receipt(&app.scope, &second.public_id).await.unwrap().unwrap();
    assert_eq!(found.predecessor, Some(first.public_id));
}

#[tokio::test]
async fn a4_a_lost_count_is_found_by_the_locks_unless_a_number_is_used_meanwhile() {
    let app = app("count repair").await;
    app.open_callers(1, 100).await;
    app.use_number(&app.table, "a", "E310000000001").await;
    // The request crashed before it counted the number.
    app.claim_number("E310000000007").await;
    app.receipt("b", "E310000000007").await;
    assert_eq!(app.count().await, (1, 2));

    let (due, seen) = (app.due_range().await.unwrap(), app.callers_range().await);
    let counted = app.table.used_numbers_of(&app.scope, &seen).await.unwrap();
    app.use_number(&app.table, "c", "E310000000008").await;
    let (table, scope) = (&app.table, &app.scope);
    let corrected = table.correct_used_numbers(scope, &seen, counted, Some(&due), noon());
    assert!(!corrected.await.unwrap());
    assert_eq!(app.count().await, (2, 9));

    assert!(app.recount().await);
    assert_eq!(app.count().await, (3, 9));
    assert_eq!(app.due_range().await, None);
}

#[tokio::test]
async fn a4_recount_soon_puts_a_callers_range_on_the_due_index_and_no_other() {
    let app = app("count soon").await;
    app.open_callers(1, 100).await;
    app.use_number(&app.table, "a", "E310000000001").await;
    assert!(app.recount().await);
    app.table
        .recount_soon(&app.scope, T31, 101..=200, noon())
        .await
        .unwrap();
    assert_eq!(app.due_range().await, None);
    app.table
        .recount_soon(&app.scope, T31, 100..=200, noon())
        .await
        .unwrap();
    assert_eq!(app.due_range().await.unwrap().at, at("2026-11-27T16:06:00Z"));
}

#[tokio::test]
async fn a4_a_range_that_the_service_numbers_counts_nothing_of_a_number_that_was_named() {
    let app = app("count service").await;
    let new = NewRange {
        ecf_type: T31,
        start: 1,
        end: 9,
        valid_until: None,
        numbering: Some(Numbering::Service),
        created_at: noon(),
    };
    app.table.open_range(&app.scope, new).await.unwrap();
    let range = app.callers_range().await;
    let receipt = app.create(new_receipt(&app.scope, "a", "E310000000001")).await;
    let counted = app.table.count_callers_number(&app.scope, &range, &receipt, noon());
    counted.await.unwrap();
    assert_eq!(app.count().await, (0, 1));
}
