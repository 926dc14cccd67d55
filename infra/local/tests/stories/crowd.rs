//! Two hundred callers share one range: each response is a success or a rate limit, no number is given twice, and none
//! is lost. `CROWD_CALLERS` sets a lower number, for a machine too slow to answer two hundred within a function's
//! timeout.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ecf_local::Local;
use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::payloads::payload;
use crate::support::{ApiClient, eventually, start_in};

const CALLERS: u32 = 200;
const CROWDED_FOR: Duration = Duration::from_secs(60);
/// Each verdict is polled, a few receipts at a time.
const UNTIL_JUDGED: Duration = Duration::from_secs(900);
/// Housekeeping runs every minute and treats a number as abandoned after three minutes.
const UNTIL_SWEPT: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes of full load; its numbers are in docs/performance.md"]
async fn two_hundred_callers_share_one_range_and_no_number_is_given_twice_or_lost() {
    let folder = tempfile::tempdir().unwrap();
    let local = start_in(folder.path()).await;
    let caller = &ApiClient::of(&local);
    let today = caller.today();
    let (slower, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let before = total(&local);
    let crowd = (0..callers()).map(async |number| {
        let mut issued = Vec::new();
        let url = format!("{}/api/v1/ecf", caller.base_url);
        while began.elapsed() < CROWDED_FOR {
            let key = format!("{number}-{}", issued.len());
            let payload = payload(&caller.rnc, &today, "31", 1_000);
            let body = json!({ "idempotency_key": key, "ecf_type": "31", "payload": payload });
            let answer = caller.send(Method::POST, &url, Some(&caller.key), Some(&body)).await;
            match answer.status {
                201 => issued.push(answer.body),
                429 => {
                    slower.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                _ => panic!("{} {}", answer.status, answer.body),
            }
        }
        issued
    });
    let issued: Vec<Value> = join_all(crowd).await.into_iter().flatten().collect();
    let (took, while_issuing) = (began.elapsed(), total(&local) - before);
    let numbers: BTreeSet<&str> = issued.iter().map(|receipt| receipt["encf"].as_str().unwrap()).collect();
    assert_eq!(numbers.len(), issued.len(), "a number was given twice");

    let last = issued
        .iter()
        .max_by_key(|receipt| receipt["created_at"].as_str())
        .unwrap();
    let path = format!("/ecf/{}", last["public_id"].as_str().unwrap());
    eventually("the last receipt is judged", UNTIL_JUDGED, async || {
        (caller.get(&path).await.expect(200)["status"] == "accepted").then_some(())
    })
    .await;
    let calls = total(&local) - before;
    eprintln!(
        "{} receipts in {took:.1?}, {:.1} a second, {} times 429; AWS calls a receipt: {:.1} while issuing, {:.1} until the last one \
         was accepted {:.1?} later",
        issued.len(),
        issued.len() as f64 / took.as_secs_f64(),
        slower.load(Ordering::Relaxed),
        while_issuing as f64 / issued.len() as f64,
        calls as f64 / issued.len() as f64,
        began.elapsed() - took,
    );
    for (operation, times) in local.aws_calls() {
        eprintln!("{operation}: {times}");
    }
    let company = caller.get("/client/company").await.expect(200)["public_id"].clone();
    let unused = eventually("every number is locked or listed as unused", UNTIL_SWEPT, async || {
        unaccounted(folder.path(), &company).await
    });
    eprintln!("{} numbers listed as unused", unused.await);
    local.shutdown().await;
}

#[expect(clippy::disallowed_methods, reason = "a run by hand chooses how many come")]
fn callers() -> u32 {
    std::env::var("CROWD_CALLERS").map_or(CALLERS, |number| number.parse().unwrap())
}

/// The number of AWS calls so far.
fn total(local: &Local) -> u64 {
    local.aws_calls().values().sum()
}

/// The count of numbers listed as unused, or `None` while the operator's check finds a number that is neither unused
/// nor locked.
async fn unaccounted(folder: &std::path::Path, company: &Value) -> Option<usize> {
    let mut command = json!({ "command": "check", "company": company, "environment": "TesteCF", "limit": 1_000 });
    let mut unused = 0;
    loop {
        let answer = ecf_local::operator(&command.to_string(), folder).await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let problems = answer["found"]["problems"].as_array().unwrap();
        if problems
            .iter()
            .any(|problem| problem["problem"] == "number_unaccounted")
        {
            return None;
        }
        assert!(problems.is_empty(), "{problems:#?}");
        unused += answer["found"]["unused"].as_array().unwrap().len();
        // After the numbers, the check continues with the days.
        match answer["next"].get("number") {
            Some(_) => command["at"] = answer["next"].clone(),
            None => return Some(unused),
        }
    }
}
