//! Ranges of numbers: listed, opened, changed.

use ecf::{Fecha, ReceiptType};
use ecf_testkit::{Answer, TestStack};
use http::Method;
use serde_json::{Value, json};

use crate::Api;

const SEQUENCES: &str = "/api/v1/client/sequences";

async fn open(api: &Api, body: Value) -> Answer {
    api.call(Method::POST, SEQUENCES, Some(&body)).await
}

async fn change(api: &Api, id: &str, body: Value) -> Answer {
    api.call(Method::PATCH, &format!("{SEQUENCES}/{id}"), Some(&body)).await
}

async fn listed(api: &Api, query: &str) -> Vec<String> {
    let answer = api.get(&format!("{SEQUENCES}{query}")).await.expect(200);
    let items = answer["items"].as_array().unwrap();
    assert_eq!(answer["total"], items.len());
    items
        .iter()
        .map(|item| item["public_id"].as_str().unwrap().to_owned())
        .collect()
}

/// The places and messages of a 422.
fn faults(answer: &Answer) -> Vec<(String, String)> {
    let body = answer.expect(422);
    let errors = body["detail"].as_array().unwrap();
    errors
        .iter()
        .map(|error| {
            (
                error["loc"][1].as_str().unwrap().to_owned(),
                error["msg"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

#[tokio::test]
async fn an_opened_range_is_shown_with_every_field_and_gives_its_numbers() {
    let api = Api::start().await;
    let body = json!({ "ecf_type": "31", "range_start": "E310000000101", "range_end": 200, "valid_until": "2027-12-31", "numbering": "service" });
    let opened = open(&api, body.clone()).await.expect(201);
    insta::assert_json_snapshot!(opened, @r#"
    {
      "available": 100,
      "ecf_type": "31",
      "environment": "TesteCF",
      "is_active": true,
      "next_sequence": 101,
      "numbering": "service",
      "public_id": "31-101",
      "range_end": 200,
      "range_start": 101,
      "state": "active",
      "total": 100,
      "used": 0,
      "valid_until": "2027-12-31"
    }
    "#);
    // The same request again does not open a second range.
    assert_eq!(open(&api, body).await.expect(200), opened);
    let now = api.stack.clock().now();
    let table = api.stack.table();
    let taken = table
        .take_next_number(&api.company.scope, ReceiptType::E31, Fecha::at(now), now)
        .await;
    taken.unwrap();
    let after = api.get(SEQUENCES).await.expect(200);
    let item = &after["items"][0];
    assert_eq!(
        (&item["next_sequence"], &item["used"], &item["available"]),
        (&json!(102), &json!(1), &json!(99))
    );
}

#[tokio::test]
async fn a_range_without_a_last_day_gets_the_authoritys() {
    let api = Api::start().await;
    let range =
        |ecf_type: &str| json!({ "ecf_type": ecf_type, "range_start": 1, "range_end": 9, "numbering": "caller" });
    let opened = open(&api, range("31")).await.expect(201);
    assert_eq!(opened["valid_until"], "2028-12-31");
    for ecf_type in ["32", "34"] {
        let opened = open(&api, range(ecf_type)).await.expect(201);
        assert_eq!(opened["valid_until"], Value::Null);
    }
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .environment(ecf::Environment::Ecf)
        .without_ranges();
    let company = company.build().await;
    let api = Api::of(stack, company);
    let opened = open(&api, range("31")).await.expect(201);
    assert_eq!(
        (&opened["valid_until"], &opened["environment"]),
        (&json!("2027-12-31"), &json!("ecf"))
    );
}

#[tokio::test]
async fn no_number_is_in_two_ranges_whoever_numbers_them() {
    let api = Api::start().await;
    let range = |start, end, numbering| json!({ "ecf_type": "31", "range_start": start, "range_end": end, "numbering": numbering });
    open(&api, range(1, 100, "caller")).await.expect(201);
    open(&api, range(101, 200, "service")).await.expect(201);
    let refused = open(&api, range(100, 101, "service")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "sequence_overlaps");
    assert_eq!(
        refused["detail"]["message"],
        "the sequence 31-1 of type 31 has the numbers 1 to 100: no number may be in two"
    );
    // The same numbers with the other numbering are a conflict.
    open(&api, range(1, 100, "service")).await.expect(409);
    // The same rule applies when a range grows.
    let refused = change(&api, "31-1", json!({ "range_end": 150 })).await.expect(409);
    assert_eq!(refused["detail"]["code"], "sequence_overlaps");
    let grown = change(&api, "31-101", json!({ "range_end": 300 })).await.expect(200);
    assert_eq!((&grown["range_end"], &grown["total"]), (&json!(300), &json!(200)));
}

#[tokio::test]
async fn every_wrong_field_is_told_at_once() {
    let api = Api::start().await;
    let wrong =
        json!({ "ecf_type": "31", "range_start": "E320000000005", "range_end": 4, "valid_until": "31-12-2028" });
    let faults_found = faults(&open(&api, wrong).await);
    assert_eq!(
        faults_found.iter().map(|(loc, _)| loc.as_str()).collect::<Vec<_>>(),
        ["valid_until", "range_start", "range_end"]
    );
    assert_eq!(
        faults_found[1].1,
        "range_start is of type 32, ecf_type is 31: give a number of type 31, or its sequence 5 alone"
    );
    assert_eq!(
        faults_found[2].1,
        "range_end 4 is below range_start 5: exchange the two"
    );
    for (field, body) in [
        (
            "range_start",
            json!({ "ecf_type": "31", "range_start": 0, "range_end": 4 }),
        ),
        (
            "range_end",
            json!({ "ecf_type": "31", "range_start": 1, "range_end": 10_000_000_000_u64 }),
        ),
        ("range_end", json!({ "ecf_type": "31", "range_start": 1 })),
        (
            "ecf_type",
            json!({ "ecf_type": "99", "range_start": 1, "range_end": 4 }),
        ),
        (
            "valid_until",
            json!({ "ecf_type": "31", "range_start": 1, "range_end": 4, "valid_until": "2026-11-26" }),
        ),
        (
            "valid_until",
            json!({ "ecf_type": "32", "range_start": 1, "range_end": 4, "valid_until": "2028-12-31" }),
        ),
        (
            "numbering",
            json!({ "ecf_type": "31", "range_start": 1, "range_end": 4, "numbering": "nobody" }),
        ),
        (
            "environment",
            json!({ "ecf_type": "31", "range_start": 1, "range_end": 4, "environment": "ecf" }),
        ),
    ] {
        let found = faults(&open(&api, body).await);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, field);
    }
    assert_eq!(listed(&api, "?active_only=false").await, [""; 0]);
}
#[tokio::test]
async fn a11_every_refusal_of_a_range_has_its_code_and_shows_what_came() {
    let api = Api::start().await;
    open(&api, json!({ "ecf_type": "31", "range_start": 1, "range_end": 100 }))
        .await
        .expect(201);
    let found = |answer: Answer| {
        let body = answer.expect(422);
        let error = &body["detail"][0];
        let msg = error["msg"].as_str().unwrap().to_owned();
        assert!(!msg.starts_with("Value error"), "{msg}");
        (
            error["ctx"]["code"].as_str().unwrap().to_owned(),
            error["input"].clone(),
            msg,
        )
    };
    for (body, code, input) in [
        (
            json!({ "range_start": "E320000000005" }),
            "type_mismatch",
            json!("E320000000005"),
        ),
        (json!({ "range_end": 4 }), "range_reversed", json!(4)),
        (json!({ "range_start": "five" }), "value_error", json!("five")),
        (
            json!({ "valid_until": "2026-11-26" }),
            "expiry_past",
            json!("2026-11-26"),
        ),
        (
            json!({ "ecf_type": "32", "valid_until": "2028-12-31" }),
            "expiry_not_carried",
            json!("2028-12-31"),
        ),
    ] {
        let mut whole = json!({ "ecf_type": "31", "range_start": 501, "range_end": 900 });
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        let (found_code, found_input, msg) = found(open(&api, whole).await);
        assert_eq!((found_code.as_str(), &found_input), (code, &input), "{msg}");
    }
    for (body, code, input) in [
        (json!({}), "nothing_to_change", json!(null)),
        (json!({ "range_end": 99 }), "range_shrinks", json!(99)),
        (
            json!({ "valid_until": "2026-11-26" }),
            "expiry_past",
            json!("2026-11-26"),
        ),
    ] {
        let (found_code, found_input, msg) = found(change(&api, "31-1", body).await);
        assert_eq!((found_code.as_str(), &found_input), (code, &input), "{msg}");
    }
}

#[tokio::test]
async fn the_list_is_filtered_and_hides_what_is_not_in_use() {
    let api = Api::start().await;
    for (ecf_type, start) in [("31", 1), ("31", 11), ("32", 1)] {
        let body = json!({ "ecf_type": ecf_type, "range_start": start, "range_end": start + 9 });
        open(&api, body).await.expect(201);
    }
    let off = change(&api, "31-1", json!({ "is_active": false })).await.expect(200);
    assert_eq!((&off["is_active"], &off["state"]), (&json!(false), &json!("inactive")));
    assert_eq!(listed(&api, "").await, ["31-11", "32-1"]);
    assert_eq!(listed(&api, "?active_only=false").await, ["31-1", "31-11", "32-1"]);
    assert_eq!(listed(&api, "?ecf_type=31").await, ["31-11"]);
    assert_eq!(listed(&api, "?ecf_type=99").await, [""; 0]);
    assert_eq!(listed(&api, "?environment=TesteCF").await, ["31-11", "32-1"]);
    assert_eq!(listed(&api, "?environment=ecf").await, [""; 0]);
    for query in [
        "?ecf_type=3",
        "?ecf_type=310",
        "?active_only=maybe",
        "?environment=Mars",
    ] {
        api.get(&format!("{SEQUENCES}{query}")).await.expect(422);
    }
    let on = change(&api, "31-1", json!({ "is_active": true })).await.expect(200);
    assert_eq!(on["is_active"], true);
}

#[tokio::test]
async fn a_change_says_what_it_will_not_do() {
    let api = Api::start().await;
    let body = json!({ "ecf_type": "31", "range_start": 1, "range_end": 100 });
    open(&api, body).await.expect(201);
    for (body, field, msg) in [
        (
            json!({}),
            "is_active",
            "one of is_active, valid_until, range_end is needed",
        ),
        (
            json!({ "range_end": 99 }),
            "range_end",
            "range_end: the sequence ends with 100 and can only grow: give a number above 100",
        ),
        (
            json!({ "valid_until": "2026-11-26" }),
            "valid_until",
            "valid_until is 2026-11-26, which is past: today is 2026-11-27; give the last day that the authority granted",
        ),
    ] {
        let found = faults(&change(&api, "31-1", body).await);
        assert_eq!(found, [(field.to_owned(), msg.to_owned())]);
    }
    let prolonged = change(&api, "31-1", json!({ "valid_until": "2029-12-31" }))
        .await
        .expect(200);
    assert_eq!(prolonged["valid_until"], "2029-12-31");
    for id in ["31-2", "99-1", "31-01", "nonsense"] {
        change(&api, id, json!({ "is_active": false })).await.expect(404);
    }
}

#[tokio::test]
async fn another_companys_or_environments_ranges_do_not_exist() {
    let api = Api::start().await;
    let body = json!({ "ecf_type": "31", "range_start": 1, "range_end": 100 });
    open(&api, body).await.expect(201);
    let other = api
        .stack
        .company_builder()
        .rnc("131880681")
        .without_ranges()
        .build()
        .await;
    let answer = ecf_testkit::request(&api.router, Method::GET, SEQUENCES, Some(&other.api_key), None).await;
    assert_eq!(answer.expect(200)["total"], 0);
    let path = format!("{SEQUENCES}/31-1");
    let off = json!({ "is_active": false });
    let answer = ecf_testkit::request(&api.router, Method::PATCH, &path, Some(&other.api_key), Some(&off)).await;
    answer.expect(404);
}

#[tokio::test]
async fn a4_a_range_that_the_caller_numbers_shows_what_is_used() {
    let api = Api::start().await;
    let body = json!({ "ecf_type": "31", "range_start": 1, "range_end": 3, "numbering": "caller" });
    open(&api, body).await.expect(201);
    let shown = async || {
        let listed = api.get(&format!("{SEQUENCES}?active_only=false")).await.expect(200);
        let item = &listed["items"][0];
        let names = ["used", "next_sequence", "available", "state"];
        names.map(|name| item[name].clone())
    };
    let summary = async || {
        let summary = api.get("/api/v1/client/summary").await.expect(200);
        let sequence = &summary["sequences"][0];
        ["remaining", "caller_remaining", "low"].map(|name| sequence[name].clone())
    };
    assert_eq!(shown().await, [json!(0), json!(1), json!(3), json!("active")]);
    assert_eq!(summary().await, [json!(null), json!(3), json!(false)]);
    let (table, scope, now) = (api.stack.table(), &api.company.scope, api.stack.clock().now());
    for (encf, expected, left) in [
        ("E310000000003", [json!(1), json!(4), json!(2), json!("active")], 2),
        ("E310000000001", [json!(2), json!(4), json!(1), json!("active")], 1),
        ("E310000000002", [json!(3), json!(4), json!(0), json!("exhausted")], 0),
    ] {
        let receipt = api.stack.signed_receipt(&api.company, encf).await;
        let range = table.range(scope, "31-1".parse().unwrap()).await.unwrap().unwrap();
        table.count_callers_number(scope, &range, &receipt, now).await.unwrap();
        assert_eq!(shown().await, expected, "{encf}");
        assert_eq!(summary().await[1], left, "{encf}");
    }
    assert_eq!(summary().await, [json!(null), json!(0), json!(true)]);
}
