//! A failure or a crash at any call does not lose an event, and a repeated delivery has the same bytes.

use ecf::ReceiptState;
use ecf_testkit::{Fault, Receiver};
use jiff::SignedDuration;

use crate::world::World;

const AT_LEAST: u32 = 5;
const AT_MOST: u32 = 30;

/// A receiver that fails at first, so that the way has every kind of job; then each call in turn meets the fault.
async fn every_call_meets(fault: Fault) {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    let mut seen = 0;
    for nth in 1..=AT_MOST {
        world.restart_worker();
        receiver.answer_next(&[500]);
        let receipt = world.judged(&format!("E31{nth:010}"), ReceiptState::Accepted).await;
        world.stack.calls().inject("*", nth, fault);
        // What a message did not survive, housekeeping brings back.
        world.live(SignedDuration::from_hours(3)).await;
        let is_behind_the_end = world.stack.calls().faults_to_come() > 0;
        let told = world.receipt(&receipt).await;
        assert_eq!(
            (told.outbox.len(), told.next_action_at),
            (0, None),
            "{fault:?} at call {nth}"
        );
        let waiting = world
            .table
            .undelivered_of(&world.company.scope, &webhook.id, 10)
            .await
            .unwrap();
        assert_eq!(waiting, [], "{fault:?} at call {nth}");
        let current = world.webhook(&webhook).await;
        assert_eq!(
            (current.is_active, current.probe_at),
            (true, None),
            "{fault:?} at call {nth}"
        );
        let received = receiver.received().split_off(seen);
        seen += received.len();
        assert!(received.len() >= 2, "{fault:?} at call {nth}");
        for one in &received {
            assert_eq!(one.json()["public_id"], receipt.public_id.to_string());
            assert_eq!(one.body, received[0].body, "{fault:?} at call {nth}");
        }
        if is_behind_the_end {
            assert!(nth > AT_LEAST, "only {nth} calls met {fault:?}");
            assert_eq!(received.len(), 2, "nothing went wrong");
            return;
        }
    }
    panic!("the way of an event has more than {AT_MOST} calls");
}

#[tokio::test]
async fn an_event_survives_a_request_that_is_lost_at_any_call() {
    every_call_meets(Fault::NotSent).await;
}

#[tokio::test]
async fn an_event_survives_an_answer_that_is_lost_at_any_call() {
    every_call_meets(Fault::AnswerLost).await;
}

#[tokio::test]
async fn an_event_survives_a_worker_that_dies_before_any_call() {
    every_call_meets(Fault::DiesBefore).await;
}

#[tokio::test]
async fn an_event_survives_a_worker_that_dies_after_any_call() {
    every_call_meets(Fault::DiesAfter).await;
}

#[tokio::test]
async fn a_worker_that_dies_between_delivery_and_outbox_tells_again() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["*"]).await;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    // The first update is the one that takes the entry out of the outbox.
    world.stack.calls().inject("UpdateItem", 1, Fault::DiesBefore);
    assert!(world.step().await);
    assert_eq!(receiver.received().len(), 1);
    assert!(world.receipt(&receipt).await.next_action_at.is_some());
    world.run().await;
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].body, received[1].body);
    assert_eq!(world.receipt(&receipt).await.next_action_at, None);
}

#[tokio::test]
async fn a_store_that_fails_for_long_ends_the_chain_and_leaves_the_event_due() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["*"]).await;
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    for nth in 1..=5 {
        // Each fault is counted from its own first call on.
        world.stack.calls().inject("Query", nth, Fault::NotSent);
    }
    let start = world.now();
    world.run().await;
    assert_eq!(world.stack.calls().faults_to_come(), 0);
    assert!(world.now().duration_since(start) < SignedDuration::from_mins(10));
    assert_eq!(receiver.received().len(), 0);
    assert!(world.receipt(&receipt).await.next_action_at.is_some());
    world.queue_event(&receipt);
    world.run().await;
    assert_eq!(receiver.received().len(), 1);
}
