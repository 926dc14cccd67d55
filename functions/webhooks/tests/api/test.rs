//! `POST /api/v1/client/webhooks/{id}/test`.

use std::net::TcpListener;

use ecf_testkit::Receiver;
use ecf_webhooks::{WebhookSecret, verify};
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, WEBHOOKS, id_of};

async fn dry_run(api: &Api, webhook: &Value) -> Value {
    let path = format!("{WEBHOOKS}/{}/test", id_of(webhook));
    api.call(Method::POST, &path, None).await.expect(200)
}

#[tokio::test]
async fn a_dry_run_delivers_one_signed_event_at_once() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    // A dry run is delivered whatever the subscription.
    let body = json!({ "url": receiver.url(), "events": ["rejected"], "secret": "clave con eñe y espacios" });
    let webhook = api.create(&body).await.expect(201);
    let told = dry_run(&api, &webhook).await;
    let delivery_id = told["delivery_id"].as_u64().unwrap();
    assert!(delivery_id < 1 << 53);
    let expected = json!({
        "event": "webhook.test", "delivery_id": delivery_id, "succeeded": true, "status_code": 200,
        "response_excerpt": told["response_excerpt"], "error": null,
    });
    assert_eq!(told, expected);

    let [received] = receiver.received().try_into().expect("one request came");
    assert_eq!(
        (received.method.as_str(), received.path.as_str()),
        ("POST", "/webhooks/ecf")
    );
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("x-ecf-event"), Some("webhook.test"));
    for absent in ["x-ecf-timestamp", "x-ecf-delivery-id"] {
        assert_eq!(received.header(absent), None, "{absent}");
    }
    let secret = WebhookSecret::parse("clave con eñe y espacios").unwrap();
    let signature = received.header("x-ecf-signature").unwrap();
    assert!(signature.starts_with("sha256="));
    assert!(
        verify(&secret, &received.body, signature),
        "over the bytes as they came"
    );
    let expected = json!({
        "event": "webhook.test", "public_id": webhook["public_id"], "company_rnc": "130000001",
        "timestamp": "2026-11-27T16:00:00",
    });
    assert_eq!(received.json(), expected);
}

#[tokio::test]
async fn a_secret_that_the_service_made_signs_too() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    dry_run(&api, &webhook).await;
    let [received] = receiver.received().try_into().expect("one request came");
    let secret = WebhookSecret::parse(webhook["secret"].as_str().unwrap()).unwrap();
    assert!(verify(
        &secret,
        &received.body,
        received.header("x-ecf-signature").unwrap()
    ));
}

#[tokio::test]
async fn a_receiver_that_fails_is_told_and_not_tried_again() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    for status in [500, 404, 302] {
        receiver.answer_next(&[status]);
        let told = dry_run(&api, &webhook).await;
        assert_eq!(
            (&told["succeeded"], &told["status_code"]),
            (&json!(false), &json!(status))
        );
        assert_eq!(told["error"], json!(null));
    }
    assert_eq!(receiver.received().len(), 3);
    assert_eq!(api.stack.calls().requests_to("SQS"), 0);
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_told() {
    let api = Api::reaching_loopback().await;
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let webhook = api.subscribe(&format!("http://{closed}/")).await;
    let told = dry_run(&api, &webhook).await;
    let expected = json!({
        "event": "webhook.test", "delivery_id": told["delivery_id"], "succeeded": false, "status_code": null,
        "response_excerpt": null, "error": "no connection",
    });
    assert_eq!(told, expected);
}

#[tokio::test]
async fn k3_a_webhook_has_one_dry_run_at_a_time() {
    let api = Api::reaching_loopback().await;
    let slow = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let webhook = api.subscribe(&format!("http://{}/", slow.local_addr().unwrap())).await;
    let receiver = Receiver::start().await;
    let another = api.subscribe(&receiver.url()).await;
    let path = format!("{WEBHOOKS}/{}/test", id_of(&webhook));
    let second = async {
        // The first run is in progress once its connection exists.
        let (connection, _) = slow.accept().await.unwrap();
        let refused = api.call(Method::POST, &path, None).await.expect(409);
        assert_eq!(refused["detail"]["code"], "webhook_test_running");
        // Another webhook has its own dry run.
        assert_eq!(dry_run(&api, &another).await["succeeded"], true);
        drop(connection);
    };
    let (first, ()) = tokio::join!(dry_run(&api, &webhook), second);
    assert_eq!(first["succeeded"], false);
    // The end of a run releases the webhook; an aborted run releases it after its time limit.
    let (scope, id, now) = (api.company.scope, id_of(&webhook), api.stack.clock().now());
    let until = now + SignedDuration::from_secs(20);
    assert!(
        api.stack
            .table()
            .begin_webhook_test(&scope, &id, now, until)
            .await
            .unwrap()
    );
    api.call(Method::POST, &path, None).await.expect(409);
    drop(slow);
    api.stack.clock().advance(SignedDuration::from_secs(20));
    assert_eq!(dry_run(&api, &webhook).await["error"], "no connection");
}

#[tokio::test]
async fn an_unknown_webhook_is_not_found() {
    let api = Api::start().await;
    for id in ["0000000000000000000000000000000z", "1", "%ff"] {
        let answer = api.call(Method::POST, &format!("{WEBHOOKS}/{id}/test"), None).await;
        assert_eq!(answer.expect(404)["detail"]["code"], "not_found", "{id}");
    }
}
