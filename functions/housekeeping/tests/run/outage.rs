//! The authority is out of reach: no job is enqueued for it, and an alarm is raised in time.

use ecf::ReceiptState;
use ecf_store::{SubmissionJob, breaker::Host};
use ecf_testkit::send_job;
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::{TEN_MINUTES, World};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

#[tokio::test]
async fn what_is_due_while_the_authority_is_away_is_held_and_not_queued() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    let submitted = world.submitted("E310000000002").await;
    let summary = world.signed("E320000000001").await;
    world.advance(TEN_MINUTES);
    world.open_breaker(Host::Ecf).await;
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await, [send_job(&summary)], "its host is there");
    let held = world.receipt(&signed).await;
    assert_eq!(held.state, ReceiptState::Contingency);
    let submitted = world.receipt(&submitted).await;
    assert_eq!(submitted.state, ReceiptState::Submitted);
    for receipt in [held, submitted] {
        let wait = receipt.next_action_at.unwrap().duration_since(world.now());
        assert!(
            (TEN_MINUTES..TEN_MINUTES + SignedDuration::from_mins(2)).contains(&wait),
            "{wait}"
        );
    }
}

#[tokio::test]
async fn one_of_many_goes_on_to_find_out_whether_the_authority_is_back() {
    let world = World::start().await;
    for sequence in 1..=12 {
        world.signed(&format!("E31{sequence:010}")).await;
    }
    world.open_breaker(Host::Ecf).await;
    world.advance(TEN_MINUTES);
    for _ in 0..2 {
        run(&world.app).await.unwrap();
        let jobs = world.submissions().await;
        assert!(matches!(jobs.as_slice(), [SubmissionJob::Send(_)]), "{jobs:?}");
        // The receipts that wait for the probe are not due again before it had its time.
        run(&world.app).await.unwrap();
        assert_eq!(world.submissions().await, []);
        world.advance(SignedDuration::from_mins(3));
    }
}

#[tokio::test]
async fn a_receipt_that_is_not_delivered_raises_an_alarm_at_each_hour_of_the_list() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    world.submitted("E310000000002").await;
    let mut told = Vec::new();
    for hour in 1..=75 {
        world.advance(HOUR);
        run(&world.app).await.unwrap();
        told.push((hour, world.receipt(&signed).await.alarms.delivery_hours));
    }
    told.dedup_by_key(|(_, hours)| *hours);
    assert_eq!(told, [(1, None), (48, Some(48)), (60, Some(60)), (70, Some(70))]);
    world.stack.leave_messages();
}

#[tokio::test]
async fn a_receipt_that_the_authority_has_raises_no_alarm() {
    let world = World::start().await;
    let submitted = world.submitted("E310000000001").await;
    let accepted = world.accepted("E310000000002").await;
    world.advance(HOUR * 50);
    run(&world.app).await.unwrap();
    for receipt in [submitted, accepted] {
        assert_eq!(world.receipt(&receipt).await.alarms.delivery_hours, None);
    }
    world.stack.leave_messages();
}
