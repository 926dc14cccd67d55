//! `GET /api/v1/ecf` and `/ecf/status-public/{external_id}`.

use ecf_testkit::request;
use http::Method;
use serde_json::json;

use crate::{
    Api,
    payloads::{invoice, small_consumer_invoice},
};

#[tokio::test]
async fn what_was_issued_is_listed_newest_first_and_by_state() {
    let api = Api::start().await;
    let first = api.issue(&invoice("a")).await.expect(201);
    api.stack.clock().advance(jiff::SignedDuration::from_secs(1));
    let second = api.issue(&small_consumer_invoice("b")).await.expect(201);
    let second = format!("/api/v1/ecf/{}", second["public_id"].as_str().unwrap());
    // The response to the POST has warnings too.
    let second = api.get(&second).await.expect(200);
    let path = format!("/api/v1/ecf/{}/cancel", first["public_id"].as_str().unwrap());
    let cancelled = api.post(&path, &json!({})).await.expect(200);
    assert_eq!(
        api.get("/api/v1/ecf").await.expect(200),
        json!({ "items": [second, cancelled], "total": 2, "limit": 50, "offset": 0 })
    );
    for (query, items, total) in [
        ("limit=1", json!([second]), 2),
        ("limit=1&offset=1", json!([cancelled]), 2),
        ("offset=2", json!([]), 2),
        ("status=cancelled", json!([cancelled]), 1),
        ("status=signed", json!([second]), 1),
        ("status=accepted", json!([]), 0),
        ("status=accepted,signed", json!([second]), 1),
        ("status=signed&status=cancelled", json!([second, cancelled]), 2),
    ] {
        let page = api.get(&format!("/api/v1/eCF?{query}")).await.expect(200);
        assert_eq!((&page["items"], &page["total"]), (&items, &json!(total)), "{query}");
    }
    let next = api.get("/api/v1/ecf?limit=1").await.expect(200)["next_cursor"].clone();
    let page = api
        .get(&format!("/api/v1/ecf?cursor={}", next.as_str().unwrap()))
        .await
        .expect(200);
    assert_eq!(
        (&page["items"], &page["total"], &page["next_cursor"]),
        (&json!([cancelled]), &json!(2), &json!(null))
    );
    for bad in ["cursor=1", "limit=0", "limit=101", "offset=-1", "status=sent"] {
        api.get(&format!("/api/v1/ecf?{bad}")).await.expect(422);
    }
    api.jobs().await;
}

#[tokio::test]
async fn a_receipt_is_found_by_the_callers_own_id_and_company_alone() {
    let api = Api::start().await;
    let mut body = invoice("a");
    body["external_id"] = json!("SO 1/a");
    let issued = api.issue(&body).await.expect(201);
    let path = |rnc: &str| format!("/api/v1/ecf/status-public/SO%201%2Fa?company_rnc={rnc}");
    assert_eq!(api.get(&path(ecf_testkit::RNC)).await.expect(200), issued);
    for (path, status) in [
        (path("131880681"), 404),
        (path(""), 422),
        (path("1"), 422),
        ("/api/v1/ecf/status-public/SO-2?company_rnc=130000001".to_owned(), 404),
        (
            format!("/api/v1/ecf/status-public/{}?company_rnc=130000001", "x".repeat(2_000)),
            404,
        ),
    ] {
        api.get(&path).await.expect(status);
    }
    let stranger = api.stack.company_builder().rnc("131880681").build().await;
    for rnc in [ecf_testkit::RNC, "131880681"] {
        let foreign = request(&api.router, Method::GET, &path(rnc), Some(&stranger.api_key), None).await;
        foreign.expect(404);
    }
    api.jobs().await;
}
