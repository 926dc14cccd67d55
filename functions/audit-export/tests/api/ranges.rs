//! The span of an archive, and its size limit.

use ecf::{Environment, ReceiptState};
use ecf_store::receipts::NewReceipt;
use ecf_testkit::{request, seeded_receipt};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::{Api, Archive, EXPORT};

#[tokio::test]
async fn both_instants_are_included_and_times_without_an_offset_are_local() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    api.receive("E310000000007", "A").await;
    api.stack.clock().advance(SignedDuration::from_hours(30));
    api.receipt("E310000000002").await;
    api.receive("E310000000008", "B").await;
    let numbers = async |query: &str| {
        let answer = api.get(query).await;
        assert_eq!(
            answer.status,
            200,
            "{query}: {}",
            String::from_utf8_lossy(&answer.bytes)
        );
        let archive = Archive::read(&answer.bytes);
        let lines = archive.index().lines().skip(1);
        lines
            .map(|line| line.split(',').nth(2).unwrap()[8..].to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    // It is 12:00, then 18:00 on the day after.
    assert_eq!(numbers("").await, "00001 00002 00007 00008");
    assert_eq!(
        numbers("?date_from=2026-11-27T12:00:00&date_to=2026-11-27T12:00:00").await,
        "00001 00007"
    );
    assert_eq!(numbers("?date_from=2026-11-27T12:00:01").await, "00002 00008");
    assert_eq!(numbers("?date_to=2026-11-28T17:59:59.999").await, "00001 00007");
    assert_eq!(
        numbers("?date_from=2026-11-28T22:00:00Z&date_to=2030-01-01T00:00:00Z").await,
        "00002 00008"
    );
    assert_eq!(numbers("?date_to=2020-01-01T00:00:00").await, "");
}

#[tokio::test]
async fn what_is_anothers_or_of_another_environment_is_not_in_it() {
    let mut api = Api::start().await;
    api.receipt("E310000000001").await;
    for environment in [Environment::TesteCF, Environment::CerteCF] {
        let builder = api.stack.company_builder().rnc("131880681").without_ranges();
        api.company = builder.environment(environment).build().await;
        assert_eq!(api.archive().await.manifest["receipts"], 0);
    }
    for (key, status) in [(None, 422), (Some("ecf_test_wrong"), 401)] {
        assert_eq!(
            request(&api.router, Method::GET, EXPORT, key, None).await.status,
            status
        );
    }
}

#[tokio::test]
async fn a2_a_day_alone_is_the_whole_day_in_santo_domingo() {
    let api = Api::start().await;
    // Noon of 27 November, then 23:59:59 of that day, then the next day.
    api.receipt("E310000000001").await;
    api.stack
        .clock()
        .advance(SignedDuration::from_hours(12) - SignedDuration::from_secs(1));
    api.receipt("E310000000002").await;
    api.stack.clock().advance(SignedDuration::from_secs(1));
    api.receipt("E310000000003").await;
    for (query, receipts) in [
        ("?date_from=2026-11-27&date_to=2026-11-27", 2),
        ("?date_from=2026-11-28&date_to=2026-11-28", 1),
        ("?date_from=2026-11-27&date_to=2026-11-28", 3),
        ("?date_to=2026-11-26", 0),
    ] {
        let archive = Archive::read(&api.get(query).await.bytes);
        assert_eq!(archive.manifest["receipts"], receipts, "{query}");
    }
    let archive = Archive::read(&api.get("?date_from=2026-11-27&date_to=2026-11-27").await.bytes);
    assert_eq!(archive.manifest["date_from"], "2026-11-27T04:00:00Z");
    assert_eq!(archive.manifest["date_to"], "2026-11-28T03:59:59.999999999Z");
}

#[tokio::test]
async fn a_span_that_ends_before_it_begins_is_told() {
    let api = Api::start().await;
    let refused = api
        .get("?date_from=2026-11-28T00:00:00Z&date_to=2026-11-27T00:00:00Z")
        .await;
    let refused = refused.expect(422);
    assert_eq!(
        refused["detail"][0],
        json!({
            "loc": ["query", "date_to"],
            "msg": "date_to: Input should be at or after date_from: 2026-11-27T00:00:00Z is before 2026-11-28T00:00:00Z",
            "type": "value_error",
            "input": "2026-11-27T00:00:00Z",
            "ctx": { "code": "dates_reversed", "date_from": "2026-11-28T00:00:00Z" },
        })
    );
}

/// This number of receipts, within an hour of the clock, without documents.
fn receipts(api: &Api, count: usize, from: usize) -> Vec<NewReceipt> {
    let now: Timestamp = api.stack.clock().now();
    let receipt = |place: usize| {
        let created_at = now + SignedDuration::from_millis(i64::try_from(place).unwrap() % 3_600_000);
        let encf = format!("E31{place:010}");
        seeded_receipt(&api.company, &encf, ReceiptState::Accepted, created_at)
    };
    (from..from + count).map(receipt).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_answer_cannot_carry_is_refused_before_any_work_with_spans_that_fit() {
    let api = Api::start().await;
    for (day, count) in [2_700, 2_400, 500].into_iter().enumerate() {
        let seeded = receipts(&api, count, 1 + day * 10_000);
        api.stack
            .table()
            .seed_receipts(&api.company.scope, &seeded)
            .await
            .unwrap();
        api.stack.clock().advance(SignedDuration::from_hours(24));
    }
    api.stack.calls().reset();
    let refused = api.get("").await.expect(422);
    assert_eq!(
        (
            api.stack.calls().count("GetObject"),
            api.stack.calls().count("BatchGetItem")
        ),
        (0, 0)
    );
    let error = &refused["detail"][0];
    assert_eq!(
        (&error["loc"], &error["type"]),
        (&json!(["query", "date_to"]), &json!("range_too_large"))
    );
    assert_eq!(
        (&error["ctx"]["estimated_mb"], &error["ctx"]["limit_mb"]),
        (&json!(197), &json!(180))
    );
    assert_eq!(
        error["msg"],
        "date_to: the archive would have about 197 MB, at most 180 MB are sent at once: ask for the 2 ranges in ctx.ranges one by one, \
or have the operator export it"
    );
    assert_eq!(
        error["ctx"]["ranges"],
        json!([
            { "date_from": "2026-11-27T04:00:00Z", "date_to": "2026-11-29T03:59:59.999Z" },
            { "date_from": "2026-11-29T04:00:00Z", "date_to": "2026-11-30T03:59:59.999Z" },
        ])
    );
    // The proposed ranges are accepted. These receipts have no documents, which the index remarks.
    let range = &error["ctx"]["ranges"][1];
    let query = format!(
        "?date_from={}&date_to={}",
        range["date_from"].as_str().unwrap(),
        range["date_to"].as_str().unwrap()
    );
    let answer = api.get(&query).await;
    assert_eq!(answer.status, 200);
    let archive = Archive::read(&answer.bytes);
    assert_eq!(archive.manifest["receipts"], 500);
    assert!(
        archive
            .index()
            .lines()
            .skip(1)
            .all(|line| line.ends_with(",the signed-xml is not in the bucket"))
    );
}
