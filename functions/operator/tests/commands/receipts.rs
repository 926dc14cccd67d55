//! Receipts that need an operator.

use ecf::ReceiptState;
use ecf_store::{
    Receipt, SubmissionJob,
    receipts::{Claim, Failure, NOT_FOUND_WINDOW, Recorded},
};
use ecf_testkit::{Queue, send_job};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{World, refusal};

const LEASE: SignedDuration = SignedDuration::from_secs(90);

impl World {
    async fn run_on(&self, receipt: &Receipt, command: &str) -> Value {
        self.run_here(command, json!({ "receipt": receipt.public_id })).await
    }

    async fn resolve(&self, receipt: &Receipt, outcome: Value) -> Value {
        let arguments = json!({ "receipt": receipt.public_id, "outcome": outcome });
        self.run_here("resolve_outcome", arguments).await
    }

    async fn submissions(&self) -> Vec<SubmissionJob> {
        let bodies = self.stack.take_messages(Queue::SubmissionTesteCF).await;
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }

    /// A receipt whose send was lost, in an environment without a look-up.
    async fn of_unknown_outcome(&self, encf: &str) -> Receipt {
        let receipt = self.signed(encf).await;
        let (table, now) = (self.table(), self.stack.clock().now());
        let (scope, id) = (receipt.scope, receipt.public_id);
        let claim = table.claim_send(&scope, &id, now, LEASE).await.unwrap();
        assert!(matches!(claim, Claim::Claimed(_)));
        let recorded = table.record_outcome_unknown(&scope, &id, 1, "lost", now).await;
        written(recorded.unwrap())
    }

    async fn failed(&self, encf: &str) -> Receipt {
        let receipt = self.signed(encf).await;
        let failure = Failure {
            code: "certificate_missing",
            message: "no certificate",
            taxauth_response: None,
        };
        let now = self.stack.clock().now();
        let recorded = self.table().record_failed(&receipt.scope, &receipt, failure, now).await;
        written(recorded.unwrap())
    }
}

fn written(recorded: Recorded) -> Receipt {
    match recorded {
        Recorded::Now(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_receipt_is_queued_again_by_its_state() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    let answer = world.run_on(&signed, "requeue_receipt").await;
    assert_eq!(
        (&answer["queued"], &answer["receipt"]["status"]),
        (&json!("send"), &json!("signed"))
    );
    assert_eq!(world.submissions().await, [send_job(&signed)]);
    let failed = world.failed("E310000000002").await;
    let answer = world.run_on(&failed, "requeue_receipt").await;
    assert_eq!(
        answer["error"]["message"],
        "the receipt is failed and has no next step: use retry_failed"
    );
    let unknown = json!({ "receipt": "0123456789abcdefghjkmnpqrstvwxyz" });
    assert_eq!(refusal(&world.run_here("show_receipt", unknown).await), "not_found");
}

#[tokio::test]
async fn a_failed_receipt_goes_back_on_its_way_once() {
    let world = World::start().await;
    let failed = world.failed("E310000000001").await;
    let answer = world.run_on(&failed, "retry_failed").await;
    assert_eq!(answer["queued"], "send", "{answer}");
    let retried = world.record(&failed).await;
    assert_eq!(
        (retried.state, retried.error_code.as_deref()),
        (ReceiptState::Signed, None)
    );
    assert_eq!(
        retried.next_action_at,
        Some(world.stack.clock().now()),
        "housekeeping looks after it again"
    );
    assert_eq!(world.submissions().await, [send_job(&failed)]);
    assert_eq!(refusal(&world.run_on(&failed, "retry_failed").await), "not_failed");
}

#[tokio::test]
async fn a_lost_send_that_did_not_arrive_is_sent_again() {
    let world = World::start().await;
    let lost = world.of_unknown_outcome("E310000000001").await;
    let answer = world.resolve(&lost, json!("not_arrived")).await;
    assert_eq!(
        (&answer["queued"], &answer["receipt"]["status"]),
        (&json!("send"), &json!("signed"))
    );
    assert_eq!(world.submissions().await.len(), 1);
    let now = world.stack.clock().now();
    let claim = world.table().claim_send(&lost.scope, &lost.public_id, now, LEASE).await;
    assert!(matches!(claim.unwrap(), Claim::Claimed(receipt) if receipt.sending.attempts == 2));
    assert_eq!(
        refusal(&world.resolve(&lost, json!("accepted")).await),
        "too_early",
        "a worker holds it"
    );
}

#[tokio::test]
async fn a_lost_send_that_arrived_is_asked_for_by_its_track_id() {
    let world = World::start().await;
    let lost = world.of_unknown_outcome("E310000000001").await;
    assert!(lost.waits_for_a_person());
    let answer = world.resolve(&lost, json!({ "track_id": "track-1" })).await;
    assert_eq!(answer["queued"], "poll", "{answer}");
    let known = world.record(&lost).await;
    assert_eq!(
        (known.sending.track_id.as_deref(), known.error_code),
        (Some("track-1"), None)
    );
    assert!(known.next_action_at.is_some());
    assert!(matches!(world.submissions().await.as_slice(), [SubmissionJob::Poll(_)]));
}

/// A rejected receipt does not go to its buyer.
fn steps_after(verdict: ReceiptState) -> &'static str {
    if verdict == ReceiptState::Accepted {
        "deliver, event"
    } else {
        "event"
    }
}

#[tokio::test]
async fn a_verdict_that_was_looked_up_is_recorded_and_told() {
    let world = World::start().await;
    for (encf, outcome, state) in [
        ("E310000000001", json!("accepted"), ReceiptState::Accepted),
        (
            "E310000000002",
            json!({ "rejected": { "secuencia_utilizada": false } }),
            ReceiptState::Rejected,
        ),
    ] {
        let lost = world.of_unknown_outcome(encf).await;
        let answer = world.resolve(&lost, outcome).await;
        assert_eq!(answer["queued"], steps_after(state), "{answer}");
        let judged = world.record(&lost).await;
        assert_eq!(judged.state, state);
        assert_eq!(
            judged.secuencia_utilizada,
            (state == ReceiptState::Rejected).then_some(false)
        );
        assert_eq!(world.stack.take_messages(Queue::Webhook).await.len(), 1);
        let deliveries = world.stack.take_messages(Queue::Exchange).await.len();
        assert_eq!(deliveries, usize::from(state == ReceiptState::Accepted));
    }
}

impl World {
    /// A receipt with a track id and without a verdict, hours after its send.
    async fn submitted(&self, encf: &str) -> Receipt {
        let receipt = self.signed(encf).await;
        let (table, now) = (self.table(), self.stack.clock().now());
        let (scope, id) = (receipt.scope, receipt.public_id);
        table.claim_send(&scope, &id, now, LEASE).await.unwrap();
        written(table.record_submitted(&scope, &id, encf, now).await.unwrap())
    }
}

#[tokio::test]
async fn r1_a_submitted_receipt_without_a_verdict_is_decided_after_its_hours() {
    let world = World::start().await;
    let verdicts = [
        ("E310000000001", json!("accepted"), ReceiptState::Accepted),
        ("E310000000002", json!({ "rejected": {} }), ReceiptState::Rejected),
    ];
    for (encf, outcome, state) in verdicts {
        let submitted = world.submitted(encf).await;
        assert_eq!(refusal(&world.resolve(&submitted, outcome.clone()).await), "too_early");
        world.stack.clock().advance(NOT_FOUND_WINDOW);
        let answer = world.resolve(&submitted, outcome).await;
        assert_eq!(answer["queued"], steps_after(state), "{answer}");
        let judged = world.record(&submitted).await;
        assert_eq!(judged.state, state);
        let decision = judged.operator_decision.unwrap();
        assert!(decision.contains("resolve_outcome"), "{decision}");
    }
    world.stack.leave_messages();
}

#[tokio::test]
async fn r1_no_decision_frees_the_number_of_a_document_that_may_still_be_judged() {
    let world = World::start().await;
    let submitted = world.submitted("E310000000001").await;
    world.stack.clock().advance(NOT_FOUND_WINDOW);
    let free = json!({ "rejected": { "secuencia_utilizada": false } });
    assert_eq!(refusal(&world.resolve(&submitted, free).await), "number_may_be_used");
    assert_eq!(
        refusal(&world.resolve(&submitted, json!("not_arrived")).await),
        "not_looked_up"
    );
    let unchanged = world.record(&submitted).await;
    assert_eq!(unchanged, submitted);
}

#[tokio::test]
async fn r1_a_submitted_receipt_that_was_never_received_is_sent_again() {
    let world = World::start().await;
    let submitted = world.submitted("E310000000001").await;
    world.stack.clock().advance(NOT_FOUND_WINDOW);
    let (table, now) = (world.table(), world.stack.clock().now());
    let looked_up = table.record_not_found(&submitted.scope, &submitted, now).await;
    let looked_up = written(looked_up.unwrap());
    let answer = world.resolve(&looked_up, json!("not_arrived")).await;
    assert_eq!(
        (&answer["queued"], &answer["receipt"]["status"]),
        (&json!("send"), &json!("signed"))
    );
    let returned = world.record(&submitted).await;
    assert_eq!(
        (returned.sending.track_id, returned.sending.lost_track_ids.len()),
        (None, 1)
    );
    let claim = table
        .claim_resend(&submitted.scope, &submitted.public_id, now, LEASE)
        .await;
    assert!(matches!(claim.unwrap(), Claim::Claimed(receipt) if receipt.sending.attempts == 2));
    world.stack.leave_messages();
}

#[tokio::test]
async fn r1_a_lost_send_whose_look_ups_say_nothing_is_decided_after_its_hours() {
    let world = World::start().await;
    let receipt = world.signed("E310000000001").await;
    let (table, now) = (world.table(), world.stack.clock().now());
    let (scope, id) = (receipt.scope, receipt.public_id);
    table.claim_send(&scope, &id, now, LEASE).await.unwrap();
    assert_eq!(
        refusal(&world.resolve(&receipt, json!("accepted")).await),
        "too_early",
        "a worker holds it"
    );
    world.stack.clock().advance(NOT_FOUND_WINDOW);
    let answer = world.resolve(&receipt, json!("accepted")).await;
    assert_eq!(answer["receipt"]["status"], "accepted", "{answer}");
    world.stack.leave_messages();
}
