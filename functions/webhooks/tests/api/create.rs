//! `POST /api/v1/client/webhooks`.

use ecf_store::webhooks::{WEBHOOK_LIMIT, webhook_context};
use serde_json::json;

use crate::{Api, PUBLIC, faults, id_of};

#[tokio::test]
async fn a_webhook_is_created_with_the_callers_secret() {
    let api = Api::start().await;
    let body = json!({ "url": PUBLIC, "events": ["rejected", "ecf.*"], "secret": "0123456789abcdef" });
    let created = api.create(&body).await.expect(201);
    let expected = json!({
        "public_id": created["public_id"], "url": PUBLIC, "events": ["rejected", "ecf.*"], "is_active": true,
        "created_at": "2026-11-27T16:00:00.000Z", "updated_at": "2026-11-27T16:00:00.000Z",
        "secret": "0123456789abcdef", "only_shown_once": true,
    });
    assert_eq!(created, expected);

    // The secret is stored encrypted.
    let (scope, id) = (api.company.scope, id_of(&created));
    let kept = api.stack.table().webhook(&scope, &id).await.unwrap().unwrap();
    let sealed = &kept.sealed_secret;
    assert!(!sealed.windows(16).any(|window| window == b"0123456789abcdef"));
    let opened = api
        .stack
        .vault()
        .open(&webhook_context(&scope, &id), sealed)
        .await
        .unwrap();
    assert_eq!(opened.as_slice(), b"0123456789abcdef");
}

#[tokio::test]
async fn a_secret_is_made_for_whoever_brings_none() {
    let api = Api::start().await;
    let [first, second] = [api.subscribe(PUBLIC).await, api.subscribe(PUBLIC).await];
    for created in [&first, &second] {
        let secret = created["secret"].as_str().unwrap();
        assert_eq!((&secret[..6], secret.len()), ("whsec_", 70));
        assert_eq!(created["only_shown_once"], true);
    }
    assert_ne!(first["secret"], second["secret"]);
    assert_ne!(first["public_id"], second["public_id"]);
}

#[tokio::test]
async fn a_short_or_odd_secret_is_refused_and_not_shown_back() {
    let api = Api::start().await;
    for (secret, kind) in [
        (json!("mi-secreto-0123"), "string_too_short"),
        (json!("mi-secreto-".repeat(30)), "string_too_long"),
        (json!("mi-secreto-012345\n"), "value_error"),
        (json!(["mi-secreto-0123456789"]), "string_type"),
    ] {
        let body = json!({ "url": PUBLIC, "events": ["*"], "secret": secret });
        let refused = api.create(&body).await.expect(422);
        assert_eq!(faults(&refused), [("body/secret".to_owned(), kind.to_owned())]);
        assert!(!refused.to_string().contains("mi-secreto"), "{refused}");
    }
}

#[tokio::test]
async fn addresses_that_are_not_called_are_refused() {
    let api = Api::start().await;
    for url in [
        "erp.example.com",
        "http://erp.example.com/",
        "ftp://erp.example.com/",
        "https://user:pin@erp.example.com/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://2130706433/",
        "https://0x7f.1/",
        "",
    ] {
        let refused = api.create(&json!({ "url": url, "events": ["*"] })).await.expect(422);
        assert_eq!(
            faults(&refused),
            [("body/url".to_owned(), "url_error".to_owned())],
            "{url}"
        );
        assert_eq!(refused["detail"][0]["input"], url);
    }
    assert_eq!(api.get(crate::WEBHOOKS).await.expect(200), json!([]));
}

#[tokio::test]
async fn the_local_system_calls_loopback_and_still_nothing_else_that_is_private() {
    let api = Api::reaching_loopback().await;
    for url in [
        "http://127.0.0.1:8069/webhooks/ecf",
        "http://localhost:8069/",
        "http://[::1]:8069/",
    ] {
        api.subscribe(url).await;
    }
    for url in ["http://10.0.0.1/", "http://169.254.169.254/", "http://192.168.1.1/"] {
        let refused = api.create(&json!({ "url": url, "events": ["*"] })).await.expect(422);
        assert_eq!(
            faults(&refused),
            [("body/url".to_owned(), "url_error".to_owned())],
            "{url}"
        );
    }
}

#[tokio::test]
async fn unknown_events_are_told_by_place() {
    let api = Api::start().await;
    let body = json!({ "url": "nowhere", "events": ["accepted", "acepted", "*", "Rejected"] });
    let refused = api.create(&body).await.expect(422);
    let told = |place: &str, kind: &str| (place.to_owned(), kind.to_owned());
    assert_eq!(
        faults(&refused),
        [
            told("body/url", "url_error"),
            told("body/events/1", "enum"),
            told("body/events/3", "enum"),
        ]
    );
    assert_eq!(refused["detail"][1]["input"], "acepted");

    let refused = api.create(&json!({ "url": PUBLIC, "events": [] })).await.expect(422);
    assert_eq!(faults(&refused), [told("body/events", "too_short")]);
    let refused = api
        .create(&json!({ "url": 7, "events": ["accepted", 7] }))
        .await
        .expect(422);
    assert_eq!(
        faults(&refused),
        [told("body/url", "string_type"), told("body/events/1", "string_type")]
    );
    let refused = api.create(&json!({})).await.expect(422);
    assert_eq!(
        faults(&refused),
        [told("body/url", "missing"), told("body/events", "missing")]
    );
}

#[tokio::test]
async fn every_name_of_the_contract_can_be_subscribed() {
    let api = Api::start().await;
    let events = json!([
        "accepted",
        "conditionally_accepted",
        "rejected",
        "signed",
        "submitted",
        "failed",
        "*",
        "ecf.*",
        "taxauth.*",
        "dgii.*",
    ]);
    let created = api
        .create(&json!({ "url": PUBLIC, "events": events }))
        .await
        .expect(201);
    assert_eq!(created["events"], events);
}

#[tokio::test]
async fn there_are_so_many_webhooks_and_no_more() {
    let api = Api::start().await;
    for _ in 0..WEBHOOK_LIMIT {
        api.subscribe(PUBLIC).await;
    }
    let refused = api.create(&json!({ "url": PUBLIC, "events": ["*"] })).await.expect(409);
    assert_eq!(refused["detail"]["code"], "webhook_limit");
    assert_eq!(
        refused["detail"]["message"],
        "this environment has 20 webhooks, the most there can be; remove one first"
    );
}
