//! The operator's portal hears of new companies.

use std::time::Duration;

use ecf_store::{CompanyId, OperatorSecret, WebhookJob};
use ecf_testkit::{Fault, Receiver};
use ecf_webhooks::{WebhookSecret, verify};

use crate::world::{PORTAL_SECRET, World};

async fn with_job(url: &str) -> World {
    let mut world = World::with_portal(url).await;
    let job = WebhookJob::Portal {
        company: world.company.scope.company,
        attempt: 0,
    };
    world.queue.push(&world.stack, &job);
    world
}

#[tokio::test]
async fn a_new_company_is_told_without_anything_secret() {
    let portal = Receiver::start().await;
    let mut world = with_job(&portal.url()).await;
    world.run().await;
    let received = portal.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].header("content-type"), Some("application/json"));
    let signature = received[0].header("x-ecf-signature").unwrap();
    let secret = WebhookSecret::parse(PORTAL_SECRET).unwrap();
    assert!(verify(&secret, &received[0].body, signature), "{signature}");
    let mut body = received[0].json();
    assert_eq!(body["public_id"], world.company.scope.company.to_string());
    body["public_id"] = "…".into();
    insta::assert_json_snapshot!(body, @r#"
    {
      "created_at": "2026-11-27T16:00:00Z",
      "email": "facturas@ferreteria.example",
      "event": "company.registered",
      "name": "Ferretería de Prueba SRL",
      "public_id": "…",
      "rnc": "130000001"
    }
    "#);
}

#[tokio::test]
async fn a_portal_that_fails_is_tried_again_and_told_once() {
    let portal = Receiver::start().await;
    portal.answer_next(&[500, 302]);
    let mut world = with_job(&portal.url()).await;
    world.run().await;
    assert_eq!(portal.received().len(), 3);
    assert_eq!(world.stack.calls().delays(), [60, 300].map(Duration::from_secs));
}

#[tokio::test]
async fn a_portal_that_does_not_come_back_is_left_alone() {
    let portal = Receiver::start().await;
    portal.answer_next(&[500; 50]);
    let mut world = with_job(&portal.url()).await;
    world.run().await;
    assert_eq!(portal.received().len(), 4);
}

#[tokio::test]
async fn a_store_that_fails_counts_as_a_try() {
    let portal = Receiver::start().await;
    let mut world = with_job(&portal.url()).await;
    for nth in 1..=3 {
        world.stack.calls().inject("GetItem", nth, Fault::NotSent);
    }
    world.run().await;
    assert_eq!(world.stack.calls().delays(), [60, 300, 900].map(Duration::from_secs));
    assert_eq!(portal.received().len(), 1);
}

#[tokio::test]
async fn without_a_secret_nothing_is_signed_and_one_that_is_none_is_not_signed_with() {
    let portal = Receiver::start().await;
    let mut world = with_job(&portal.url()).await;
    world.stack.store_secret(OperatorSecret::PortalSecret, " ").await;
    world.run().await;
    assert_eq!(portal.received()[0].header("x-ecf-signature"), None);

    let mut world = with_job(&portal.url()).await;
    world.stack.store_secret(OperatorSecret::PortalSecret, "short").await;
    world.run().await;
    assert_eq!(world.stack.calls().delays(), [60, 300, 900].map(Duration::from_secs));
    assert_eq!(portal.received().len(), 1);
}

#[tokio::test]
async fn without_a_portal_or_a_company_there_is_nothing_to_tell() {
    let mut world = with_job("").await;
    world.run().await;
    let portal = Receiver::start().await;
    let mut world = World::with_portal(&portal.url()).await;
    let job = WebhookJob::Portal {
        company: CompanyId::from_random([9; 20]),
        attempt: 0,
    };
    world.queue.push(&world.stack, &job);
    world.run().await;
    assert_eq!(portal.received().len(), 0);
}
