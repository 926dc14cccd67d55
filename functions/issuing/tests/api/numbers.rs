//! The number of a receipt, and the errors when there is none.

use ecf::ReceiptState;
use ecf_store::{
    numbers::{NewRange, Numbering, RangeChanged, RangeChanges, RangeId},
    receipts::{Recorded, Verdict},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    Api, faults,
    payloads::{invoice, numbered_invoice},
};

const ENCF: &str = "body/payload/Encabezado/IdDoc/eNCF";

async fn open(api: &Api, (start, end): (u64, u64), valid_until: &str, numbering: Option<Numbering>) {
    let range = NewRange {
        ecf_type: "31".parse().unwrap(),
        start,
        end,
        valid_until: Some(valid_until.parse().unwrap()),
        numbering,
        created_at: api.stack.clock().now(),
    };
    let opened = api.stack.table().open_range(&api.company.scope, range).await.unwrap();
    assert_eq!(opened, ecf_store::numbers::RangeOpened::New);
}

/// The only error of a 422 on the number.
fn number_fault(body: &Value) -> String {
    let faults = faults(body);
    let [(loc, kind)] = faults.as_slice() else {
        panic!("{body}")
    };
    assert_eq!(loc, ENCF);
    if kind != "value_error" {
        assert_eq!(
            body["detail"][0]["ctx"]["code"], *kind,
            "the word of the type is the permanent code too"
        );
    }
    kind.clone()
}

#[tokio::test]
async fn the_service_counts_upwards() {
    let api = Api::start().await;
    for (key, encf) in [("a", "E310005000000"), ("b", "E310005000001"), ("c", "E310005000002")] {
        assert_eq!(api.issue(&invoice(key)).await.expect(201)["encf"], encf);
    }
    api.jobs().await;
}

#[tokio::test]
async fn the_callers_number_is_used_as_it_is() {
    let api = Api::start().await;
    let issued = api.issue(&numbered_invoice("a", "E310000000042")).await.expect(201);
    assert_eq!(issued["encf"], "E310000000042");
    assert_eq!(api.numbers_taken("31").await, 0);
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn a_number_is_used_once() {
    let api = Api::start().await;
    api.issue(&numbered_invoice("a", "E310000000042")).await.expect(201);
    let answer = api.issue(&numbered_invoice("b", "E310000000042")).await;
    let refused = answer.expect(409);
    insta::assert_json_snapshot!(refused, { ".detail.request_id" => "[id]" }, @r#"
    {
      "detail": {
        "code": "encf_already_used",
        "message": "another receipt has this eNCF; leave eNCF out to be given the next free number",
        "request_id": "[id]"
      }
    }
    "#);
    assert_eq!(refused["detail"]["request_id"], answer.header("x-request-id").unwrap());
    assert_eq!(api.jobs().await.len(), 1);

    // The key of the rejected request stays free.
    let issued = api.issue(&numbered_invoice("b", "E310000000043")).await.expect(201);
    assert_eq!(issued["encf"], "E310000000043");
    api.jobs().await;
}

#[tokio::test]
async fn a_range_is_numbered_by_one_side() {
    let api = Api::start().await;
    let refused = api.issue(&numbered_invoice("a", "E310005000000")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "range_numbered_by_service");
    assert_eq!(
        refused["detail"]["message"],
        "the range that contains E310005000000 is numbered by this service: leave eNCF out, unless it is the number of a rejected receipt that the tax authority left free"
    );

    let api = Api::without_ranges().await;
    open(&api, (1, 100), "31-12-2028", Some(Numbering::Caller)).await;
    let refused = api.issue(&invoice("a")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "range_numbered_by_caller");
    assert_eq!(
        refused["detail"]["message"],
        "the ranges of type 31 are numbered by the caller: give eNCF"
    );
}

#[tokio::test]
async fn the_first_use_fixes_who_numbers_an_open_range() {
    let api = Api::without_ranges().await;
    open(&api, (1, 100), "31-12-2028", None).await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    assert_eq!(issued["encf"], "E310000000001");
    let refused = api.issue(&numbered_invoice("b", "E310000000002")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "range_numbered_by_service");
    api.jobs().await;
}

#[tokio::test]
async fn a_range_that_is_switched_off_gives_no_number_and_takes_none() {
    let api = Api::without_ranges().await;
    open(&api, (1, 100), "31-12-2028", Some(Numbering::Service)).await;
    open(&api, (101, 200), "31-12-2028", Some(Numbering::Caller)).await;
    for start in [1, 101] {
        let id = RangeId {
            ecf_type: "31".parse().unwrap(),
            start,
        };
        let off = RangeChanges {
            active: Some(false),
            ..RangeChanges::default()
        };
        let now = api.stack.clock().now();
        let table = api.stack.table();
        let changed = table.change_range(&api.company.scope, id, off, now).await.unwrap();
        assert!(matches!(changed, RangeChanged::Now(range) if !range.active));
    }
    let refused = api.issue(&invoice("a")).await.expect(422);
    assert_eq!(number_fault(&refused), "no_range");
    let refused = api.issue(&numbered_invoice("a", "E310000000101")).await.expect(422);
    assert_eq!(number_fault(&refused), "encf_outside_ranges");
}

/// Records the authority's rejection of a receipt.
async fn reject(api: &Api, issued: &Value, secuencia_utilizada: bool) {
    let verdict = Verdict {
        state: ReceiptState::Rejected,
        track_id: Some("track of the first".to_owned()),
        error_code: None,
        error_message: None,
        secuencia_utilizada: Some(secuencia_utilizada),
        taxauth_response: None,
        outbox: Vec::new(),
    };
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let id = crate::id_of(issued);
    table
        .record_submitted(&api.company.scope, &id, "track of the first", now)
        .await
        .unwrap();
    let recorded = table
        .record_verdict(&api.company.scope, &id, verdict, now)
        .await
        .unwrap();
    assert!(matches!(recorded, Recorded::Now(_)), "{recorded:?}");
}

#[tokio::test]
async fn a_number_that_a_rejection_left_free_goes_to_the_next_attempt_that_names_it() {
    let api = Api::start().await;
    for (key, issued) in [
        (
            "callers",
            api.issue(&numbered_invoice("callers", "E310000000042"))
                .await
                .expect(201),
        ),
        ("services", api.issue(&invoice("services")).await.expect(201)),
    ] {
        let encf = issued["encf"].as_str().unwrap();
        let again = numbered_invoice(&format!("{key} again"), encf);
        api.issue(&again).await.expect(409);
        reject(&api, &issued, false).await;

        let mut forecast = api.post("/api/v1/ecf?validate_only=true", &again).await.expect(200);
        assert_eq!(forecast["encf"].take(), encf);
        let second = api.issue(&again).await.expect(201);
        assert_eq!(second["encf"], encf);
        assert_ne!(second["public_id"], issued["public_id"]);
        assert_eq!(
            api.record(&second).await.sending.earlier_track_ids,
            ["track of the first"]
        );

        // The receipt of the first attempt remains readable, and its key is answered with it.
        let first = api
            .get(&format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap()))
            .await
            .expect(200);
        assert_eq!(
            (&first["status"], &first["encf"]),
            (&json!("rejected"), &issued["encf"])
        );
        // The number belongs to the second receipt.
        let owner = api
            .stack
            .table()
            .receipt_by_encf(&api.company.scope, &encf.parse().unwrap())
            .await;
        assert_eq!(owner.unwrap().unwrap().public_id, crate::id_of(&second));
        api.issue(&numbered_invoice(&format!("{key} once more"), encf))
            .await
            .expect(409);
    }
    api.stack.leave_messages();
}

#[tokio::test]
async fn a_number_that_a_rejection_burned_goes_to_nobody() {
    let api = Api::start().await;
    let issued = api.issue(&numbered_invoice("a", "E310000000042")).await.expect(201);
    reject(&api, &issued, true).await;
    let refused = api.issue(&numbered_invoice("b", "E310000000042")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "encf_already_used");
    api.jobs().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_next_attempts_with_one_number_one_gets_it() {
    let api = Api::start().await;
    let issued = api.issue(&numbered_invoice("first", "E310000000042")).await.expect(201);
    reject(&api, &issued, false).await;
    let bodies: Vec<Value> = (0..8)
        .map(|place| numbered_invoice(&format!("again {place}"), "E310000000042"))
        .collect();
    let answers = futures::future::join_all(bodies.iter().map(|body| api.issue(body))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    api.jobs().await;
}

#[tokio::test]
async fn without_a_range_there_is_no_number() {
    let api = Api::without_ranges().await;
    let refused = api.issue(&invoice("a")).await.expect(422);
    let expected = json!({ "detail": [{
        "loc": ["body", "payload", "Encabezado", "IdDoc", "eNCF"],
        "msg": "eNCF: the company has no range of type 31 in TesteCF: register one with POST /api/v1/client/sequences",
        "type": "no_range", "input": null, "ctx": { "code": "no_range" },
    }]});
    assert_eq!(refused, expected);
    let refused = api.issue(&numbered_invoice("a", "E310000000001")).await.expect(422);
    assert_eq!(number_fault(&refused), "encf_outside_ranges");
    assert_eq!(refused["detail"][0]["input"], "E310000000001");
    // Nothing was stored of either.
    open(&api, (1, 100), "31-12-2028", None).await;
    api.issue(&invoice("a")).await.expect(201);
    api.jobs().await;
}

#[tokio::test]
async fn an_expired_range_gives_no_number() {
    let api = Api::without_ranges().await;
    open(&api, (1, 100), "28-11-2026", Some(Numbering::Service)).await;
    open(&api, (101, 200), "28-11-2026", Some(Numbering::Caller)).await;
    // 23:59 of its last day in Santo Domingo; the test began at noon.
    api.stack.clock().advance(SignedDuration::from_mins(36 * 60 - 1));
    api.issue(&invoice("a")).await.expect(201);
    api.issue(&numbered_invoice("b", "E310000000101")).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_mins(1));
    let refused = api.issue(&invoice("c")).await.expect(422);
    assert_eq!(number_fault(&refused), "range_expired");
    let refused = api.issue(&numbered_invoice("d", "E310000000102")).await.expect(422);
    assert_eq!(number_fault(&refused), "encf_expired");
    assert_eq!(
        refused["detail"][0]["msg"],
        "the range that contains E310000000102 expired on 28-11-2026: leave eNCF out, or give a number of another range"
    );
    assert_eq!(api.jobs().await.len(), 2);
}

#[tokio::test]
async fn an_exhausted_range_is_followed_by_the_next_until_none_is_left() {
    let api = Api::without_ranges().await;
    open(&api, (7, 8), "31-12-2028", None).await;
    open(&api, (20, 20), "31-12-2027", None).await;
    for (key, encf, expiry) in [
        ("a", "E310000000007", "31-12-2028"),
        ("b", "E310000000008", "31-12-2028"),
        ("c", "E310000000020", "31-12-2027"),
    ] {
        let issued = api.issue(&invoice(key)).await.expect(201);
        assert_eq!(issued["encf"], encf);
        let xml = crate::artifacts::signed_xml(&api, &issued).await;
        let expected = format!("<FechaVencimientoSecuencia>{expiry}</FechaVencimientoSecuencia>");
        assert!(xml.contains(&expected), "{xml}");
    }
    let refused = api.issue(&invoice("d")).await.expect(422);
    assert_eq!(number_fault(&refused), "range_exhausted");
    api.jobs().await;
}

#[tokio::test]
async fn a11_a_rehearsal_says_the_code_that_issuing_would_say() {
    const REHEARSAL: &str = "/api/v1/ecf?validate_only=true";
    let api = Api::without_ranges().await;
    let code = |body: &Value| number_fault(body);
    assert_eq!(code(&api.post(REHEARSAL, &invoice("a")).await.expect(422)), "no_range");
    open(&api, (1, 100), "31-12-2028", Some(Numbering::Caller)).await;
    let refused = api.post(REHEARSAL, &invoice("a")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "range_numbered_by_caller");
    open(&api, (101, 101), "31-12-2028", None).await;
    api.issue(&invoice("a")).await.expect(201);
    assert_eq!(
        code(&api.post(REHEARSAL, &invoice("b")).await.expect(422)),
        "range_exhausted"
    );
    api.stack.clock().advance(SignedDuration::from_hours(24 * 800));
    let mut late = invoice("b");
    late["payload"]["Encabezado"]["Emisor"]["FechaEmision"] = json!("01-02-2029");
    assert_eq!(code(&api.post(REHEARSAL, &late).await.expect(422)), "range_expired");
    api.jobs().await;
}

#[tokio::test]
async fn a_number_of_another_type_is_refused() {
    let api = Api::start().await;
    let refused = api.issue(&numbered_invoice("a", "E320000000001")).await.expect(422);
    assert_eq!(refused["detail"][0]["ctx"]["code"], "ESTRUCTURA-41");
    number_fault(&refused);
}

#[tokio::test]
async fn an_expiry_that_is_not_the_ranges_is_refused_before_a_number_is_taken() {
    let api = Api::start().await;
    for mut body in [invoice("a"), numbered_invoice("b", "E310000000001")] {
        body["payload"]["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = json!("31-12-2027");
        let refused = api.issue(&body).await.expect(422);
        let error = &refused["detail"][0];
        assert_eq!(error["loc"][4], "FechaVencimientoSecuencia");
        assert_eq!(error["ctx"]["code"], "ESTRUCTURA-43");
        assert_eq!(error["input"], "31-12-2027");
        assert_eq!(error["ctx"]["given"], "31-12-2027");
        assert_eq!(error["ctx"]["expected"], "31-12-2028");
    }
    assert_eq!(api.numbers_taken("31").await, 0);
    let mut body = invoice("a");
    body["payload"]["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = json!("31-12-2028");
    api.issue(&body).await.expect(201);
    api.jobs().await;
}

#[tokio::test]
async fn a_certificate_that_does_not_serve_costs_no_number() {
    let stack = ecf_testkit::TestStack::start().await;
    let company = stack.company_builder().without_certificate().build().await;
    let api = Api::of(stack, company);
    let refused = api.issue(&invoice("a")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "certificate_missing");
    assert_eq!(api.numbers_taken("31").await, 0);

    let api = Api::without_ranges().await;
    open(&api, (1, 100), "31-12-2030", Some(Numbering::Service)).await;
    let end_of_the_certificate: Timestamp = "2029-01-01T04:00:01Z".parse().unwrap();
    let now = api.stack.clock().now();
    api.stack.clock().advance(end_of_the_certificate.duration_since(now));
    let refused = api.issue(&invoice("a")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "certificate_not_valid");
    assert_eq!(api.numbers_taken("31").await, 0);
}
