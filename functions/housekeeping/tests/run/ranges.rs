//! Ranges: numbers of requests that died are free again, each once, and those in use never.

use std::collections::BTreeSet;

use ecf::{Encf, Fecha, ReceiptType};
use ecf_store::{NewRange, Numbering, Opened, Range, SHARDS, Take};
use ecf_testkit::Fault;
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::World;

const T31: ReceiptType = ReceiptType::E31;
/// After this and one run everything that was taken before is accounted for.
const QUIET: SignedDuration = SignedDuration::from_mins(8);

impl World {
    async fn open(&self, start: u64, end: u64) {
        let new = NewRange {
            ecf_type: T31,
            start,
            end,
            valid_until: None,
            numbering: Some(Numbering::Service),
            created_at: self.now(),
        };
        let opened = self.stack.table().open_range(&self.company.scope, new).await;
        assert_eq!(opened.unwrap(), Opened::New);
    }

    /// Takes a number, as a request does that then dies.
    async fn take(&self) -> Encf {
        let today = Fecha::at(self.now());
        let (table, scope) = (self.stack.table(), self.company.scope);
        match table.take_next_number(&scope, T31, today, self.now()).await.unwrap() {
            Take::Taken { encf, .. } => encf,
            other => panic!("no number: {other:?}"),
        }
    }

    /// Takes a number for a receipt that gets its verdict at once.
    async fn issue(&self) -> Encf {
        let encf = self.take().await;
        self.told(&encf.to_string()).await;
        encf
    }

    async fn range(&self) -> Range {
        let ranges = self.stack.table().ranges(&self.company.scope, Some(T31)).await;
        ranges.unwrap().remove(0)
    }

    async fn free(&self) -> BTreeSet<u64> {
        self.range().await.free.into_iter().collect()
    }
}

#[tokio::test]
async fn numbers_of_dead_requests_are_free_again_and_taken_first() {
    let world = World::start().await;
    world.open(1, 100).await;
    for number in 1..=40 {
        // Holes in the middle, and at the end, where no later lock tells of them.
        if [3, 17, 39, 40].contains(&number) {
            world.take().await;
        } else {
            world.issue().await;
        }
    }
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, [3, 17, 39, 40].into());
    let range = world.range().await;
    assert_eq!((range.checked, range.next_look), (41, None));

    let mut given = BTreeSet::new();
    for _ in 0..5 {
        given.insert(world.issue().await.sequence());
    }
    assert_eq!(given, [3, 17, 39, 40, 41].into());
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    let range = world.range().await;
    assert_eq!((range.free, range.retaken, range.next_look), (vec![], vec![], None));
}

#[tokio::test]
async fn a_number_that_may_still_be_used_is_left_alone() {
    let world = World::start().await;
    world.open(1, 100).await;
    run(&world.app).await.unwrap();
    world.take().await;
    world.advance(SignedDuration::from_mins(10));
    // One old, one that is being signed right now.
    let young = world.take().await;
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, BTreeSet::new());
    world.signed(&young.to_string()).await;
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, [1].into());
}

#[tokio::test]
async fn a_freed_number_whose_next_request_dies_too_is_freed_again() {
    let world = World::start().await;
    world.open(1, 100).await;
    world.take().await;
    for _ in 0..3 {
        world.advance(QUIET);
        run(&world.app).await.unwrap();
        assert_eq!(world.free().await, [1].into());
        assert_eq!(world.take().await.sequence(), 1);
        assert_eq!(world.free().await, BTreeSet::new());
    }
}

#[tokio::test]
async fn more_holes_than_the_list_holds_are_freed_as_room_comes() {
    let world = World::start().await;
    world.open(1, 1_000).await;
    for _ in 0..130 {
        world.take().await;
    }
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, (1..=100).collect());
    let mut used = BTreeSet::new();
    for _ in 0..100 {
        used.insert(world.issue().await.sequence());
    }
    assert_eq!(used, (1..=100).collect());
    world.advance(SignedDuration::from_mins(70));
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, (101..=130).collect());
}

#[tokio::test]
async fn a_range_without_takes_costs_one_look_and_then_nothing() {
    let world = World::start().await;
    world.open(1, 100).await;
    world.issue().await;
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    let range = world.range().await;
    assert_eq!((range.checked, range.next_look), (2, None));
    world.advance(SignedDuration::from_mins(1));
    world.stack.calls().reset();
    run(&world.app).await.unwrap();
    assert_eq!(world.stack.calls().count("UpdateItem"), 0);
    assert_eq!(world.stack.calls().count("GetItem"), 0);
}

#[tokio::test]
async fn a_run_that_dies_anywhere_is_made_good_by_the_next() {
    let world = World::start().await;
    world.open(1, 1_000).await;
    for fault in [Fault::NotSent, Fault::DiesAfter] {
        // The first calls of a run are for receipts.
        for nth in u32::from(SHARDS) + 1..=22 {
            let dead = world.take().await.sequence();
            let used = world.issue().await;
            world.advance(QUIET);
            world.stack.calls().inject("*", nth, fault);
            for _ in 0..2 {
                // A failure or a crash: either way the next run is another's.
                let app = world.app.clone();
                let _ = tokio::spawn(async move { run(&app).await }).await;
                world.advance(SignedDuration::from_hours(2));
            }
            assert_eq!(world.stack.calls().faults_to_come(), 0);
            let range = world.range().await;
            assert_eq!(range.free, [dead], "{fault:?} of call {nth}");
            assert!(
                range.is_settled() && range.checked > used.sequence(),
                "{fault:?} of call {nth}"
            );
        }
    }
}
