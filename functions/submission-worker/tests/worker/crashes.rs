//! Promise 1: a failure or a crash at any call leads to one accepted submission, and its event is delivered.

use ecf::ReceiptState;
use ecf_testkit::Fault;
use jiff::SignedDuration;

use crate::world::World;

/// Fewer calls than the shortest way has.
const AT_LEAST: u32 = 8;
/// More than the longest has.
const AT_MOST: u32 = 40;

/// Lets the first call meet the fault, then the second of the next receipt, and so on to the last.
async fn every_call_meets(fault: Fault, ecf_type: &str) {
    let mut world = World::start().await;
    for nth in 1..=AT_MOST {
        // A process that remembers nothing, and no token that is still good: the whole way.
        world.advance(SignedDuration::from_hours(2));
        world.restart_worker();
        let encf = format!("E{ecf_type}{nth:010}");
        let issued = world.issue(&encf).await;
        world.stack.calls().inject("*", nth, fault);
        let receipt = world.run_until_quiet(&issued).await;
        let is_behind_the_end = world.stack.calls().faults_to_come() > 0;
        assert_eq!(
            receipt.state,
            ReceiptState::Accepted,
            "{fault:?} at call {nth} of {encf}"
        );
        let documents = world.authority.documents(&encf).await;
        assert_eq!(documents.len(), 1, "{fault:?} at call {nth} of {encf}");
        assert_eq!(documents[0]["times"], 1, "{fault:?} at call {nth} of {encf}");
        assert!(world.events_of(&issued) >= 1, "{fault:?} at call {nth} of {encf}");
        if is_behind_the_end {
            assert!(nth > AT_LEAST, "only {nth} calls met {fault:?}");
            assert_eq!(world.events_of(&issued), 1, "nothing went wrong with {encf}");
            return;
        }
    }
    panic!("the way of a receipt has more than {AT_MOST} calls");
}

#[tokio::test]
async fn a_receipt_survives_a_request_that_is_lost_at_any_call() {
    every_call_meets(Fault::NotSent, "31").await;
    every_call_meets(Fault::NotSent, "32").await;
}

#[tokio::test]
async fn a_receipt_survives_an_answer_that_is_lost_at_any_call() {
    every_call_meets(Fault::AnswerLost, "31").await;
    every_call_meets(Fault::AnswerLost, "32").await;
}

#[tokio::test]
async fn a_receipt_survives_a_worker_that_dies_before_any_call() {
    every_call_meets(Fault::DiesBefore, "31").await;
    every_call_meets(Fault::DiesBefore, "32").await;
}

#[tokio::test]
async fn a_receipt_survives_a_worker_that_dies_after_any_call() {
    every_call_meets(Fault::DiesAfter, "31").await;
    every_call_meets(Fault::DiesAfter, "32").await;
}
