//! The authority is away, slow or does not like our token: nothing was sent, so it is simply tried again.

use std::time::Duration;

use ecf::ReceiptState;
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn an_authority_out_of_reach_leaves_no_doubt_and_the_receipt_due() {
    // Port 1 is nobody's.
    let mut world = World::with_authority_at("http://127.0.0.1:1").await;
    let issued = world.issue("E310000000001").await;
    for _ in 0..3 {
        let start = world.now();
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!((receipt.state, receipt.lease_until), (ReceiptState::Signed, None));
        assert_eq!(receipt.send_attempt, 0, "without a token nothing is claimed");
        // One chain of tries after the other, never two at a time.
        let next = receipt.next_action_at.expect("housekeeping must find it");
        assert!(next > world.now() && world.now().duration_since(start) < SignedDuration::from_mins(10));
        world.advance(next.duration_since(world.now()));
        world.sweep().await;
    }
    world.lose_messages();
}

#[tokio::test]
async fn a_reception_that_asks_to_slow_down_is_obeyed() {
    let mut world = World::start().await;
    let fault = json!({ "service": "recepcion", "fault": "status", "status": 429, "retry_after": 400, "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue("E310000000001").await;
    let start = world.now();
    assert!(world.step().await);
    let receipt = world.receipt(&issued).await;
    assert_eq!((receipt.state, receipt.lease_until), (ReceiptState::Signed, None));
    assert_eq!(world.stack.calls().delays(), [Duration::from_secs(400)]);
    assert!(world.step().await);
    assert_eq!(world.now().duration_since(start), SignedDuration::from_secs(400));
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
}

#[tokio::test]
async fn a_wait_that_no_queue_holds_goes_to_the_due_index() {
    let mut world = World::start().await;
    let fault = json!({ "service": "recepcion", "fault": "status", "status": 429, "retry_after": 3000, "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue("E310000000001").await;
    let start = world.now();
    assert!(world.step().await);
    assert!(world.is_idle());
    let next = world.receipt(&issued).await.next_action_at.unwrap();
    assert_eq!(next, start + SignedDuration::from_secs(3000));
    assert_eq!(world.run_until_quiet(&issued).await.state, ReceiptState::Accepted);
}

#[tokio::test]
async fn a_token_that_the_authority_drops_is_replaced_at_once() {
    for service in ["recepcion", "consultaresultado"] {
        let mut world = World::start().await;
        let fault = json!({ "service": service, "fault": "status", "status": 401, "times": 1 });
        world.authority.order(fault).await;
        let issued = world.issue("E310000000001").await;
        world.run().await;
        assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted, "{service}");
        assert_eq!(world.receipt(&issued).await.send_attempt, 1);
        assert_eq!(world.authority.submissions("E310000000001").await, 1);
        assert_eq!(world.authority.answers(service, 401).await, 1);
        assert_eq!(
            world.authority.answers("autenticacion", 200).await,
            4,
            "two seeds, two tokens"
        );
    }
}

#[tokio::test]
async fn one_token_serves_all_receipts_of_its_hour_and_all_workers() {
    let mut world = World::start().await;
    for sequence in 1..=3 {
        world.issue(&format!("E31{sequence:010}")).await;
        world.restart_worker();
        world.run().await;
    }
    assert_eq!(
        world.authority.answers("autenticacion", 200).await,
        2,
        "one seed, one token"
    );
    world.advance(SignedDuration::from_mins(60));
    let issued = world.issue("E310000000004").await;
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.authority.answers("autenticacion", 200).await, 4);
    assert_eq!(
        world.authority.answers("recepcion", 401).await,
        0,
        "an expired token is not tried"
    );
}

#[tokio::test]
async fn an_authentication_that_fails_is_tried_again() {
    for fault in ["html", "garbage", "maintenance", "lose_answer", "empty"] {
        let mut world = World::start().await;
        let order = json!({ "service": "autenticacion", "fault": fault, "times": 2 });
        world.authority.order(order).await;
        let issued = world.issue("E310000000001").await;
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(
            (receipt.state, receipt.send_attempt),
            (ReceiptState::Accepted, 1),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn a_bucket_that_fails_is_no_lost_send() {
    // In certification a lost send would need an operator.
    let mut world = World::in_environment(ecf::Environment::CerteCF).await;
    let issued = world.issue("E310000000001").await;
    world.stack.calls().inject("GetObject", 1, ecf_testkit::Fault::NotSent);
    world.run().await;
    assert_eq!(world.stack.calls().faults_to_come(), 0);
    let receipt = world.receipt(&issued).await;
    assert_eq!((receipt.state, receipt.send_attempt), (ReceiptState::Accepted, 2));
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}
