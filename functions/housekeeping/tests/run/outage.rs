//! The authority is out of reach: no job is enqueued for it, and an alarm is raised in time.

use ecf::ReceiptState;
use ecf_store::{
    SubmissionJob,
    breaker::Host,
    receipts::{Failure, Recorded},
};
use ecf_testkit::{Fault, send_job};
use housekeeping::run;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::world::{TEN_MINUTES, World};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// An instant as events have it.
fn without_offset(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

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
        assert_eq!(receipt.next_action_at, Some(world.now() + MINUTE), "the next probe");
    }
    assert_eq!(world.announced().await.len(), 1);
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
    assert_eq!(world.announced().await.len(), 1);
}

#[tokio::test]
async fn p14_what_is_held_leaves_within_a_minute_of_the_first_success() {
    let world = World::start().await;
    for sequence in 1..=12 {
        world.signed(&format!("E31{sequence:010}")).await;
    }
    world.open_breaker(Host::Ecf).await;
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await.len(), 1, "the probe");
    world.close_breaker(Host::Ecf).await;
    world.advance(MINUTE);
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await.len(), 11);
    world.stack.leave_messages();
}

#[tokio::test]
async fn p14_an_outage_begins_and_ends_with_one_event_whatever_dies_on_the_way() {
    for dies_in in ["", "PutItem", "SendMessage", "DeleteItem", "GetItem"] {
        let world = World::start().await;
        for sequence in 1..=3 {
            world.signed(&format!("E31{sequence:010}")).await;
        }
        world.advance(TEN_MINUTES);
        let since = world.now();
        world.open_breaker(Host::Ecf).await;
        let mut told = Vec::new();
        for minute in 0..20 {
            if minute == 4 {
                world.close_breaker(Host::Ecf).await;
            }
            // Receipts are read while they are held, and the record is removed at the end.
            let is_called = match dies_in {
                "GetItem" => minute == 0,
                "DeleteItem" => minute == 4,
                _ => [0, 4].contains(&minute),
            };
            if !dies_in.is_empty() && is_called {
                world.stack.calls().inject(dies_in, 1, Fault::NotSent);
            }
            let _ = run(&world.app).await;
            for body in world.announced().await {
                assert_eq!(body["reason"], "unreachable", "{body}");
                assert_eq!(body["since"], without_offset(since), "{body}");
                told.push((body["event"].as_str().unwrap().to_owned(), body["ended_at"].clone()));
            }
            world.submissions().await;
            world.advance(MINUTE);
        }
        told.dedup();
        let [(started, no_end), (ended, ended_at)] = told.as_slice() else {
            panic!("{dies_in}: {told:?}")
        };
        assert_eq!(
            (started.as_str(), ended.as_str()),
            ("contingency.started", "contingency.ended")
        );
        assert!(no_end.is_null() && ended_at.is_string(), "{told:?}");
        assert_eq!(
            world.stack.table().contingency(&world.company.scope).await.unwrap(),
            None
        );
        world.stack.leave_messages();
    }
}

#[tokio::test]
async fn p14_a_company_without_held_receipts_gets_no_event() {
    let world = World::start().await;
    world.submitted("E310000000001").await;
    world.signed("E320000000001").await;
    world.advance(TEN_MINUTES);
    world.open_breaker(Host::Ecf).await;
    run(&world.app).await.unwrap();
    assert_eq!(world.announced().await, [json!(null); 0]);
    world.stack.leave_messages();
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
async fn p2_a_delivery_alarm_is_told_once_for_each_hour_whatever_dies_on_the_way() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    world.advance(HOUR * 48);
    world.stack.calls().inject("UpdateItem", 1, Fault::NotSent);
    let mut told = Vec::new();
    for wait in [1, 12, 1] {
        let _ = run(&world.app).await;
        for body in world.announced().await {
            assert_eq!(body["event"], "delivery.alarm");
            assert_eq!(body["receipt_id"], signed.public_id.to_string());
            told.push(body["hours"].as_u64().unwrap());
        }
        world.advance(HOUR * wait);
    }
    assert_eq!(told, [48, 60]);
    world.stack.leave_messages();
}

#[tokio::test]
async fn p2_a_receipt_that_failed_is_told_within_a_minute_and_again_when_it_fails_again() {
    let world = World::start().await;
    let failed = world.failed("E310000000001").await;
    world.advance(SignedDuration::from_mins(1));
    run(&world.app).await.unwrap();
    let told = world.announced().await;
    let [event] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(
        (
            &event["event"],
            &event["receipt_id"],
            &event["encf"],
            &event["error_code"],
            &event["error_message"]
        ),
        (
            &json!("failed"),
            &json!(failed.public_id.to_string()),
            &json!("E310000000001"),
            &json!("refused"),
            &json!("no")
        )
    );
    // Later looks say nothing new.
    for _ in 0..30 {
        world.advance(HOUR);
        run(&world.app).await.unwrap();
    }
    assert_eq!(world.announced().await, [json!(null); 0]);

    let (table, now) = (world.stack.table(), world.now());
    let Recorded::Now(retried) = table.retry_failed(&failed.scope, &failed, now).await.unwrap() else {
        panic!("it is failed")
    };
    let failure = Failure {
        code: "refused",
        message: "again",
        taxauth_response: None,
    };
    world.advance(HOUR);
    table
        .record_failed(&failed.scope, &retried, failure, world.now())
        .await
        .unwrap();
    run(&world.app).await.unwrap();
    let again: Vec<_> = world.announced().await;
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0]["error_message"], "again");
    assert_ne!(again[0]["public_id"], event["public_id"]);
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
