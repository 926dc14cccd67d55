//! Sends whose answer was lost: the number is looked up before anything is sent again.

use ecf::{Environment, ReceiptState};
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

const CASES: [(&str, &str); 2] = [("E310000000001", "recepcion"), ("E320000000001", "recepcionfc")];

#[tokio::test]
async fn a_send_that_arrived_is_found_and_not_repeated() {
    for environment in [Environment::TesteCF, Environment::Ecf] {
        for (encf, service) in CASES {
            let mut world = World::in_environment(environment).await;
            let fault = json!({ "service": service, "fault": "lose_answer", "times": 1 });
            world.authority.order(fault).await;
            let issued = world.issue(encf).await;
            world.run().await;
            let receipt = world.receipt(&issued).await;
            assert_eq!(receipt.state, ReceiptState::Accepted, "{encf} {environment}");
            assert_eq!(world.authority.submissions(encf).await, 1);
            assert_eq!(receipt.sending.attempts, 1);
            assert_eq!(world.events_of(&issued), 1);
            let documents = world.authority.documents(encf).await;
            let track_id = documents[0]["trackIds"].get(0).and_then(|id| id.as_str());
            assert_eq!(receipt.sending.track_id.as_deref(), track_id);
        }
    }
}

#[tokio::test]
async fn a_rejection_whose_answer_was_lost_is_found() {
    for (encf, service) in CASES {
        let mut world = World::start().await;
        // Two orders fit: the first wants the answer lost, so the document is made one that the authority rejects itself.
        let sequences = json!([{ "ambiente": "testecf", "rnc": world.company.rnc, "tipo": 33, "desde": 1, "hasta": 1, "vencimiento": "31-12-2028" }]);
        world.authority.set("sequences", sequences).await;
        let fault = json!({ "service": service, "fault": "lose_answer", "times": 1 });
        world.authority.order(fault).await;
        let issued = world.issue(encf).await;
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(receipt.state, ReceiptState::Rejected, "{encf}");
        assert_eq!(world.authority.submissions(encf).await, 1);
    }
}

#[tokio::test]
async fn a_send_that_did_not_arrive_is_repeated_after_two_negative_answers_a_minute_apart() {
    for (encf, service) in CASES {
        let mut world = World::start().await;
        // 504 from whatever stands in front: nothing was processed, and nobody can know.
        let fault = json!({ "service": service, "fault": "status", "status": 504, "times": 1 });
        world.authority.order(fault).await;
        let issued = world.issue(encf).await;
        assert!(world.step().await);
        let sent_at = world.now();
        let lost = world.receipt(&issued).await;
        assert_eq!((lost.state, lost.sending.attempts), (ReceiptState::Signed, 1));
        assert_eq!(lost.sending.lease_until, Some(sent_at), "its outcome is unknown");

        assert!(world.step().await);
        let first = world.receipt(&issued).await;
        assert_eq!((first.sending.lookup_negatives, first.sending.attempts), (1, 1));
        let first_at = world.now();
        assert_eq!(world.authority.submissions(encf).await, 0);

        assert!(world.step().await);
        let second = world.receipt(&issued).await;
        assert_eq!((second.sending.lookup_negatives, second.sending.attempts), (2, 1));
        assert!(world.now().duration_since(first_at) >= SignedDuration::from_secs(60));
        assert_eq!(world.authority.submissions(encf).await, 0);

        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Accepted, 2));
        assert_eq!(world.authority.submissions(encf).await, 1);
        assert_eq!(world.events_of(&issued), 1);
    }
}

#[tokio::test]
async fn answers_that_prove_nothing_never_lead_to_a_second_accepted_copy() {
    for fault in ["html", "garbage", "maintenance", "lose_answer"] {
        for (encf, service) in CASES {
            let mut world = World::start().await;
            let order = json!({ "service": service, "fault": fault, "times": 1 });
            world.authority.order(order).await;
            let issued = world.issue(encf).await;
            world.run().await;
            let receipt = world.receipt(&issued).await;
            assert_eq!(receipt.state, ReceiptState::Accepted, "{fault} {encf}");
            assert_eq!(world.authority.submissions(encf).await, 1, "{fault} {encf}");
        }
    }
}

#[tokio::test]
async fn a_look_up_that_fails_or_says_nothing_leads_to_another_and_to_no_resend() {
    for fault in ["html", "garbage", "empty", "text", "problem_details", "lose_answer"] {
        let mut world = World::start().await;
        for order in [
            json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 }),
            json!({ "service": "consultatrackids", "fault": fault, "times": 2 }),
        ] {
            world.authority.order(order).await;
        }
        let issued = world.issue("E310000000001").await;
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(
            (receipt.state, receipt.sending.attempts),
            (ReceiptState::Accepted, 1),
            "{fault}"
        );
        assert_eq!(world.authority.submissions("E310000000001").await, 1);
    }
}

#[tokio::test]
async fn an_authority_that_says_nothing_for_hours_is_asked_by_way_of_the_due_index() {
    let mut world = World::start().await;
    for order in [
        json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 }),
        json!({ "service": "consultatrackids", "fault": "html" }),
    ] {
        world.authority.order(order).await;
    }
    let issued = world.issue("E310000000001").await;
    for _ in 0..12 {
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(
            (receipt.state, receipt.sending.attempts),
            (ReceiptState::Contingency, 1)
        );
        let next = receipt.next_action_at.expect("housekeeping must find it");
        world.advance(next.duration_since(world.now()).max(SignedDuration::ZERO));
        world.sweep().await;
    }
    world.authority.clear_faults().await;
    assert_eq!(world.run_until_quiet(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn where_nothing_can_be_looked_up_an_operator_decides() {
    let (encf, service) = CASES[0];
    let mut world = World::in_environment(Environment::CerteCF).await;
    let fault = json!({ "service": service, "fault": "lose_answer", "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue(encf).await;
    world.run().await;
    let receipt = world.receipt(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Submitted, "{encf}");
    assert_eq!(receipt.error_code.as_deref(), Some("outcome_unknown"));
    assert!(receipt.waits_for_a_person());
    assert!(receipt.error_message.unwrap().contains("an operator decides"));
    assert_eq!(receipt.sending.track_id, None);
    // Whatever still comes for it, nothing is sent.
    world.queue(&ecf_testkit::send_job(&issued));
    world.run().await;
    assert_eq!(world.authority.submissions(encf).await, 1);
    assert_eq!(world.events_of(&issued), 0);
}

#[tokio::test]
async fn c14_a_summary_whose_answer_was_lost_is_looked_up_in_certification() {
    for (fault, sends) in [("lose_answer", 1), ("maintenance", 2)] {
        let (encf, service) = CASES[1];
        let mut world = World::in_environment(Environment::CerteCF).await;
        let order = json!({ "service": service, "fault": fault, "times": 1 });
        world.authority.order(order).await;
        let issued = world.issue(encf).await;
        let receipt = world.run_until_quiet(&issued).await;
        assert_eq!(
            receipt.state,
            ReceiptState::Accepted,
            "{fault}: {:?}",
            receipt.error_code
        );
        // Sent again only after the authority said twice that it has no such number.
        assert_eq!(
            (receipt.sending.attempts, receipt.error_code.as_deref()),
            (sends, None),
            "{fault}"
        );
        assert_eq!(world.authority.submissions(encf).await, 1, "{fault}");
        assert_eq!(world.events_of(&issued), 1, "{fault}");
    }
}

#[tokio::test]
async fn a_worker_that_died_after_its_claim_is_followed_by_another_after_the_lease() {
    let mut world = World::start().await;
    let issued = world.stack.signed_receipt(&world.company, "E310000000001").await;
    let table = world.stack.table();
    let lease = SignedDuration::from_secs(90);
    let claim = table
        .claim_send(&issued.scope, &issued.public_id, world.now(), lease)
        .await
        .unwrap();
    assert!(matches!(claim, ecf_store::receipts::Claim::Claimed(_)), "{claim:?}");
    // Its message went with it: only the due index knows.
    let due = issued.next_action_at.unwrap();
    world.advance(due.duration_since(world.now()));
    world.sweep().await;
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Accepted, 2));
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn nothing_is_sent_while_somebody_holds_the_claim() {
    let mut world = World::start().await;
    let issued = world.issue("E310000000001").await;
    let lease = SignedDuration::from_secs(90);
    let table = world.stack.table();
    let claim = table
        .claim_send(&issued.scope, &issued.public_id, world.now(), lease)
        .await
        .unwrap();
    assert!(matches!(claim, ecf_store::receipts::Claim::Claimed(_)), "{claim:?}");
    let start = world.now();
    assert!(world.step().await);
    assert_eq!(world.authority.submissions("E310000000001").await, 0);
    assert!(world.step().await);
    assert!(world.now().duration_since(start) > lease);
    world.run().await;
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}
