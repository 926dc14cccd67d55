//! The authority is away, slow or does not like our token: nothing was sent, so it is simply tried again.

use std::time::Duration;

use ecf::ReceiptState;
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

/// Held receipts wait for the next probe.
fn is_a_hold(wait: SignedDuration) -> bool {
    wait == SignedDuration::from_secs(50)
}

#[tokio::test]
async fn an_authority_out_of_reach_leaves_no_doubt_and_the_receipt_held() {
    // Port 1 is nobody's.
    let mut world = World::with_authority_at("http://127.0.0.1:1").await;
    let issued = world.issue("E310000000001").await;
    let start = world.now();
    world.run().await;
    let after = world.now().duration_since(start);
    assert!(
        after < SignedDuration::from_mins(2),
        "the only company is held after {after}"
    );
    for _ in 0..3 {
        let receipt = world.receipt(&issued).await;
        assert_eq!(
            (receipt.state, receipt.sending.lease_until),
            (ReceiptState::Contingency, None)
        );
        assert_eq!(receipt.sending.attempts, 0, "without a token nothing is claimed");
        let next = receipt.next_action_at.expect("housekeeping must find it");
        assert!(is_a_hold(next.duration_since(world.now())), "{next}");
        world.advance(next.duration_since(world.now()));
        world.sweep().await;
        world.run().await;
    }
}

#[tokio::test]
async fn receipts_are_held_while_the_authority_is_down_and_go_out_by_themselves() {
    let mut world = World::start().await;
    world
        .authority
        .order(json!({ "service": "*", "fault": "status", "status": 503 }))
        .await;
    let mut issued = Vec::new();
    for sequence in 1..=3 {
        issued.push(world.issue(&format!("E31{sequence:010}")).await);
    }
    world.run().await;
    for receipt in &issued {
        assert_eq!(world.receipt(receipt).await.state, ReceiptState::Contingency);
    }
    world.authority.clear_faults().await;
    for receipt in &issued {
        let done = world.run_until_quiet(receipt).await;
        assert_eq!(done.state, ReceiptState::Accepted);
        let encf = done.encf().unwrap().to_string();
        assert_eq!(world.authority.submissions(&encf).await, 1);
        assert!(done.completed_at.unwrap().duration_since(done.created_at) < SignedDuration::from_mins(16));
    }
}

#[tokio::test]
async fn three_companies_whose_sends_fail_hold_the_fourth_before_it_calls() {
    let mut world = World::start().await;
    world
        .authority
        .order(json!({ "service": "recepcion", "fault": "status", "status": 503 }))
        .await;
    for _ in 0..3 {
        world.company = world.stack.company_builder().without_ranges().build().await;
        world.issue("E310000000001").await;
        assert!(world.step().await);
    }
    world.lose_messages();
    let calls = world.authority.answers("recepcion", 503).await;
    world.company = world.stack.company_builder().without_ranges().build().await;
    let fourth = world.issue("E310000000001").await;
    world.run().await;
    assert_eq!(world.authority.answers("recepcion", 503).await, calls);
    let fourth = world.receipt(&fourth).await;
    assert_eq!((fourth.state, fourth.sending.attempts), (ReceiptState::Contingency, 0));
}

#[tokio::test]
async fn a_verdict_that_cannot_be_asked_for_waits_and_the_receipt_stays_submitted() {
    let mut world = World::start().await;
    world.authority.set("verdict-delay", json!({ "ms": 60_000 })).await;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    world
        .authority
        .order(json!({ "service": "*", "fault": "status", "status": 503 }))
        .await;
    world.run().await;
    let receipt = world.receipt(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Submitted);
    assert!(is_a_hold(receipt.next_action_at.unwrap().duration_since(world.now())));
    world.authority.clear_faults().await;
    assert_eq!(world.run_until_quiet(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn a_send_whose_answer_was_lost_is_held_too_and_looked_up_before_it_is_sent_again() {
    let mut world = World::start().await;
    world
        .authority
        .order(json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 }))
        .await;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    world
        .authority
        .order(json!({ "service": "*", "fault": "status", "status": 503 }))
        .await;
    world.run().await;
    let receipt = world.receipt(&issued).await;
    assert_eq!(
        (receipt.state, receipt.sending.attempts),
        (ReceiptState::Contingency, 1)
    );
    assert!(
        receipt.sending.lease_until.is_some(),
        "nobody knows yet whether it arrived"
    );
    world.authority.clear_faults().await;
    assert_eq!(world.run_until_quiet(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn the_host_of_summaries_is_held_by_itself() {
    let mut world = World::start().await;
    let fault = json!({ "service": "*", "host": "fc", "fault": "status", "status": 503 });
    world.authority.order(fault).await;
    let mut summary = world.issue("E320000000001").await;
    assert!(world.step().await);
    for _ in 0..2 {
        world.company = world.stack.company_builder().without_ranges().build().await;
        summary = world.issue("E320000000001").await;
        assert!(world.step().await);
    }
    world.run().await;
    assert_eq!(world.receipt(&summary).await.state, ReceiptState::Contingency);
    let full = world.issue("E310000000001").await;
    world.run().await;
    assert_eq!(world.receipt(&full).await.state, ReceiptState::Accepted);
    world.authority.clear_faults().await;
    assert_eq!(world.run_until_quiet(&summary).await.state, ReceiptState::Accepted);
}

#[tokio::test]
async fn a_company_whose_documents_break_the_service_does_not_hold_the_others() {
    let mut world = World::start().await;
    let broken = world.company.rnc.to_string();
    let fault = json!({ "service": "*", "rnc": broken, "fault": "status", "status": 500 });
    world.authority.order(fault).await;
    for sequence in 1..=3 {
        world.issue(&format!("E31{sequence:010}")).await;
    }
    for sequence in 1..=20 {
        world.step().await;
        let other = world.stack.company_builder().without_ranges().build().await;
        let company = std::mem::replace(&mut world.company, other);
        let other = world.issue(&format!("E31{sequence:010}")).await;
        world.company = company;
        world.advance(SignedDuration::from_secs(5));
        while world.receipt(&other).await.state == ReceiptState::Signed {
            assert!(world.step().await);
        }
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
    assert_eq!(
        (receipt.state, receipt.sending.lease_until),
        (ReceiptState::Signed, None)
    );
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
        assert_eq!(world.receipt(&issued).await.sending.attempts, 1);
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
            (receipt.state, receipt.sending.attempts),
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
    assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Accepted, 2));
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}
