//! Promise 2, "a number is used once, and none is lost", with many concurrent requests, some of which die.

use std::collections::BTreeSet;

use axum::Router;
use ecf::{Fecha, ReceiptType};
use ecf_local::{Mounted, mount};
use ecf_store::numbers::{NewRange, Numbering, Range, RangeOpened};
use ecf_testkit::{Answer, Fault, TestCompany, TestStack, request};
use futures::future::join_all;
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::payloads::payload;

const REQUESTS: usize = 64;
/// The first of the two ranges runs out during the test.
const RANGES: [(u64, u64); 2] = [(1, 40), (1_001, 2_000)];

struct Till {
    stack: TestStack,
    company: TestCompany,
    issuing: Router,
}

impl Till {
    async fn start() -> Self {
        Self::with(&RANGES, Numbering::Service).await
    }

    async fn with(ranges: &[(u64, u64)], numbering: Numbering) -> Self {
        let stack = TestStack::start().await;
        let company = stack.company_builder().without_ranges().build().await;
        for &(start, end) in ranges {
            let new = NewRange {
                ecf_type: ReceiptType::E31,
                start,
                end,
                valid_until: Some("31-12-2028".parse().unwrap()),
                numbering: Some(numbering),
                created_at: stack.clock().now(),
            };
            let opened = stack.table().open_range(&company.scope, new).await;
            assert_eq!(opened.unwrap(), RangeOpened::New);
        }
        let mounted = mount(
            "issuing",
            &stack.env("issuing"),
            &stack.clients_of("issuing"),
            stack.clock().clone(),
        );
        let Mounted::Http(issuing) = mounted.unwrap() else {
            panic!("issuing has routes")
        };
        Self {
            stack,
            company,
            issuing,
        }
    }

    async fn issue(&self, key: &str, number: Option<u64>) -> Answer {
        let today = Fecha::at(self.stack.clock().now()).to_string();
        let mut body = json!({
            "idempotency_key": key, "ecf_type": "31",
            "payload": payload(self.company.rnc.as_str(), &today, "31", 1_000),
        });
        if let Some(number) = number {
            body["payload"]["Encabezado"]["IdDoc"]["eNCF"] = json!(format!("E31{number:010}"));
        }
        let (router, api_key) = (&self.issuing, &self.company.api_key);
        request(router, Method::POST, "/api/v1/ecf", Some(api_key), Some(&body)).await
    }

    /// Retries with the same key until there is an answer, like a caller.
    async fn insist(&self, key: &str) -> u64 {
        self.insist_on(key, None).await
    }

    /// Like [`Till::insist`], with a number of the caller's choice.
    async fn insist_on(&self, key: &str, number: Option<u64>) -> u64 {
        for _ in 0..20 {
            let answer = self.issue(key, number).await;
            if answer.status.is_success() {
                return sequence(&answer.json());
            }
            // A caller gets 500 when the function has died.
            assert!([500, 503].contains(&answer.status.as_u16()), "{}", answer.json());
        }
        panic!("{key} was never answered")
    }

    async fn housekeeping(&self) {
        self.stack.clock().advance(SignedDuration::from_mins(9));
        let env = self.stack.env("housekeeping");
        let mounted = mount(
            "housekeeping",
            &env,
            &self.stack.clients_of("housekeeping"),
            self.stack.clock().clone(),
        );
        let Mounted::Timed(run) = mounted.unwrap() else {
            panic!("housekeeping has a schedule")
        };
        run().await.unwrap();
    }

    async fn ranges(&self) -> Vec<Range> {
        let ranges = self
            .stack
            .table()
            .ranges(&self.company.scope, Some(ReceiptType::E31))
            .await;
        ranges.unwrap()
    }

    async fn is_used(&self, sequence: u64) -> bool {
        let encf = format!("E31{sequence:010}").parse().unwrap();
        let owner = self.stack.table().receipt_by_encf(&self.company.scope, &encf).await;
        owner.unwrap().is_some()
    }
}

fn sequence(issued: &Value) -> u64 {
    issued["encf"].as_str().unwrap()[3..].parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_used_once_and_none_is_lost_whoever_dies() {
    let till = Till::start().await;
    let used_first = till.insist("warm-up").await;
    let calls = till.stack.calls();
    for (operation, fault, places) in [
        ("UpdateItem", Fault::AnswerLost, [5, 41]),
        ("UpdateItem", Fault::DiesAfter, [11, 67]),
        ("PutObject", Fault::NotSent, [7, 33]),
        ("PutObject", Fault::DiesBefore, [13, 45]),
        ("TransactWriteItems", Fault::Conflict, [2, 21]),
        ("TransactWriteItems", Fault::Conflict, [3, 40]),
        ("TransactWriteItems", Fault::NotSent, [9, 36]),
        ("TransactWriteItems", Fault::AnswerLost, [15, 29]),
        ("TransactWriteItems", Fault::DiesBefore, [18, 42]),
        ("TransactWriteItems", Fault::DiesAfter, [25, 48]),
    ] {
        for nth in places {
            calls.inject(operation, nth, fault);
        }
    }
    let keys: Vec<String> = (0..REQUESTS).map(|place| format!("sale {place}")).collect();
    let numbers = join_all(keys.iter().map(|key| till.insist(key))).await;
    assert_eq!(calls.faults_to_come(), 0);
    let mut used: BTreeSet<u64> = numbers.into_iter().collect();
    assert_eq!(used.len(), REQUESTS, "a number came twice");
    assert!(used.insert(used_first));

    till.housekeeping().await;
    let mut free = BTreeSet::new();
    for range in till.ranges().await {
        for sequence in range.start..range.next {
            let is_free = range.free.contains(&sequence);
            assert_ne!(is_free, till.is_used(sequence).await, "{sequence} is lost or twice");
            assert_eq!(is_free, !used.contains(&sequence), "{sequence}");
            free.extend(is_free.then_some(sequence));
        }
    }
    // Most faults lose a number; each of these is used again before a new one.
    assert!(free.len() >= 8, "{free:?}");
    let keys: Vec<String> = (0..free.len()).map(|place| format!("later sale {place}")).collect();
    let again = join_all(keys.iter().map(|key| till.insist(key))).await;
    assert_eq!(again.into_iter().collect::<BTreeSet<_>>(), free);
    till.stack.leave_messages();
}

/// 200 callers state their numbers, out of order and twice each. Some requests die, some responses are lost.
#[tokio::test(flavor = "multi_thread")]
async fn a4_typed_numbers_are_counted_exactly_whoever_dies() {
    const CALLERS: u64 = 200;
    let till = Till::with(&[(1, 1_000)], Numbering::Caller).await;
    till.insist_on("warm-up", Some(1_000)).await;
    let calls = till.stack.calls();
    for (operation, fault, places) in [
        ("UpdateItem", Fault::AnswerLost, [5, 41]),
        ("UpdateItem", Fault::DiesAfter, [11, 67]),
        ("UpdateItem", Fault::DiesBefore, [90, 131]),
        ("UpdateItem", Fault::NotSent, [20, 150]),
        ("TransactWriteItems", Fault::Conflict, [2, 21]),
        ("TransactWriteItems", Fault::NotSent, [9, 36]),
        ("TransactWriteItems", Fault::AnswerLost, [15, 29]),
        ("TransactWriteItems", Fault::DiesAfter, [25, 48]),
    ] {
        for nth in places {
            calls.inject(operation, nth, fault);
        }
    }
    // 7 and 200 have no common divisor, so each number from 1 to 200 occurs once.
    let sale = |place: u64| (format!("sale {place}"), Some(place * 7 % CALLERS + 1));
    let sales: Vec<_> = (0..CALLERS).chain(0..CALLERS).map(sale).collect();
    let numbers = join_all(sales.iter().map(|(key, number)| till.insist_on(key, *number))).await;
    assert_eq!(calls.faults_to_come(), 0);
    assert_eq!(numbers.into_iter().collect::<BTreeSet<_>>(), (1..=CALLERS).collect());

    // Receipts whose request died are found after ten minutes; their range needs no further check some minutes later.
    for _ in 0..3 {
        till.housekeeping().await;
    }
    let range = till.ranges().await.remove(0);
    assert_eq!((range.used, range.next, range.available()), (201, 1_001, 799));
    assert_eq!(range.next_look, None);
    till.stack.leave_messages();
}
