//! `GET /api/v1/client/webhooks/{id}/deliveries`.

use ecf_testkit::Receiver;
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, PUBLIC, WEBHOOKS, faults, id_of};

#[tokio::test]
async fn attempts_are_listed_by_page_newest_first() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    receiver.answer_next(&[200, 500, 204]);
    let webhook = api.subscribe(&receiver.url()).await;
    let one = format!("{WEBHOOKS}/{}", id_of(&webhook));
    let list = format!("{one}/deliveries");
    let empty = json!({ "items": [], "total": 0, "limit": 50, "offset": 0 });
    assert_eq!(api.get(&list).await.expect(200), empty);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let told = api.call(Method::POST, &format!("{one}/test"), None).await.expect(200);
        ids.insert(0, told["delivery_id"].clone());
        api.stack.clock().advance(SignedDuration::from_secs(1));
    }

    let whole = api.get(&list).await.expect(200);
    let listed: Vec<Value> = whole["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].clone())
        .collect();
    assert_eq!(listed, ids);
    assert!(ids.iter().all(Value::is_u64));
    let expected = json!({
        "id": ids[1], "event": "webhook.test", "public_id": null, "encf": null, "attempt": 1, "status_code": 500, "response_excerpt": whole["items"][1]["response_excerpt"],
        "succeeded": false, "sent_at": "2026-11-27T16:00:01.000Z",
    });
    assert_eq!(whole["items"][1], expected);
    assert_eq!(whole["items"][0]["status_code"], 204);
    assert_eq!(
        (&whole["total"], &whole["limit"], &whole["offset"]),
        (&json!(3), &json!(50), &json!(0))
    );

    let page = api.get(&format!("{list}?limit=1&offset=1")).await.expect(200);
    let expected = json!({ "items": [whole["items"][1]], "total": 3, "limit": 1, "offset": 1 });
    assert_eq!(page, expected);
    let page = api.get(&format!("{list}?offset=3")).await.expect(200);
    assert_eq!(page, json!({ "items": [], "total": 3, "limit": 50, "offset": 3 }));
}

#[tokio::test]
async fn p3_an_attempt_names_its_receipt_and_is_found_by_it() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let mut receipts = Vec::new();
    for encf in ["E310000000001", "E310000000002"] {
        let receipt = api.stack.signed_receipt(&api.company, encf).await;
        crate::redeliver::delivered(&api, &webhook, &receipt, b"{}").await;
        api.stack.clock().advance(SignedDuration::from_secs(1));
        receipts.push(receipt);
    }
    let list = format!("{WEBHOOKS}/{}/deliveries", id_of(&webhook));
    let named = async |query: &str| -> Vec<Value> {
        let page = api.get(&format!("{list}{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap();
        assert_eq!(page["total"], items.len());
        items
            .iter()
            .map(|item| json!([item["public_id"], item["encf"]]))
            .collect()
    };
    let of = |place: usize| {
        json!([
            receipts[place].public_id.to_string(),
            receipts[place].encf().unwrap().to_string()
        ])
    };
    assert_eq!(named("").await, [of(1), of(0)]);
    assert_eq!(named(&format!("?public_id={}", receipts[0].public_id)).await, [of(0)]);
    let fault = api.get(&format!("{list}?public_id=one")).await.expect(422);
    assert_eq!(faults(&fault)[0].0, "query/public_id");
}

#[tokio::test]
async fn a_page_has_its_limits() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let list = format!("{WEBHOOKS}/{}/deliveries", id_of(&webhook));
    for (query, place) in [
        ("limit=0", "query/limit"),
        ("limit=101", "query/limit"),
        ("limit=many", "query/limit"),
        ("offset=-1", "query/offset"),
    ] {
        let refused = api.get(&format!("{list}?{query}")).await.expect(422);
        let told = faults(&refused);
        assert_eq!((told.len(), told[0].0.as_str()), (1, place), "{query}");
    }
    let page = api
        .get(&format!("{list}?limit=100&offset=9223372036854775807"))
        .await
        .expect(200);
    assert_eq!((&page["limit"], &page["items"]), (&json!(100), &json!([])));
}

#[tokio::test]
async fn attempts_of_more_than_ninety_days_ago_are_not_listed() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    let one = format!("{WEBHOOKS}/{}", id_of(&webhook));
    api.call(Method::POST, &format!("{one}/test"), None).await.expect(200);
    for (days, total) in [(89, 1), (2, 0)] {
        api.stack.clock().advance(SignedDuration::from_hours(24 * days));
        let listed = api.get(&format!("{one}/deliveries")).await.expect(200);
        assert_eq!(listed["total"], total);
    }
}
