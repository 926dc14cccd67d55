//! Events of our own, which are about no receipt's verdict.

use ecf_store::{QueueUrls, Queues, WebhookJob};
use ecf_testkit::{Fault, Receiver};
use ecf_webhooks::{News, announce};

use crate::world::World;

fn low(remaining: u64) -> News<'static> {
    News::SequenceLow {
        ecf_type: "31".parse().unwrap(),
        range_start: 1,
        range_end: 500,
        remaining,
        threshold: 100,
    }
}

/// Announces as a function of the deployment does.
async fn announced(world: &World, news: &News<'_>) -> bool {
    let (scope, rnc) = (world.company.scope, &world.company.rnc);
    let urls = QueueUrls::from_env(&world.stack.env("webhook-worker")).unwrap();
    let queues = Queues::new(world.stack.clients().sqs.clone(), urls);
    let announcement = news.announcement(&scope, rnc.as_str(), world.now());
    announce(&world.table, &queues, &scope, &announcement).await.unwrap()
}

#[tokio::test]
async fn an_announcement_comes_to_those_who_name_it_and_to_nobody_else() {
    let mut world = World::start().await;
    let (named, wildcards) = (Receiver::start().await, Receiver::start().await);
    world.subscribe(&named, &["sequence.low"]).await;
    world
        .subscribe(&wildcards, &["*", "ecf.*", "taxauth.*", "sequence.expiring"])
        .await;
    assert!(announced(&world, &low(99)).await);
    world.run().await;
    let received = named.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].header("x-ecf-event"), Some("sequence.low"));
    assert_eq!(received[0].json()["remaining"], 99);
    assert_eq!(wildcards.received().len(), 0);
}

#[tokio::test]
async fn the_same_news_is_announced_once() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["sequence.low"]).await;
    assert!(announced(&world, &low(99)).await);
    assert!(!announced(&world, &low(98)).await);
    world.run().await;
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn an_announcement_is_retried_with_the_same_bytes() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["sequence.low"]).await;
    receiver.answer_next(&[500, 500]);
    announced(&world, &low(99)).await;
    world.run().await;
    let received = receiver.received();
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|one| one.body == received[0].body));
    assert_eq!(world.deliveries(&webhook).await.len(), 3);
}

#[tokio::test]
async fn an_announcement_that_was_not_told_stays_due_and_a_repeated_job_tells_it() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["sequence.low"]).await;
    announced(&world, &low(99)).await;
    for nth in 1..=5 {
        world.stack.calls().inject("Query", nth, Fault::NotSent);
    }
    world.run().await;
    assert_eq!(receiver.received().len(), 0);
    let scope = world.company.scope;
    let id = low(99).announcement(&scope, world.company.rnc.as_str(), world.now()).id;
    let untold = world.table.undelivered_announcement(&scope, &id).await.unwrap();
    assert!(untold.is_some());
    let job = WebhookJob::Announce {
        scope,
        announcement: id,
        attempt: 0,
    };
    for _ in 0..2 {
        world.queue.push(&world.stack, &job);
        world.run().await;
    }
    assert_eq!(receiver.received().len(), 1);
}
