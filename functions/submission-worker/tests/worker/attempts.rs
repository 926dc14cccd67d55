//! What an abandoned attempt of the certification left is not sent in the new one.

use ecf::{Environment, ReceiptState};
use ecf_store::receipts::{Claim, OUTCOME_UNKNOWN};
use jiff::SignedDuration;

use crate::world::World;

impl World {
    async fn begin_attempt(&self) {
        self.advance(SignedDuration::from_secs(1));
        let table = self.stack.table();
        table
            .begin_attempt(&self.company.scope, "reset", self.now())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn d1_a_receipt_of_an_earlier_attempt_is_not_sent_any_more() {
    let mut world = World::in_environment(Environment::CerteCF).await;
    let waiting = world.issue("E310000000001").await;
    world.begin_attempt().await;
    let again = world
        .stack
        .signed_successor(&world.company, "E310000000001", "again")
        .await;
    world.queue(&ecf_testkit::send_job(&again));
    world.run().await;
    let waiting = world.receipt(&waiting).await;
    assert_eq!(
        (waiting.state, waiting.error_code.as_deref(), waiting.sending.attempts),
        (ReceiptState::Failed, Some("attempt_abandoned"), 0)
    );
    let again = world.receipt(&again).await;
    assert_eq!(again.state, ReceiptState::Accepted);
    assert_eq!(again.predecessor, Some(waiting.public_id));
}

/// A worker had died after the authority took the receipt: "began before it was sent" was not true.
#[tokio::test]
async fn r9_a_receipt_whose_send_was_lost_before_the_new_attempt_is_not_called_unsent() {
    let mut world = World::in_environment(Environment::CerteCF).await;
    let lost = world.issue("E310000000001").await;
    let lease = SignedDuration::from_mins(1);
    let table = world.stack.table();
    let claim = table
        .claim_send(&world.company.scope, &lost.public_id, world.now(), lease)
        .await;
    assert!(
        matches!(claim.unwrap(), Claim::Claimed(_)),
        "the worker that dies has begun"
    );
    world.advance(lease * 2);
    world.begin_attempt().await;
    world.queue(&ecf_testkit::send_job(&lost));
    world.run().await;
    let lost = world.receipt(&lost).await;
    assert_eq!(
        (lost.state, lost.error_code.as_deref()),
        (ReceiptState::Submitted, Some(OUTCOME_UNKNOWN))
    );
}

#[tokio::test]
async fn d1_the_verdict_on_what_was_sent_before_still_comes_to_its_own_receipt() {
    let mut world = World::in_environment(Environment::CerteCF).await;
    let sent = world.issue("E310000000001").await;
    assert!(world.step().await);
    assert_eq!(world.receipt(&sent).await.state, ReceiptState::Submitted);
    world.begin_attempt().await;
    let again = world
        .stack
        .signed_successor(&world.company, "E310000000001", "again")
        .await;
    world.run().await;
    assert_eq!(world.receipt(&sent).await.state, ReceiptState::Accepted);
    let again = world.receipt(&again).await;
    assert_eq!((again.state, again.sending.track_id), (ReceiptState::Signed, None));
    assert_eq!(
        again.sending.earlier_track_ids,
        [world.receipt(&sent).await.sending.track_id.unwrap()]
    );
}
