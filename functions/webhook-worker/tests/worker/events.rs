//! A verdict's event: who hears of it, and what.

use ecf::ReceiptState;
use ecf_store::{WebhookId, webhooks::WebhookChanges};
use ecf_testkit::Receiver;
use ecf_webhooks::{WebhookSecret, verify};
use jiff::SignedDuration;

use crate::world::{SECRET, World};

#[tokio::test]
async fn an_event_is_one_flat_signed_post() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;

    let received = receiver.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].method, "POST");
    assert_eq!(received[0].header("content-type"), Some("application/json"));
    assert_eq!(received[0].header("x-ecf-event"), Some("accepted"));
    let signature = received[0].header("x-ecf-signature").unwrap();
    let secret = WebhookSecret::parse(SECRET).unwrap();
    assert!(verify(&secret, &received[0].body, signature), "{signature}");
    let signed = receipt.fiscal.signed.as_ref().unwrap();
    let mut body = received[0].json();
    assert_eq!(body["public_id"], receipt.public_id.to_string());
    assert_eq!(body["sign_date"], signed.sign_date);
    for name in ["security_code", "taxauth_security_code", "dgii_security_code"] {
        assert_eq!(body[name], signed.security_code, "{name}");
    }
    let stamp = body["electronic_stamp"].as_str().unwrap();
    assert!(
        stamp.starts_with("https://ecf.dgii.gov.do/testecf/consultatimbre?"),
        "{stamp}"
    );
    // What differs from run to run was looked at above.
    for name in [
        "public_id",
        "security_code",
        "taxauth_security_code",
        "dgii_security_code",
        "electronic_stamp",
    ] {
        body[name] = "…".into();
    }
    insta::assert_json_snapshot!(body, @r#"
    {
      "company_rnc": "130000001",
      "dgii_response": {
        "codigo": 1,
        "estado": "Aceptado"
      },
      "dgii_security_code": "…",
      "ecf_type": "31",
      "electronic_stamp": "…",
      "encf": "E310000000001",
      "event": "accepted",
      "public_id": "…",
      "security_code": "…",
      "sign_date": "27-11-2026 12:00:00",
      "status": "accepted",
      "taxauth_response": {
        "codigo": 1,
        "estado": "Aceptado"
      },
      "taxauth_security_code": "…",
      "timestamp": "2026-11-27T16:00:00",
      "track_id": "d2b6e27c-3908-46f3-afaa-2207b9501b4b",
      "track_number": "d2b6e27c-3908-46f3-afaa-2207b9501b4b"
    }
    "#);

    let told = world.receipt(&receipt).await;
    assert_eq!((told.outbox.len(), told.next_action_at), (0, None));
    assert_eq!(told.notified_at, Some(world.now()));
    let deliveries = world.deliveries(&webhook).await;
    assert_eq!(deliveries.len(), 1);
    assert!(deliveries[0].succeeded);
    assert_eq!((deliveries[0].status_code, deliveries[0].attempt), (Some(200), 1));
}

#[tokio::test]
async fn each_subscriber_hears_what_it_subscribed_to() {
    let subscriptions: [(&[&str], &[&str]); 6] = [
        (&["*"], &["accepted", "conditionally_accepted", "rejected"]),
        (&["ecf.*"], &["accepted", "conditionally_accepted", "rejected"]),
        (&["rejected", "accepted"], &["accepted", "rejected"]),
        (&["conditionally_accepted"], &["conditionally_accepted"]),
        (&["taxauth.*"], &[]),
        (&["webhook.test"], &[]),
    ];
    let mut world = World::start().await;
    let mut receivers = Vec::new();
    for (events, _) in subscriptions {
        let receiver = Receiver::start().await;
        world.subscribe(&receiver, events).await;
        receivers.push(receiver);
    }
    let verdicts = [
        ("E310000000001", ReceiptState::Accepted),
        ("E310000000002", ReceiptState::ConditionallyAccepted),
        ("E310000000003", ReceiptState::Rejected),
    ];
    for (encf, state) in verdicts {
        world.judged(encf, state).await;
    }
    world.run().await;
    for ((subscribed, expected), receiver) in subscriptions.into_iter().zip(&receivers) {
        let mut heard: Vec<String> = receiver
            .received()
            .iter()
            .map(|one| one.json()["event"].as_str().unwrap().to_owned())
            .collect();
        heard.sort();
        assert_eq!(heard, expected, "{subscribed:?}");
    }
}

#[tokio::test]
async fn b4_a_receipt_records_when_a_webhook_first_took_its_verdict() {
    let mut world = World::start().await;
    let (failing, other) = (Receiver::start().await, Receiver::start().await);
    world.subscribe(&failing, &["*"]).await;
    world.subscribe(&other, &["sequence.low"]).await;
    failing.answer_next(&[500, 500]);
    let receipt = world.judged("E310000000001", ReceiptState::Rejected).await;
    assert!(world.step().await);
    let refused = world.receipt(&receipt).await;
    assert_eq!((refused.notified_at, refused.outbox.len()), (None, 0));
    world.run().await;
    let taken = world.now();
    assert_eq!(world.receipt(&receipt).await.notified_at, Some(taken));
    // A webhook that takes it later changes nothing.
    world.subscribe(&other, &["*"]).await;
    world.advance(SignedDuration::from_mins(5));
    world.queue_event(&receipt);
    world.run().await;
    assert_eq!(world.receipt(&receipt).await.notified_at, Some(taken));
}

#[tokio::test]
async fn without_a_subscriber_an_event_is_done() {
    let mut world = World::start().await;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;
    let done = world.receipt(&receipt).await;
    assert_eq!((done.next_action_at, done.notified_at), (None, None));
}

#[tokio::test]
async fn an_event_that_was_told_is_not_told_again() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["*"]).await;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;
    world.queue_event(&receipt);
    world.run().await;
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn an_inactive_webhook_and_one_of_another_company_or_environment_hear_nothing() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let inactive = world.subscribe(&receiver, &["*"]).await;
    let off = WebhookChanges {
        is_active: Some(false),
        ..WebhookChanges::default()
    };
    let changed = world
        .table
        .update_webhook(&world.company.scope, &inactive.id, off, world.now())
        .await;
    assert!(changed.unwrap().is_some());
    let ours = world.company.clone();
    world.company = world
        .stack
        .company_builder()
        .rnc("131880681")
        .without_ranges()
        .build()
        .await;
    world.subscribe(&receiver, &["*"]).await;
    world.company = ours.clone();
    world.company.scope.environment = ecf::Environment::Ecf;
    world.subscribe(&receiver, &["*"]).await;
    world.company = ours;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;
    assert_eq!(receiver.received().len(), 0);
    assert_eq!(world.receipt(&receipt).await.next_action_at, None);
}

#[tokio::test]
async fn receipts_that_are_judged_in_the_same_millisecond_keep_their_own_deliveries() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    // Every first attempt fails, so every retry needs the bytes of its own.
    receiver.answer_next(&[500; 5]);
    let mut ids = Vec::new();
    for sequence in 1..=5 {
        let receipt = world
            .judged(&format!("E31{sequence:010}"), ReceiptState::Accepted)
            .await;
        ids.push(receipt.public_id.to_string());
    }
    world.run().await;
    let received = receiver.received();
    assert_eq!(received.len(), 10);
    for id in &ids {
        let bodies: Vec<_> = received
            .iter()
            .filter(|one| one.json()["public_id"] == *id)
            .map(|one| &one.body)
            .collect();
        assert_eq!(bodies.len(), 2, "{id}");
        assert_eq!(bodies[0], bodies[1]);
    }
    assert_eq!(world.deliveries(&webhook).await.len(), 10);
}

#[tokio::test]
async fn a_secret_of_another_webhook_does_not_open_and_keeps_nobody_else_from_hearing() {
    let mut world = World::start().await;
    let (broken, sound) = (Receiver::start().await, Receiver::start().await);
    let other = world.subscribe(&sound, &["*"]).await;
    let id = WebhookId::from_random(ecf_runtime::random());
    let webhook = world.subscribe_sealed_for(&other.id, id, &broken.url(), &["*"]).await;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;
    assert_eq!((broken.received().len(), sound.received().len()), (0, 1));
    assert_eq!(world.receipt(&receipt).await.next_action_at, None);
    // Its owner sees why.
    let deliveries = world.deliveries(&webhook).await;
    assert_eq!(deliveries.len(), 1);
    assert!(!deliveries[0].succeeded);
    let excerpt = &*deliveries[0].response_excerpt.as_ref().unwrap().en;
    assert!(excerpt.contains("secret does not open"), "{excerpt}");
}
