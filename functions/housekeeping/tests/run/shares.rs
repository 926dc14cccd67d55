//! The backlog of one company does not delay another.

use std::collections::HashMap;

use ecf::ReceiptState;
use ecf_store::{CompanyId, IssuingJob};
use futures::{StreamExt, stream};
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::World;

/// More than a run once processed for all companies together.
const MANY: usize = 960;
const FEW: usize = 24;

/// The number of jobs of each company in the issuing queue.
async fn queued(world: &World) -> HashMap<CompanyId, usize> {
    let mut counts = HashMap::new();
    for job in world.kept_jobs().await {
        let IssuingJob::Issue(job) = job;
        *counts.entry(job.scope.company).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn r4_a_company_with_few_due_receipts_is_served_beside_one_with_many() {
    let mut world = World::start().await;
    let large = world.company.scope.company;
    let when = world.now() + SignedDuration::from_hours(1);
    stream::iter(0..MANY)
        .for_each_concurrent(16, async |number| {
            world
                .kept(&format!("many-{number}"), ReceiptState::Deferred, Some(when))
                .await;
        })
        .await;
    world.company = world.stack.company_builder().without_ranges().build().await;
    let small = world.company.scope.company;
    for number in 0..FEW {
        let later = when + SignedDuration::from_secs(1);
        world
            .kept(&format!("few-{number}"), ReceiptState::Deferred, Some(later))
            .await;
    }
    world.advance(when.duration_since(world.now()) + SignedDuration::from_mins(1));
    run(&world.app).await.unwrap();
    let counts = queued(&world).await;
    assert_eq!(counts.get(&small), Some(&FEW), "served within the first run");
    assert!(counts[&large] > 800, "more than a run took before: {counts:?}");
    assert!(
        world.stack.calls().count("GetQueueAttributes") > 0,
        "the queues are asked before they are filled"
    );
}
