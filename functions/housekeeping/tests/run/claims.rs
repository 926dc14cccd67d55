//! Concurrent runs, and runs with failures.

use std::collections::HashSet;

use ecf_store::{SubmissionJob, closing::DAY_SHARDS, due::SHARDS, numbers::RANGE_SHARDS};
use ecf_testkit::Fault;
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::{TEN_MINUTES, World};

/// Enough receipts for several shards.
const RECEIPTS: usize = 12;

async fn with_receipts() -> World {
    let world = World::start().await;
    for sequence in 1..=RECEIPTS {
        world.signed(&format!("E31{sequence:010}")).await;
    }
    world.advance(TEN_MINUTES);
    world
}

#[tokio::test]
async fn runs_that_meet_queue_each_receipt_once() {
    let world = with_receipts().await;
    let (one, two, three) = tokio::join!(run(&world.app), run(&world.app), run(&world.app));
    one.and(two).and(three).unwrap();
    assert_eq!(world.submissions().await.len(), RECEIPTS);
}

#[tokio::test]
async fn a_receipt_that_was_queued_is_left_alone_for_ten_minutes() {
    let world = with_receipts().await;
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await.len(), RECEIPTS);
    world.advance(TEN_MINUTES - SignedDuration::from_secs(1));
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await, []);
    world.advance(SignedDuration::from_secs(1));
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await.len(), RECEIPTS);
}

#[tokio::test]
async fn a_shard_that_fails_does_not_keep_the_others_from_their_turn() {
    let world = with_receipts().await;
    world.stack.calls().inject("Query", 1, Fault::NotSent);
    run(&world.app).await.unwrap_err();
    let queued = world.submissions().await.len();
    assert!(queued > 0);
    let of_the_condition = 3;
    let of_contingencies = 3;
    // The receipts were never sent, so the ranges of their type are read once.
    let of_the_ranges = 1;
    let of_the_index = usize::from(SHARDS + RANGE_SHARDS + DAY_SHARDS);
    let queries = of_the_index + of_the_condition + of_contingencies + of_the_ranges;
    assert_eq!(world.stack.calls().count("Query"), queries);
    // The failing shard is processed a minute later.
    world.advance(SignedDuration::from_mins(1));
    run(&world.app).await.unwrap();
    assert_eq!(queued + world.submissions().await.len(), RECEIPTS);
}

#[tokio::test]
async fn a_receipt_that_fails_does_not_keep_the_others_of_its_shard_from_their_turn() {
    for operation in ["GetItem", "UpdateItem", "SendMessage"] {
        for fault in [Fault::NotSent, Fault::AnswerLost] {
            let world = with_receipts().await;
            world.stack.calls().inject(operation, 1, fault);
            run(&world.app).await.unwrap_err();
            assert_eq!(world.stack.calls().faults_to_come(), 0);
            let jobs = world.submissions().await;
            assert!(jobs.len() >= RECEIPTS - 1, "{operation} {fault:?}: {jobs:?}");
            let mut queued: HashSet<_> = jobs.iter().map(SubmissionJob::receipt).collect();
            // Nothing is lost: an entry that could not be read is processed in the next run, a claimed one within the
            // hour.
            world.advance(match operation {
                "GetItem" => SignedDuration::from_mins(1),
                _ => SignedDuration::from_hours(1),
            });
            run(&world.app).await.unwrap();
            queued.extend(world.submissions().await.iter().map(SubmissionJob::receipt));
            assert_eq!(queued.len(), RECEIPTS, "{operation} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_record_that_cannot_be_read_does_not_stand_first_in_line_for_ever() {
    let world = with_receipts().await;
    let broken = world.signed("E310000000099").await;
    world.advance(TEN_MINUTES);
    world.stack.spoil_receipt(&broken).await;
    run(&world.app).await.unwrap_err();
    assert_eq!(world.submissions().await.len(), RECEIPTS);
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await.len(), RECEIPTS);
}
