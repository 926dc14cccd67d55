//! Jobs that come twice, and workers that come together.

use ecf::ReceiptState;
use ecf_runtime::{Message, Outcome};
use ecf_store::{ReceiptJob, SubmissionJob};
use ecf_testkit::send_job;
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

fn message() -> Message {
    Message {
        message_id: "m".to_owned(),
        receive_count: 1,
    }
}

#[tokio::test]
async fn a_job_that_comes_twice_makes_one_submission() {
    for encf in ["E310000000001", "E320000000001"] {
        let mut world = World::start().await;
        let issued = world.issue(encf).await;
        world.queue(&send_job(&issued));
        world.run().await;
        world.queue(&send_job(&issued));
        world.run().await;
        assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
        assert_eq!(world.authority.submissions(encf).await, 1);
        assert_eq!(world.events_of(&issued), 1);
    }
}

#[tokio::test]
async fn workers_that_come_together_make_one_submission() {
    for encf in ["E310000000001", "E320000000001"] {
        let world = World::start().await;
        let issued = world.stack.signed_receipt(&world.company, encf).await;
        let (one, two, three) = (world.another_worker(), world.another_worker(), world.another_worker());
        let outcomes = tokio::join!(
            submission_worker::handle(&one, send_job(&issued), message()),
            submission_worker::handle(&two, send_job(&issued), message()),
            submission_worker::handle(&three, send_job(&issued), message()),
        );
        assert_eq!(world.authority.submissions(encf).await, 1);
        // Nobody gives up what another may not bring to its end.
        for outcome in [outcomes.0, outcomes.1, outcomes.2] {
            assert!(!matches!(outcome, Outcome::GiveUp { .. }), "{outcome:?}");
        }
        world.stack.leave_messages();
    }
}

#[tokio::test]
async fn a_verdict_that_two_workers_bring_is_recorded_and_told_once() {
    let mut world = World::start().await;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    world.lose_messages();
    world.advance(SignedDuration::from_secs(2));
    let poll = SubmissionJob::Poll(issued.job());
    // Both have read the receipt without a verdict: the second one's question takes longer.
    world
        .authority
        .order(json!({ "service": "consultaresultado", "fault": "delay", "delay_ms": 1500, "times": 1 }))
        .await;
    let (slow, quick) = (world.another_worker(), world.another_worker());
    // The second worker writes at another time: the same time would make it the same write.
    let ask = async |worker| {
        let outcome = submission_worker::handle(worker, poll.clone(), message()).await;
        world.advance(SignedDuration::from_secs(1));
        outcome
    };
    let outcomes = tokio::join!(ask(&slow), ask(&quick));
    assert_eq!(outcomes, (Outcome::Done, Outcome::Done));
    assert_eq!(world.authority.answers("consultaresultado", 200).await, 2);
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.events_of(&issued), 1);
}

#[tokio::test]
async fn a_job_of_another_scope_finds_nothing() {
    let mut world = World::start().await;
    let issued = world.stack.signed_receipt(&world.company, "E310000000001").await;
    let other = world
        .stack
        .company_builder()
        .rnc("131880681")
        .without_ranges()
        .build()
        .await;
    let job = SubmissionJob::Send(ReceiptJob {
        scope: other.scope,
        ..issued.job()
    });
    let outcome = submission_worker::handle(&world.app, job, message()).await;
    assert!(matches!(outcome, Outcome::GiveUp { .. }), "{outcome:?}");
    assert_eq!(world.receipt(&issued).await, issued);
    world.run().await;
}
