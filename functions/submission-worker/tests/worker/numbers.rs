//! Numbers that a rejection left free: given back to their range, and sent again for another receipt.

use ecf::{Environment, ReceiptState, ReceiptType};
use ecf_store::{
    numbers::{DueNumbers, NewRange, Numbering, RANGE_SHARDS, Range, RangeId},
    receipts::OutboxEntry,
};
use ecf_testkit::{Fault, send_job};
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

const NUMBER: &str = "E310000000001";
const RANGE: RangeId = RangeId {
    ecf_type: ReceiptType::E31,
    start: 1,
};

impl World {
    /// A company whose range has given its first number.
    async fn numbered_by_service(environment: Environment) -> Self {
        let world = Self::in_environment(environment).await;
        let (table, scope, now) = (world.stack.table(), &world.company.scope, world.now());
        let valid_until = "31-12-2028".parse().unwrap();
        let new = NewRange {
            ecf_type: RANGE.ecf_type,
            start: RANGE.start,
            end: 100,
            valid_until: Some(valid_until),
            numbering: Some(Numbering::Service),
            created_at: now,
        };
        table.open_range(scope, new).await.unwrap();
        let today = ecf::Fecha::at(now);
        table.take_next_number(scope, RANGE.ecf_type, today, now).await.unwrap();
        world
    }

    async fn range(&self) -> Range {
        let found = self.stack.table().range(&self.company.scope, RANGE).await;
        found.unwrap().unwrap()
    }

    async fn reject_and_leave_the_number(&self) {
        let fault = json!({
            "service": "recepcion", "fault": "reject", "codigo": "145", "mensaje": "No corresponde.",
            "secuenciaUtilizada": false, "times": 1,
        });
        self.authority.order(fault).await;
    }
}

#[tokio::test]
async fn a_number_that_a_rejection_left_free_goes_back_to_its_range() {
    let mut world = World::numbered_by_service(Environment::TesteCF).await;
    world.reject_and_leave_the_number().await;
    let issued = world.issue(NUMBER).await;
    world.run().await;
    let rejected = world.receipt(&issued).await;
    assert_eq!(
        (rejected.state, rejected.secuencia_utilizada),
        (ReceiptState::Rejected, Some(false))
    );
    assert_eq!(world.range().await.free, [1]);
    assert_eq!(
        rejected.outbox,
        [OutboxEntry::Webhook],
        "only the event is still to be told"
    );
}

/// It has its receipt's lock to be known by; a number whose request died has its place on the list alone.
#[tokio::test]
async fn numbers_left_free_keep_off_the_half_of_the_list_that_dead_requests_need() {
    let mut world = World::numbered_by_service(Environment::TesteCF).await;
    world.reject_and_leave_the_number().await;
    let issued = world.issue(NUMBER).await;
    let (table, scope, now) = (world.stack.table(), world.company.scope, world.now());
    for _ in 0..50 {
        let taken = table.take_next_number(&scope, RANGE.ecf_type, ecf::Fecha::at(now), now);
        taken.await.unwrap();
    }
    let long_after = now + SignedDuration::from_hours(1);
    for shard in 0..RANGE_SHARDS {
        for due in table.due_numbers(shard, long_after, 10).await.unwrap() {
            if let DueNumbers::Range(entry) = due
                && entry.id == RANGE
            {
                let dead_after = SignedDuration::from_mins(3);
                let freed = table.free_dead_numbers(&entry, world.range().await, dead_after, long_after);
                assert_eq!(freed.await.unwrap().freed, 50);
            }
        }
    }
    world.run().await;
    let rejected = world.receipt(&issued).await;
    assert_eq!(
        (rejected.state, rejected.outbox),
        (ReceiptState::Rejected, vec![OutboxEntry::Webhook])
    );
    let free = world.range().await.free;
    assert_eq!((free.len(), free.contains(&1)), (50, false));
}

#[tokio::test]
async fn a_number_that_could_not_be_given_back_stays_in_the_outbox() {
    let mut world = World::numbered_by_service(Environment::TesteCF).await;
    world.reject_and_leave_the_number().await;
    let issued = world.issue(NUMBER).await;
    assert!(world.step().await);
    // The verdict, its count, and then the range.
    world.stack.calls().inject("UpdateItem", 3, Fault::NotSent);
    world.run().await;
    assert_eq!(world.stack.calls().faults_to_come(), 0);
    let rejected = world.receipt(&issued).await;
    assert!(rejected.outbox.contains(&OutboxEntry::Number), "{:?}", rejected.outbox);
    assert!(rejected.next_action_at.is_some(), "housekeeping finds it");
    assert!(world.range().await.free.is_empty());
    assert_eq!(world.events_of(&issued), 1, "the event does not wait for it");

    // What housekeeping does, and does again.
    for _ in 0..2 {
        world.stack.table().free_left_number(&rejected).await.unwrap();
        assert_eq!(world.range().await.free, [1]);
        assert_eq!(world.receipt(&issued).await.outbox, [OutboxEntry::Webhook]);
    }
}

#[tokio::test]
async fn certification_takes_no_number_twice() {
    let mut world = World::numbered_by_service(Environment::CerteCF).await;
    world.reject_and_leave_the_number().await;
    let issued = world.issue(NUMBER).await;
    world.run().await;
    let rejected = world.receipt(&issued).await;
    assert_eq!(rejected.state, ReceiptState::Rejected);
    assert_eq!(rejected.outbox, [OutboxEntry::Webhook]);
    assert!(world.range().await.free.is_empty());
}

#[tokio::test]
async fn a_look_up_does_not_take_the_rejected_receipt_of_a_number_for_the_one_that_has_it_now() {
    let mut world = World::start().await;
    world.reject_and_leave_the_number().await;
    let first = world.issue(NUMBER).await;
    world.run().await;
    let first = world.receipt(&first).await;
    assert_eq!(first.state, ReceiptState::Rejected);

    // The successor never arrives at first, and its answer is lost: what is to be found under the number is not its own.
    world.advance(SignedDuration::from_mins(1));
    let second = world.stack.signed_successor(&world.company, NUMBER, "second").await;
    assert_eq!(second.sending.earlier_track_ids, [first.sending.track_id.unwrap()]);
    let gateway = json!({ "service": "recepcion", "fault": "status", "status": 504, "times": 1 });
    world.authority.order(gateway).await;
    world.queue(&send_job(&second));
    world.run().await;
    let accepted = world.receipt(&second).await;
    assert_eq!((accepted.state, accepted.sending.attempts), (ReceiptState::Accepted, 2));
    let documents = world.authority.documents(NUMBER).await;
    let sent: Vec<_> = documents.iter().map(|document| &document["sha256"]).collect();
    let signed =
        [&first.fiscal.signed, &second.fiscal.signed].map(|signed| signed.as_ref().unwrap().signed_xml.to_string());
    assert_eq!(
        sent,
        [&signed[0], &signed[1]],
        "each once, in this order: {documents:#?}"
    );
}
