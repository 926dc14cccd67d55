//! An ERP that asks again with the same key until it is told something.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ecf::Fecha;
use ecf_runtime::Clock;
use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::dice::Dice;
use crate::payloads::{note, payload};
use crate::support::Caller;

/// Tills that sell at the same time.
const TILLS: u32 = 6;
/// How long an ERP asks for one receipt before this test gives up on the system.
const PATIENCE: Duration = Duration::from_secs(120);
const TYPES: [&str; 12] = ["31", "32", "32", "33", "34", "41", "43", "44", "45", "46", "47", "32"];

/// The range that the demo company numbers itself begins here.
const TYPED_NUMBERS_FROM: u32 = 1_000;

/// What was answered with 2xx: the record as it was told first, under the caller's key.
pub(crate) type Answered = BTreeMap<String, Value>;

/// Sells `receipts` receipts of all types; some are asked for twice at once.
pub(crate) async fn sell(caller: &Caller, clock: &Clock, receipts: u32, originals: &[String], seed: u64) -> Answered {
    let next = Arc::new(AtomicU32::new(0));
    let tills = (0..TILLS).map(|till| {
        let (next, mut dice) = (Arc::clone(&next), Dice::new(seed, 100 + u64::from(till)));
        async move {
            let mut sold = Answered::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= receipts {
                    return sold;
                }
                let key = format!("sale-{number}");
                let body = body(caller, clock, number, originals, &key);
                let first = if dice.below(10) == 0 {
                    // A till whose user pressed twice.
                    let (one, other) = tokio::join!(insist(caller, &body), insist(caller, &body));
                    assert_eq!(one["public_id"], other["public_id"], "one key, two receipts");
                    assert_eq!(one["encf"], other["encf"], "one key, two numbers");
                    one
                } else {
                    insist(caller, &body).await
                };
                sold.insert(key, first);
                if number.is_multiple_of(9) {
                    sold.extend(collide(caller, clock, number).await);
                }
                tokio::time::sleep(dice.millis(0, 400)).await;
            }
        }
    });
    join_all(tills).await.into_iter().flatten().collect()
}

/// Two tills type the same number for different sales: one has it, and the other is told. Both have it only one after the
/// other, when a rejection left it free in between; the proof looks at that.
async fn collide(caller: &Caller, clock: &Clock, number: u32) -> Vec<(String, Value)> {
    let today = Fecha::at(clock.now()).to_string();
    let url = format!("{}/api/v1/ecf", caller.base_url);
    let sale = |till: &str, amount: u32| {
        let key = format!("typed-{number}-{till}");
        let mut payload = payload(&caller.rnc, &today, "44", amount);
        payload["Encabezado"]["IdDoc"]["eNCF"] = json!(format!("E44{:010}", TYPED_NUMBERS_FROM + number));
        (
            key.clone(),
            json!({ "idempotency_key": key, "ecf_type": "44", "payload": payload }),
        )
    };
    let ((one_key, one), (other_key, other)) = (sale("a", 500), sale("b", 700));
    let (first, second) = tokio::join!(settle(caller, &url, &one), settle(caller, &url, &other));
    assert!(
        first.is_some() || second.is_some(),
        "number {number} was refused to both"
    );
    let sold = [(one_key, first), (other_key, second)];
    sold.into_iter()
        .filter_map(|(key, answer)| Some((key, answer?)))
        .collect()
}

fn body(caller: &Caller, clock: &Clock, number: u32, originals: &[String], key: &str) -> Value {
    let today = Fecha::at(clock.now()).to_string();
    let ecf_type = TYPES[usize::try_from(number).unwrap() % TYPES.len()];
    let payload = match ecf_type {
        "33" | "34" => {
            let original = &originals[usize::try_from(number).unwrap() % originals.len()];
            note(&caller.rnc, &today, ecf_type, 10, original)
        }
        "32" if number.is_multiple_of(2) => payload(&caller.rnc, &today, "32", 300_000),
        _ => payload(&caller.rnc, &today, ecf_type, 1_000),
    };
    let mut body = json!({ "idempotency_key": key, "ecf_type": ecf_type, "payload": payload });
    if number.is_multiple_of(3) {
        body["external_id"] = json!(format!("erp-{number}"));
    }
    body
}

/// Asks until the answer is 2xx. What is not an outage is a defect.
async fn insist(caller: &Caller, body: &Value) -> Value {
    let url = format!("{}/api/v1/ecf", caller.base_url);
    let answer = settle(caller, &url, body).await;
    answer.unwrap_or_else(|| panic!("a conflict for {body}"))
}

/// Asks until there is a receipt, or a conflict.
async fn settle(caller: &Caller, url: &str, body: &Value) -> Option<Value> {
    let end = Instant::now() + PATIENCE;
    let mut last = String::new();
    while Instant::now() < end {
        match caller.try_send(Method::POST, url, Some(&caller.key), Some(body)).await {
            Ok(answer) if answer.status < 300 => return Some(answer.body),
            Ok(answer) if answer.status == 409 => return None,
            Ok(answer) if answer.status >= 500 || answer.status == 429 => {
                last = format!("{} {}", answer.status, answer.body);
            }
            Ok(answer) => panic!("{} {} for {body}", answer.status, answer.body),
            Err(error) => last = error.to_string(),
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    panic!("no receipt within {PATIENCE:?}, last: {last}; {body}");
}
