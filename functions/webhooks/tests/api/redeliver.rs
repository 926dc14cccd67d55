//! `POST /api/v1/client/webhooks/{id}/deliveries/{delivery_id}/redeliver`.

use ecf::StampHosts;
use ecf_store::{DeliveryId, Receipt, Subject, WebhookJob, deliveries::Delivery, receipts::OutboxEntry};
use ecf_testkit::{Queue, Receiver};
use ecf_webhooks::event_body;
use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Api, PUBLIC, WEBHOOKS, id_of};

/// A receipt with its verdict.
async fn judged(api: &Api) -> Receipt {
    let receipt = api.stack.signed_receipt(&api.company, "E310000000001").await;
    api.stack.accept(&receipt, vec![OutboxEntry::Webhook]).await
}

/// The record of an attempt, as the worker writes it.
async fn delivered(api: &Api, webhook: &Value, receipt: &Receipt, body: &[u8]) -> DeliveryId {
    let now = api.stack.clock().now();
    let id = id_of(webhook);
    let delivery = Delivery {
        id: DeliveryId::new(now.as_millisecond(), &id, "accepted", 3),
        event: "accepted".to_owned(),
        attempt: 3,
        status_code: Some(500),
        response_excerpt: None,
        succeeded: false,
        sent_at: now,
        subject: Some(Subject::Receipt(receipt.public_id)),
        body_sha256: Some(Sha256::digest(body).into()),
    };
    assert!(
        api.stack
            .table()
            .record_delivery(&receipt.scope, &id, &delivery)
            .await
            .unwrap()
    );
    delivery.id
}

fn path(webhook: &Value, delivery: DeliveryId) -> String {
    format!("{WEBHOOKS}/{}/deliveries/{delivery}/redeliver", id_of(webhook))
}

#[tokio::test]
async fn an_event_is_queued_again_with_the_bytes_that_were_sent() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let receipt = judged(&api).await;
    let (_, body) = event_body(&receipt, &StampHosts::default()).unwrap();
    let delivery = delivered(&api, &webhook, &receipt, &body).await;
    let expected = json!({ "delivery_id": delivery.as_u64(), "event": "accepted", "attempt": 4 });
    for _ in 0..2 {
        let told = api
            .call(Method::POST, &path(&webhook, delivery), None)
            .await
            .expect(202);
        assert_eq!(told, expected);
    }
    let waiting = api
        .stack
        .table()
        .undelivered_of(&receipt.scope, &id_of(&webhook), 10)
        .await
        .unwrap();
    assert_eq!((waiting.len(), &waiting[0].body, waiting[0].attempts), (1, &body, 3));
    let messages = api.stack.take_messages(Queue::Webhook).await;
    let jobs: Vec<WebhookJob> = messages
        .iter()
        .map(|body| serde_json::from_str(body).unwrap())
        .collect();
    let job = WebhookJob::Deliver {
        scope: receipt.scope,
        webhook: id_of(&webhook),
        event: waiting[0].key,
        attempt: 4,
        slow: false,
    };
    // Both jobs name the same attempt, so it is made once.
    assert_eq!(jobs, [job.clone(), job]);
}

#[tokio::test]
async fn what_would_not_be_the_same_bytes_is_not_sent() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let receipt = judged(&api).await;
    let delivery = delivered(&api, &webhook, &receipt, b"other bytes").await;
    let refused = api
        .call(Method::POST, &path(&webhook, delivery), None)
        .await
        .expect(409);
    assert_eq!(refused["detail"]["code"], "delivery_not_repeatable");
}

#[tokio::test]
async fn a_dry_run_and_a_webhook_that_is_off_are_refused_and_an_unknown_delivery_is_not_found() {
    let api = Api::reaching_loopback().await;
    let receiver = Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    let one = format!("{WEBHOOKS}/{}", id_of(&webhook));
    let told = api.call(Method::POST, &format!("{one}/test"), None).await.expect(200);
    let again = format!("{one}/deliveries/{}/redeliver", told["delivery_id"]);
    let refused = api.call(Method::POST, &again, None).await.expect(409);
    assert_eq!(refused["detail"]["code"], "delivery_not_repeatable");
    let off = json!({ "is_active": false });
    api.call(Method::PATCH, &one, Some(&off)).await.expect(200);
    let refused = api.call(Method::POST, &again, None).await.expect(409);
    assert_eq!(refused["detail"]["code"], "webhook_inactive");
    for id in ["1", "x", "9007199254740992"] {
        let path = format!("{one}/deliveries/{id}/redeliver");
        api.call(Method::POST, &path, None).await.expect(404);
    }
}
