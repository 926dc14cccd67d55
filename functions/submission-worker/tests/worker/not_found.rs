//! A track id that the authority does not find any more.

use ecf::{Environment, ReceiptState};
use ecf_store::{
    Receipt,
    receipts::{LOOKUP_SPACING, NOT_FOUND_WINDOW, Recorded},
};
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

const ENCF: &str = "E310000000001";

impl World {
    /// The authority answers the next send with a track id and keeps nothing.
    async fn forget(&self, times: u32) {
        let order = json!({ "service": "recepcion", "fault": "forget", "times": times });
        self.authority.order(order).await;
    }

    /// A receipt whose track id the authority does not find, after the hours that it has.
    async fn forgotten(&mut self) -> Receipt {
        self.forget(1).await;
        let issued = self.issue(ENCF).await;
        self.run().await;
        let submitted = self.receipt(&issued).await;
        assert_eq!(submitted.state, ReceiptState::Submitted);
        self.advance(NOT_FOUND_WINDOW);
        issued
    }
}

#[tokio::test]
async fn r1_a_document_that_is_not_found_for_hours_is_looked_up_twice_and_sent_again() {
    let mut world = World::start().await;
    world.forget(1).await;
    let issued = world.issue(ENCF).await;
    world.run().await;
    let first = world.receipt(&issued).await;
    let submitted_at = first.sending.submitted_at.unwrap();
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Accepted);
    assert_eq!((receipt.sending.attempts, receipt.sending.has_lost_send), (2, true));
    assert_eq!(receipt.sending.lost_track_ids, [first.sending.track_id.unwrap()]);
    assert_eq!(receipt.fiscal.signed, issued.fiscal.signed, "the same bytes");
    assert_eq!(world.authority.submissions(ENCF).await, 1, "the first was not kept");
    assert_eq!(world.authority.answers("consultatrackids", 200).await, 2);
    assert!(receipt.sending.started_at.unwrap() >= submitted_at + NOT_FOUND_WINDOW + LOOKUP_SPACING);
    assert_eq!(world.events_of(&issued), 1);
}

#[tokio::test]
async fn r1_nothing_is_looked_up_before_the_hours_have_passed() {
    let mut world = World::start().await;
    world.forget(1).await;
    let issued = world.issue(ENCF).await;
    world.run().await;
    world.advance(NOT_FOUND_WINDOW - SignedDuration::from_mins(30));
    world.sweep().await;
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Submitted);
    assert_eq!(world.authority.answers("consultatrackids", 200).await, 0);
}

#[tokio::test]
async fn r1_a_document_that_is_found_by_another_track_id_is_taken() {
    let mut world = World::start().await;
    let issued = world.issue(ENCF).await;
    assert!(world.step().await);
    world.lose_messages();
    // The authority has it, and our record names an id that it does not know.
    let sent = world.receipt(&issued).await;
    let table = world.stack.table();
    let recorded = table
        .replace_track(&sent.scope, &sent, "a-track-id-of-no-document", world.now())
        .await;
    assert!(matches!(recorded, Ok(Recorded::Now(_))));
    world.advance(NOT_FOUND_WINDOW);
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Accepted, 1));
    assert_eq!(receipt.sending.track_id, sent.sending.track_id);
    assert_eq!(world.authority.submissions(ENCF).await, 1);
}

#[tokio::test]
async fn r1_a_document_that_is_listed_under_its_number_is_not_sent_again() {
    let mut world = World::start().await;
    let order = json!({
        "service": "consultaresultado", "fault": "status", "status": 200, "body": "{\"codigo\":0,\"estado\":\"No encontrado\"}",
    });
    world.authority.order(order).await;
    let issued = world.issue(ENCF).await;
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Submitted);
    world.advance(NOT_FOUND_WINDOW);
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Accepted, 1));
    assert_eq!(world.authority.submissions(ENCF).await, 1);
}

#[tokio::test]
async fn r1_one_look_up_that_found_nothing_counts_no_more_once_the_document_is_there() {
    let mut world = World::start().await;
    let issued = world.forgotten().await;
    world.sweep().await;
    assert!(world.step().await);
    assert_eq!(world.receipt(&issued).await.sending.lookup_negatives, 1);
    let order = json!({
        "service": "consultaresultado", "fault": "status", "status": 200, "body": "{\"codigo\":3,\"estado\":\"En Proceso\"}", "times": 1,
    });
    world.authority.order(order).await;
    assert!(world.step().await);
    let receipt = world.receipt(&issued).await;
    assert_eq!(
        (receipt.state, receipt.sending.lookup_negatives),
        (ReceiptState::Submitted, 0)
    );
    assert_eq!(world.run_until_quiet(&issued).await.state, ReceiptState::Accepted);
}

#[tokio::test]
async fn r1_other_bytes_under_the_number_end_in_the_verdict_of_the_authority() {
    let mut world = World::start().await;
    let ours = std::mem::replace(
        &mut world.company,
        world.stack.company_builder().without_ranges().build().await,
    );
    let foreign = world.issue(ENCF).await;
    world.run().await;
    assert_eq!(world.receipt(&foreign).await.state, ReceiptState::Accepted);
    world.company = ours;
    world.advance(SignedDuration::from_mins(5));
    let issued = world.forgotten().await;
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Rejected);
    assert_eq!(receipt.error_code.as_deref(), Some("1209"));
    assert_eq!(receipt.secuencia_utilizada, Some(true), "the number is in use");
}

#[tokio::test]
async fn r1_a_first_copy_that_turns_up_after_the_second_send_is_a_success() {
    let mut world = World::start().await;
    for order in [
        json!({ "service": "consultaresultado", "fault": "status", "status": 200, "times": 40, "body": "{\"codigo\":0,\"estado\":\"No encontrado\"}" }),
        json!({ "service": "consultatrackids", "fault": "status", "status": 200, "body": "[]", "times": 2 }),
    ] {
        world.authority.order(order).await;
    }
    let issued = world.issue(ENCF).await;
    world.run().await;
    let first = world.receipt(&issued).await.sending.track_id.unwrap();
    world.advance(NOT_FOUND_WINDOW);
    let mut receipt = world.receipt(&issued).await;
    while receipt.sending.attempts < 2 {
        world.sweep().await;
        world.run().await;
        world.advance(SignedDuration::from_mins(10));
        receipt = world.receipt(&issued).await;
    }
    world.authority.clear_faults().await;
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Accepted);
    assert_eq!(receipt.sending.track_id.as_deref(), Some(first.as_str()));
    assert_eq!(world.authority.submissions(ENCF).await, 2);
    assert_eq!(world.authority.documents(ENCF).await.len(), 1, "the same bytes");
}

#[tokio::test]
async fn r1_where_nothing_can_be_looked_up_nothing_is_sent_again() {
    let mut world = World::in_environment(Environment::CerteCF).await;
    let issued = world.forgotten().await;
    for _ in 0..6 {
        world.advance(SignedDuration::from_hours(12));
        world.sweep().await;
        world.run().await;
    }
    let receipt = world.receipt(&issued).await;
    assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Submitted, 1));
    assert!(receipt.next_action_at.is_some(), "it is still asked for");
    assert_eq!(world.authority.submissions(ENCF).await, 0);
}
