//! Webhooks that do not answer for long.

use ecf::ReceiptState;
use ecf_store::webhooks::Webhook;
use ecf_testkit::{Queue, Receiver};
use jiff::SignedDuration;

use crate::world::World;

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// A webhook that has failed for two hours, with one event behind it.
async fn dead(world: &mut World, receiver: &Receiver) -> Webhook {
    let webhook = world.subscribe(receiver, &["*"]).await;
    receiver.answer_next(&[500; 1_000]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    world.live(HOUR * 2).await;
    webhook
}

#[tokio::test]
async fn behind_a_dead_webhook_one_event_is_tried_and_the_others_wait() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = dead(&mut world, &receiver).await;
    let first = receiver.received();
    for sequence in 2..=30 {
        world
            .judged(&format!("E31{sequence:010}"), ReceiptState::Accepted)
            .await;
    }
    world.live(HOUR * 3).await;
    let tried = receiver.received().split_off(first.len());
    assert!((2..=4).contains(&tried.len()), "{}", tried.len());
    assert!(
        tried.iter().all(|one| one.body == first[0].body),
        "the oldest is the probe"
    );

    // It works again: everything comes, each event once.
    receiver.forget_answers();
    let before = receiver.received().len();
    world.live(HOUR * 2).await;
    let taken = receiver.received().split_off(before);
    assert_eq!(taken.len(), 30);
    let mut ids: Vec<String> = taken.iter().map(|one| one.json()["public_id"].to_string()).collect();
    assert_eq!(taken[0].body, first[0].body);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 30);
    let current = world.webhook(&webhook).await;
    assert_eq!((current.failing_since, current.probe_at), (None, None));
    world.live(HOUR * 48).await;
    assert_eq!(receiver.received().len(), before + 30);
}

#[tokio::test]
async fn a_webhook_that_fails_for_three_days_is_switched_off_and_others_are_told() {
    let mut world = World::start().await;
    let (receiver, witness) = (Receiver::start().await, Receiver::start().await);
    let webhook = dead(&mut world, &receiver).await;
    world.subscribe(&witness, &["webhook.paused"]).await;
    for sequence in 2..=8 {
        world
            .judged(&format!("E31{sequence:010}"), ReceiptState::Accepted)
            .await;
        world.live(HOUR * 12).await;
    }
    let current = world.webhook(&webhook).await;
    assert!(!current.is_active);
    let pause = current.paused.unwrap();
    assert_eq!(
        (&*pause.reason.en, &*pause.reason.es),
        (
            "its receiver has taken nothing since 2026-11-27T16:00:00Z",
            "su receptor no acepta nada desde 2026-11-27T16:00:00Z"
        )
    );
    let told = witness.received();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].header("x-ecf-event"), Some("webhook.paused"));
    let body = told[0].json();
    assert_eq!(body["webhook_id"], webhook.id.to_string());
    assert_eq!(body["reason"], *pause.reason.en);
    assert_eq!(body["failing_since"], "2026-11-27T16:00:00");

    // Switched off it is left alone.
    let before = receiver.received().len();
    world.judged("E310000000009", ReceiptState::Accepted).await;
    world.live(HOUR * 12).await;
    assert_eq!(receiver.received().len(), before);
    assert_eq!(world.stack.take_messages(Queue::Webhook).await.len(), 0);

    // Switched on again it gets what is not older than a day.
    receiver.forget_answers();
    world.switch(&webhook, true).await;
    world.live(HOUR * 48).await;
    let taken = receiver.received().split_off(before);
    let numbers: Vec<String> = taken.iter().map(|one| one.json()["encf"].to_string()).collect();
    assert_eq!(numbers, ["\"E310000000008\"", "\"E310000000009\""]);
    assert!(world.webhook(&webhook).await.paused.is_none());
}

#[tokio::test]
async fn behind_a_paused_webhook_an_event_costs_its_record_alone() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[410]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    world.live(HOUR).await;
    assert!(world.webhook(&webhook).await.paused.is_some());
    world.judged("E310000000002", ReceiptState::Accepted).await;
    world.stack.calls().reset();
    world.run().await;
    let counts = world.stack.calls().counts();
    let writes: Vec<_> = counts
        .iter()
        .filter(|(call, _)| call.contains("PutItem") || call.contains("UpdateItem") || call.contains("SendMessage"))
        .map(|(call, count)| (call.as_str(), *count))
        .collect();
    // The update takes the entry out of the receipt's outbox.
    assert_eq!(writes, [("DynamoDB PutItem", 1), ("DynamoDB UpdateItem", 1)]);
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn who_says_that_it_is_gone_is_switched_off_at_once() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[410]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    world.live(HOUR * 3).await;
    assert_eq!(receiver.received().len(), 1);
    let current = world.webhook(&webhook).await;
    assert!(!current.is_active);
    assert_eq!(current.paused.unwrap().reason.en, "its receiver answered 410 Gone");
    world.switch(&webhook, true).await;
    world.live(HOUR * 3).await;
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test]
async fn what_waited_when_its_owner_switched_a_webhook_off_comes_when_it_is_on_again_and_nothing_from_between() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500]);
    let first = world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    world.switch(&webhook, false).await;
    world.judged("E310000000002", ReceiptState::Accepted).await;
    world.live(HOUR).await;
    assert_eq!(receiver.received().len(), 1);
    world.switch(&webhook, true).await;
    world.live(HOUR).await;
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[1].json()["public_id"], first.public_id.to_string());
    assert_eq!(received[0].body, received[1].body);
}
