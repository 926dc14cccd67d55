//! One webhook: `GET`, `PATCH`, `DELETE` and `rotate-secret`.

use axum::body::Body;
use ecf_language::Say;
use ecf_store::{WebhookJob, webhooks::Pause};
use ecf_testkit::{Queue, Receiver, request, send};
use ecf_webhooks::{News, WebhookSecret, decide::Disabled, verify};
use http::{Method, Request};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, PUBLIC, WEBHOOKS, faults, id_of};

fn path(webhook: &Value) -> String {
    format!("{WEBHOOKS}/{}", id_of(webhook))
}

#[tokio::test]
async fn a_webhook_is_shown_as_in_the_list() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let shown = api.get(&path(&webhook)).await.expect(200);
    let expected = json!({
        "public_id": webhook["public_id"], "url": PUBLIC, "events": ["*"], "is_active": true,
        "created_at": "2026-11-27T16:00:00.000Z", "updated_at": "2026-11-27T16:00:00.000Z",
    });
    assert_eq!(shown, expected);
    assert_eq!(api.get(WEBHOOKS).await.expect(200), json!([shown]));
}

#[tokio::test]
async fn what_is_given_changes_and_the_rest_stays() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    api.stack.clock().advance(SignedDuration::from_secs(1));
    let elsewhere = "https://erp.example.com/elsewhere";
    for (change, field, value) in [
        (json!({ "url": elsewhere }), "url", json!(elsewhere)),
        (
            json!({ "events": ["rejected", "sequence.low", "rejected"] }),
            "events",
            json!(["rejected", "sequence.low"]),
        ),
        (json!({ "is_active": false }), "is_active", json!(false)),
        (json!({ "is_active": null, "url": null }), "is_active", json!(false)),
        (json!({}), "url", json!(elsewhere)),
    ] {
        let changed = api
            .call(Method::PATCH, &path(&webhook), Some(&change))
            .await
            .expect(200);
        assert_eq!(changed[field], value, "{change}");
        assert_eq!(changed["updated_at"], "2026-11-27T16:00:01.000Z");
        assert_eq!(changed, api.get(&path(&webhook)).await.expect(200));
    }
    let shown = api.get(&path(&webhook)).await.expect(200);
    assert_eq!(shown["events"], json!(["rejected", "sequence.low"]));
    assert_eq!(shown["created_at"], "2026-11-27T16:00:00.000Z");
}

#[tokio::test]
async fn every_bad_field_of_a_change_is_told_and_nothing_changes() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let before = api.get(&path(&webhook)).await.expect(200);
    let change = json!({ "url": "http://10.0.0.1/", "events": ["accepted", "acepted"], "is_active": "perhaps" });
    let refused = api
        .call(Method::PATCH, &path(&webhook), Some(&change))
        .await
        .expect(422);
    assert_eq!(
        faults(&refused),
        [("body/is_active".to_owned(), "bool_parsing".to_owned())]
    );
    let change = json!({ "url": "https://10.0.0.1/", "events": ["accepted", "acepted"] });
    let refused = api
        .call(Method::PATCH, &path(&webhook), Some(&change))
        .await
        .expect(422);
    let expected = [("body/url", "url_error"), ("body/events/1", "enum")];
    assert_eq!(
        faults(&refused),
        expected.map(|(loc, kind)| (loc.to_owned(), kind.to_owned()))
    );
    let empty = json!({ "events": [] });
    let refused = api.call(Method::PATCH, &path(&webhook), Some(&empty)).await.expect(422);
    assert_eq!(faults(&refused), [("body/events".to_owned(), "too_short".to_owned())]);
    assert_eq!(api.get(&path(&webhook)).await.expect(200), before);
}

#[tokio::test]
async fn a_deleted_webhook_is_gone_and_leaves_room_for_another() {
    let api = Api::start().await;
    let mut webhooks = Vec::new();
    for _ in 0..ecf_store::webhooks::WEBHOOK_LIMIT {
        webhooks.push(api.subscribe(PUBLIC).await);
    }
    let one_more = json!({ "url": PUBLIC, "events": ["*"] });
    assert_eq!(
        api.create(&one_more).await.expect(409)["detail"]["code"],
        "webhook_limit"
    );
    let gone = path(&webhooks[3]);
    let answer = api.call(Method::DELETE, &gone, None).await;
    assert_eq!((answer.status.as_u16(), answer.bytes.len()), (204, 0));
    for (method, body) in [
        (Method::GET, None),
        (Method::PATCH, Some(json!({ "is_active": true }))),
        (Method::DELETE, None),
    ] {
        api.call(method, &gone, body.as_ref()).await.expect(404);
    }
    api.create(&one_more).await.expect(201);
}

#[tokio::test]
async fn a_new_secret_is_shown_once_and_signs_from_then_on() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    let rotate = format!("{}/rotate-secret", path(&webhook));
    let made = api.call(Method::POST, &rotate, Some(&json!({}))).await.expect(200);
    assert_eq!(
        (&made["public_id"], &made["only_shown_once"]),
        (&webhook["public_id"], &json!(true))
    );
    assert_ne!(made["secret"], webhook["secret"]);
    let chosen = json!({ "secret": "sixteen characters" });
    let given = api.call(Method::POST, &rotate, Some(&chosen)).await.expect(200);
    assert_eq!(given["secret"], chosen["secret"]);
    api.call(Method::POST, &format!("{}/test", path(&webhook)), None)
        .await
        .expect(200);
    let [received] = receiver.received().try_into().expect("one request came");
    let signature = received.header("x-ecf-signature").unwrap();
    for (secret, signs) in [
        (&webhook["secret"], false),
        (&made["secret"], false),
        (&given["secret"], true),
    ] {
        let secret = WebhookSecret::parse(secret.as_str().unwrap()).unwrap();
        assert_eq!(verify(&secret, &received.body, signature), signs);
    }
}

#[tokio::test]
async fn a_secret_that_is_too_short_is_refused_and_not_shown_back() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let rotate = format!("{}/rotate-secret", path(&webhook));
    let refused = api
        .call(Method::POST, &rotate, Some(&json!({ "secret": "short-secret" })))
        .await;
    let refused = refused.expect(422);
    assert_eq!(
        faults(&refused),
        [("body/secret".to_owned(), "string_too_short".to_owned())]
    );
    assert!(!refused.to_string().contains("short-secret"));
}

#[tokio::test]
async fn why_the_service_switched_a_webhook_off_is_shown_until_it_is_on_again() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let (scope, id, now) = (api.company.scope, id_of(&webhook), api.stack.clock().now());
    let table = api.stack.table();
    table.webhook_failed(&scope, &id, now).await.unwrap();
    let pause = Pause {
        at: now,
        reason: Disabled::Gone.say().into(),
    };
    let news = News::WebhookPaused {
        webhook: id,
        reason: &pause.reason.en,
        failing_since: now,
    };
    let news = news.announcement(&scope, api.company.rnc.as_str(), now);
    assert!(table.pause_webhook(&scope, &id, now, &pause, &news).await.unwrap());
    let shown = api.get(&path(&webhook)).await.expect(200);
    assert_eq!(shown["is_active"], false);
    assert_eq!(shown["paused_at"], "2026-11-27T16:00:00.000Z");
    assert_eq!(shown["paused_reason"], "its receiver answered 410 Gone");
    let in_spanish = Request::get(path(&webhook)).header("X-API-Key", &api.company.api_key);
    let in_spanish = in_spanish.header("Accept-Language", "es-DO").body(Body::empty());
    let in_spanish = send(&api.router, in_spanish.unwrap()).await;
    assert_eq!(
        in_spanish.expect(200)["paused_reason"],
        "su receptor respondió 410 Gone"
    );
    assert_eq!(shown["failing_since"], "2026-11-27T16:00:00.000Z");
    let on = json!({ "is_active": true });
    let shown = api.call(Method::PATCH, &path(&webhook), Some(&on)).await.expect(200);
    assert_eq!(shown["is_active"], true);
    for gone in ["paused_at", "paused_reason", "failing_since"] {
        assert!(shown.get(gone).is_none(), "{gone}");
    }
    // The waiting events are enqueued.
    let messages = api.stack.take_messages(Queue::Webhook).await;
    let jobs: Vec<WebhookJob> = messages
        .iter()
        .map(|body| serde_json::from_str(body).unwrap())
        .collect();
    let expected = WebhookJob::Unpark {
        scope,
        webhook: id,
        slow: false,
    };
    assert_eq!(jobs, [expected]);
}

#[tokio::test]
async fn a_dry_run_that_succeeds_lets_go_what_waits_for_a_dead_webhook() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    let (scope, id, now) = (api.company.scope, id_of(&webhook), api.stack.clock().now());
    api.stack.table().webhook_failed(&scope, &id, now).await.unwrap();
    assert!(api.stack.table().count_parked(&scope, &id, now).await.unwrap());
    let test = format!("{}/test", path(&webhook));
    receiver.answer_next(&[500]);
    api.call(Method::POST, &test, None).await.expect(200);
    assert_eq!(api.stack.take_messages(Queue::Webhook).await.len(), 0);
    api.call(Method::POST, &test, None).await.expect(200);
    assert_eq!(api.stack.take_messages(Queue::Webhook).await.len(), 1);
    assert!(
        api.get(&path(&webhook))
            .await
            .expect(200)
            .get("failing_since")
            .is_none()
    );
}

#[tokio::test]
async fn dry_runs_of_one_millisecond_are_deliveries_of_their_own() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    let test = format!("{}/test", path(&webhook));
    let mut ids = Vec::new();
    for _ in 0..3 {
        let answer = api.call(Method::POST, &test, None).await;
        ids.push(answer.expect(200)["delivery_id"].as_u64().unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let listed = api.get(&format!("{}/deliveries", path(&webhook))).await.expect(200);
    assert_eq!(listed["total"], 3);
}

#[tokio::test]
async fn the_other_environment_of_the_same_company_finds_nothing() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let other = api
        .stack
        .company_builder()
        .rnc("131880681")
        .without_ranges()
        .without_certificate();
    let other = other.environment(ecf::Environment::CerteCF).build().await;
    for (method, path, body) in [
        (Method::GET, path(&webhook), None),
        (Method::PATCH, path(&webhook), Some(json!({ "is_active": false }))),
        (Method::DELETE, path(&webhook), None),
        (
            Method::POST,
            format!("{}/rotate-secret", path(&webhook)),
            Some(json!({})),
        ),
        (
            Method::POST,
            format!("{}/deliveries/4096/redeliver", path(&webhook)),
            None,
        ),
    ] {
        let answer = request(&api.router, method, &path, Some(&other.api_key), body.as_ref()).await;
        assert_eq!(answer.expect(404)["detail"]["code"], "not_found", "{path}");
    }
    assert_eq!(api.get(&path(&webhook)).await.expect(200)["is_active"], true);
}
