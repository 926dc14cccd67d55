//! `GET /api/v1/client/documents`.

use std::collections::BTreeMap;

use ecf::ReceiptState;
use ecf_store::{Receipt, fiscal_day};
use ecf_testkit::seeded_receipt;
use jiff::{SignedDuration, ToSpan as _};
use serde_json::{Value, json};

use crate::{Api, DOCUMENTS, path_of};

/// The numbers on a page, and the total.
async fn listed(api: &Api, query: &str) -> (Vec<String>, u64) {
    let page = api.get(&format!("{DOCUMENTS}?{query}")).await.expect(200);
    let items = page["items"].as_array().unwrap();
    let numbers = items.iter().map(|item| item["encf"].as_str().unwrap().to_owned());
    (numbers.collect(), page["total"].as_u64().unwrap())
}

/// Three days, 25 to 27 November: at noon a receipt of type 31, a minute later one of type 32. Those of the 26th are
/// accepted.
async fn three_days(api: &Api) -> Vec<Receipt> {
    let mut receipts = Vec::new();
    for day in 1..=3 {
        for encf in [format!("E31000000000{day}"), format!("E32000000000{day}")] {
            receipts.push(api.receipt(&encf).await);
            api.stack.clock().advance(SignedDuration::from_mins(1));
        }
        api.stack
            .clock()
            .advance(SignedDuration::from_hours(24) - SignedDuration::from_mins(2));
    }
    api.accept(&receipts[2]).await;
    api.accept(&receipts[3]).await;
    receipts
}

#[tokio::test]
async fn a_list_is_of_whole_documents() {
    let api = Api::start().await;
    let receipt = api.receipt("E320000000001").await;
    api.accept(&receipt).await;
    let mut document = api.get(&path_of(&receipt)).await.expect(200);
    // Only a document by itself has its history, and its content on request.
    for name in ["history", "payload"] {
        assert!(document.as_object_mut().unwrap().remove(name).is_some());
    }
    let page = api.get(DOCUMENTS).await.expect(200);
    assert_eq!(
        page,
        json!({ "items": [document], "total": 1, "limit": 50, "offset": 0 })
    );
}

#[tokio::test]
async fn p3_a_list_says_to_whom_how_much_and_when() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    let page = api.get(DOCUMENTS).await.expect(200);
    let shown = [
        "rnc_comprador",
        "razon_social_comprador",
        "monto_total",
        "total_itbis",
        "fecha_emision",
    ];
    let shown = shown.map(|name| page["items"][0][name].as_str().unwrap().to_owned());
    let expected = [
        "131880681",
        "Constructora del Cibao SRL",
        "11800.00",
        "1800.00",
        "27-11-2026",
    ];
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn every_filter_narrows_items_and_total() {
    let api = Api::start().await;
    let receipts = three_days(&api).await;
    let all = "E320000000003 E310000000003 E320000000002 E310000000002 E320000000001 E310000000001";
    for (query, expected) in [
        ("", all),
        ("limit=100", all),
        ("status=accepted", "E320000000002 E310000000002"),
        ("status=signed&ecf_type=32", "E320000000003 E320000000001"),
        ("status=rejected", ""),
        ("status=rejected,accepted", "E320000000002 E310000000002"),
        ("status=accepted&status=signed", all),
        ("encf=E310000000002&status=signed,accepted", "E310000000002"),
        ("ecf_type=31", "E310000000003 E310000000002 E310000000001"),
        ("ecf_type=47", ""),
        ("ecf_type=99", ""),
        ("environment=TesteCF", all),
        ("environment=CerteCF", ""),
        ("environment=ecf&encf=E310000000001", ""),
        ("encf=E310000000002", "E310000000002"),
        ("encf=E310000000002&status=signed", ""),
        ("encf=E310000000009", ""),
        ("external_id=SO-1", ""),
        ("track_id=track-2", ""),
        // Both ends are included; without an offset they are local time.
        (
            "date_from=2026-11-28T12:00:00&date_to=2026-11-28T12:00:59.999",
            "E310000000002",
        ),
        (
            "date_from=2026-11-28T16:01:00Z&date_to=2026-11-29T00:00:00",
            "E320000000002",
        ),
        (
            "date_from=2026-11-28T12:01:00-04:00&status=signed",
            "E320000000003 E310000000003",
        ),
        ("date_to=2026-11-27T12:00:00-04:00", "E310000000001"),
        (
            "date_from=2026-11-28T00:00:00-04:00&date_to=2026-11-28T23:59:59.999-04:00",
            "E320000000002 E310000000002",
        ),
        ("limit=2&offset=3", "E310000000002 E320000000001"),
    ] {
        let (numbers, total) = listed(&api, query).await;
        assert_eq!(numbers.join(" "), expected, "{query}");
        let is_whole = !query.contains("limit=2");
        assert_eq!(total, if is_whole { numbers.len() as u64 } else { 6 }, "{query}");
    }
    let by_track = listed(&api, "track_id=track-1").await;
    assert_eq!(by_track.1, 1, "{by_track:?}");
    assert!(
        receipts
            .iter()
            .any(|receipt| receipt.encf().unwrap().to_string() == by_track.0[0])
    );
}

#[tokio::test]
async fn p3_receipts_are_found_by_buyer_and_by_day_of_issue() {
    let api = Api::start().await;
    let receipts = three_days(&api).await;
    for (query, expected) in [
        ("rnc_comprador=131880681", "E310000000003 E310000000002 E310000000001"),
        ("rnc_comprador=101672919", ""),
        ("issued_from=2026-11-28&ecf_type=32", "E320000000003 E320000000002"),
        ("issued_to=2026-11-27", "E320000000001 E310000000001"),
        (
            "issued_from=2026-11-28&issued_to=2026-11-28",
            "E320000000002 E310000000002",
        ),
        (
            "issued_from=2026-11-28&rnc_comprador=131880681&status=signed",
            "E310000000003",
        ),
        (
            "issued_from=2026-11-28&date_to=2026-11-28&rnc_comprador=131880681",
            "E310000000002",
        ),
        ("encf=E310000000001&issued_from=2026-11-28", ""),
        ("encf=E310000000001&rnc_comprador=131880681", "E310000000001"),
        ("external_id=SO-1&rnc_comprador=131880681", ""),
    ] {
        let (numbers, total) = listed(&api, query).await;
        assert_eq!(numbers.join(" "), expected, "{query}");
        assert_eq!(total, numbers.len() as u64, "{query}");
    }
    // Pages by offset and by cursor.
    let page = api
        .get(&format!("{DOCUMENTS}?rnc_comprador=131880681&limit=1&offset=1"))
        .await
        .expect(200);
    assert_eq!(
        (&page["items"][0]["encf"], &page["total"]),
        (&json!("E310000000002"), &json!(3))
    );
    let next = page["next_cursor"].as_str().unwrap();
    let page = api
        .get(&format!("{DOCUMENTS}?rnc_comprador=131880681&cursor={next}"))
        .await
        .expect(200);
    let id = receipts[0].public_id.to_string();
    assert_eq!(
        (&page["items"][0]["public_id"], page.get("next_cursor")),
        (&json!(id), None)
    );
    for (wrong, place) in [
        ("rnc_comprador=1", "rnc_comprador"),
        ("issued_from=yesterday", "issued_from"),
        ("issued_from=2026-11-28&issued_to=2026-11-27", "issued_to"),
    ] {
        let fault = api.get(&format!("{DOCUMENTS}?{wrong}")).await.expect(422);
        assert_eq!(fault["detail"][0]["loc"], json!(["query", place]), "{wrong}");
    }
}

#[tokio::test]
async fn p3_a_search_over_too_many_receipts_is_refused_and_cheap() {
    let api = Api::start().await;
    let now = api.stack.clock().now();
    let seeded: Vec<_> = (1..=5_001)
        .map(|place: i64| {
            let created_at = now - SignedDuration::from_hours(48) + SignedDuration::from_secs(place);
            seeded_receipt(
                &api.company,
                &format!("E31{place:010}"),
                ReceiptState::Accepted,
                created_at,
            )
        })
        .collect();
    api.stack
        .table()
        .seed_receipts(&api.company.scope, &seeded)
        .await
        .unwrap();
    api.get(&format!("{DOCUMENTS}?limit=1")).await.expect(200);
    api.stack.calls().reset();
    let fault = api
        .get(&format!("{DOCUMENTS}?rnc_comprador=131880681"))
        .await
        .expect(422);
    assert_eq!(
        fault["detail"][0]["ctx"],
        json!({ "code": "too_many_to_search", "limit": 5_000, "total": 5_001 })
    );
    let batches = api.stack.calls().counts().get("DynamoDB BatchGetItem").copied();
    assert_eq!(batches, Some(1));
    // One fewer is searched, in batches of a hundred.
    api.stack.calls().reset();
    let last = fiscal_day(now).saturating_sub(2.days());
    let narrowed = format!("{DOCUMENTS}?issued_from=2026-11-27&date_to={last}T12:00:01&date_from={last}T12:00:01");
    assert_eq!(api.get(&narrowed).await.expect(200)["total"], 1);
    let all = api
        .get(&format!(
            "{DOCUMENTS}?issued_from=2026-11-27&date_from={last}T12:00:02&limit=1"
        ))
        .await;
    assert_eq!(all.expect(200)["total"], 5_000);
    let batches = api.stack.calls().counts()["DynamoDB BatchGetItem"];
    assert!(batches <= 55, "{batches}");
}

#[tokio::test]
async fn a2_a_day_alone_is_the_whole_day_in_santo_domingo() {
    let api = Api::start().await;
    three_days(&api).await;
    // Three hours before and after midnight in Santo Domingo.
    api.stack.clock().advance(SignedDuration::from_hours(9));
    api.receipt("E310000000004").await;
    api.stack.clock().advance(SignedDuration::from_hours(6));
    api.receipt("E310000000005").await;
    for (query, expected) in [
        ("date_from=2026-11-28&date_to=2026-11-28", "E320000000002 E310000000002"),
        ("date_from=2026-11-30&date_to=2026-11-30", "E310000000004"),
        ("date_from=2026-12-01", "E310000000005"),
        ("date_to=2026-11-27", "E320000000001 E310000000001"),
        ("date_from=2026-11-29&date_to=2026-11-30&ecf_type=32", "E320000000003"),
        ("date_from=2026-11-26&date_to=2026-11-26", ""),
    ] {
        assert_eq!(listed(&api, query).await.0.join(" "), expected, "{query}");
    }
    let refused = api
        .get(&format!("{DOCUMENTS}?date_from=2026-11-29&date_to=2026-11-28"))
        .await
        .expect(422);
    assert_eq!(refused["detail"][0]["loc"], json!(["query", "date_to"]));
}

#[tokio::test]
async fn every_limit_is_told_at_its_edge_and_every_bad_parameter_at_once() {
    let api = Api::start().await;
    let long = "x".repeat(100);
    for good in [
        "limit=1",
        "limit=100",
        "offset=0",
        "offset=9223372036854775807",
        &format!("external_id={long}"),
        &format!("track_id={long}"),
    ] {
        api.get(&format!("{DOCUMENTS}?{good}")).await.expect(200);
    }
    for (bad, name, kind) in [
        ("limit=0", "limit", "greater_than_equal"),
        ("limit=101", "limit", "less_than_equal"),
        ("offset=-1", "offset", "greater_than_equal"),
        ("ecf_type=3", "ecf_type", "string_too_short"),
        ("ecf_type=310", "ecf_type", "string_too_long"),
        ("status=Accepted", "status", "enum"),
        ("environment=prod", "environment", "enum"),
        ("encf=E31", "encf", "value_error"),
        (&format!("external_id={long}x"), "external_id", "string_too_long"),
        (&format!("track_id={long}x"), "track_id", "string_too_long"),
        ("date_from=yesterday", "date_from", "datetime_parsing"),
        ("date_to=2026-13-01", "date_to", "datetime_parsing"),
    ] {
        let refused = api.get(&format!("{DOCUMENTS}?{bad}")).await.expect(422);
        let error = &refused["detail"][0];
        assert_eq!(
            (&error["loc"], &error["type"]),
            (&json!(["query", name]), &json!(kind)),
            "{bad}"
        );
    }
    let half = api.get(&format!("{DOCUMENTS}?encf=E31")).await.expect(422);
    assert_eq!(
        half["detail"][0]["ctx"]["expected"],
        "E and twelve digits, such as E310000000001"
    );
    let refused = api
        .get(&format!("{DOCUMENTS}?limit=0&status=x&date_to=y"))
        .await
        .expect(422);
    assert_eq!(refused["detail"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn nobody_lists_what_is_anothers() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let stranger = api.stack.company_builder().rnc("131880681").build().await;
    for query in ["", "encf=E310000000001", "ecf_type=31"] {
        let path = format!("{DOCUMENTS}?{query}");
        let page = api.call(http::Method::GET, &path, &stranger.api_key).await.expect(200);
        assert_eq!((&page["items"], &page["total"]), (&json!([]), &json!(0)), "{receipt:?}");
    }
}

/// The calls to AWS for one page.
async fn calls_of(api: &Api, query: &str) -> BTreeMap<String, usize> {
    api.get(&format!("{DOCUMENTS}?{query}")).await.expect(200);
    api.stack.calls().reset();
    let page: Value = api.get(&format!("{DOCUMENTS}?{query}")).await.expect(200);
    assert!(!page["items"].as_array().unwrap().is_empty(), "{query}: {page}");
    api.stack.calls().counts()
}

#[tokio::test]
async fn a_pages_calls_do_not_grow_with_the_total() {
    let api = Api::start().await;
    let few = api
        .stack
        .company_builder()
        .rnc("131880681")
        .without_ranges()
        .build()
        .await;
    let (table, start) = (api.stack.table(), api.stack.clock().now());
    let many = crate::seeded::receipts(&api.company, start, 3_000, 30);
    table.seed_receipts(&api.company.scope, &many).await.unwrap();
    let little = crate::seeded::receipts(&few, start, 60, 30);
    table.seed_receipts(&few.scope, &little).await.unwrap();
    for scope in [&api.company.scope, &few.scope] {
        let today = fiscal_day(start);
        let closed = table.seed_closing(scope, today.saturating_sub(30.days()), today.saturating_sub(1.day()));
        closed.await.unwrap();
    }
    let of_few = Api {
        company: few,
        router: api.router.clone(),
        stack: api.stack,
    };
    let queries = [
        "limit=1",
        "limit=2&ecf_type=31",
        "limit=1&status=accepted",
        "limit=1&status=accepted&offset=20",
    ];
    let mut calls = Vec::new();
    for query in queries {
        calls.push(calls_of(&of_few, query).await);
    }
    let of_many = Api {
        company: api.company,
        ..of_few
    };
    for (query, few) in queries.iter().zip(&calls) {
        let many = calls_of(&of_many, query).await;
        assert!(
            many.values().sum::<usize>() <= few.values().sum(),
            "{query}: {few:?}, then {many:?}"
        );
    }
    // The closed days; the counters of months and of days; today, which is always read; the day of the page; its
    // receipts.
    let deep = calls_of(&of_many, "limit=1&status=accepted&offset=2000").await;
    let expected = [
        ("DynamoDB Query".to_owned(), 5),
        ("DynamoDB BatchGetItem".to_owned(), 1),
    ];
    assert_eq!(deep, BTreeMap::from(expected));
}
