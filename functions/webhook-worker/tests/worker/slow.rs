//! A receiver that accepts and never answers delays nobody else.

use std::time::Duration;

use ecf::ReceiptState;
use ecf_runtime::process_batch;
use ecf_store::{Receipt, WebhookJob};
use ecf_testkit::{Queue, Receiver};
use jiff::SignedDuration;
use tokio::time::Instant;
use webhook_worker::FAST_LIMIT;

use crate::world::World;

/// The least that `WebhookConcurrency` may be.
const WORKERS: usize = 2;
const HANGING: usize = 10;
/// What eleven events take on a busy machine; the whole time limit of an attempt is ten seconds.
const SOON: Duration = Duration::from_secs(7);

fn job(receipt: &Receipt) -> WebhookJob {
    WebhookJob::Event(receipt.job())
}

/// Runs the workers of the fast lane until its queue is empty, and says how long that took.
async fn drain(world: &World) -> Duration {
    let begun = Instant::now();
    let app = &world.app;
    let worker = async || {
        let run = async |event| {
            let handler = |job, message| webhook_worker::handle(app, job, message);
            process_batch(event, handler, |job, after| app.resend(job, after)).await
        };
        world.stack.drain(Queue::Webhook, run).await
    };
    futures::future::join_all((0..WORKERS).map(|_| worker())).await;
    begun.elapsed()
}

#[tokio::test]
async fn r5_healthy_webhooks_get_their_events_beside_ten_that_hang() {
    let mut world = World::start().await;
    let (healthy, hanging) = (Receiver::start().await, Receiver::start().await);
    hanging.hang(true);
    let own = world.company.clone();
    world.subscribe(&healthy, &["*"]).await;
    // A second subscription of the same company hangs too.
    world.subscribe(&hanging, &["*"]).await;
    let mut companies = vec![own];
    for _ in 1..HANGING {
        world.company = world.stack.company_builder().without_ranges().build().await;
        world.subscribe(&hanging, &["*"]).await;
        companies.push(world.company.clone());
    }
    for round in 1..=5 {
        for company in companies.iter().rev() {
            world.company = company.clone();
            let receipt = world.judged(&format!("E31{round:010}"), ReceiptState::Accepted).await;
            world.queue.clear();
            let queues = world.stack.queues();
            queues.send_webhook(&job(&receipt), Duration::ZERO).await.unwrap();
        }
        let took = drain(&world).await;
        assert_eq!(healthy.received().len(), round);
        // Nobody knows at first that they hang: it costs the short limit, once.
        let limit = if round == 1 { FAST_LIMIT + SOON } else { SOON };
        assert!(took < limit, "round {round}: {took:?}");
    }
    assert_eq!(
        hanging.received().len(),
        HANGING,
        "each hanging webhook got one attempt in this lane"
    );
    let slow = world.stack.take_messages(Queue::WebhookSlow).await;
    assert_eq!(slow.len(), 5 * HANGING, "the rest is in the slow lane");
}

#[tokio::test]
async fn r5_a_webhook_returns_to_the_fast_lane_when_it_answers_in_time() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.hang(true);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    assert!(world.webhook(&webhook).await.slow_since.is_some());
    // The next event is not tried in the fast lane.
    world.judged("E310000000002", ReceiptState::Accepted).await;
    assert!(world.step().await);
    assert_eq!(receiver.received().len(), 1);
    assert_eq!(world.slow.next_due(), Some(world.now()), "it waits in the slow lane");
    receiver.hang(false);
    assert!(world.step().await);
    assert_eq!(world.webhook(&webhook).await.slow_since, None);
    world.judged("E310000000003", ReceiptState::Accepted).await;
    assert!(world.step().await);
    assert_eq!(receiver.received().len(), 3, "the third comes by the fast lane");
    world.live(SignedDuration::from_mins(20)).await;
    let received = receiver.received();
    assert_eq!(received.len(), 4);
    assert_eq!(received[0].body, received[3].body, "the repeat has the same bytes");
    assert_eq!(
        received[0].header("X-ECF-Signature"),
        received[3].header("X-ECF-Signature")
    );
    let mut attempts: Vec<_> = world
        .deliveries(&webhook)
        .await
        .iter()
        .map(|one| (one.attempt, one.succeeded))
        .collect();
    // The clock of the test stood still for the first three.
    attempts.sort_unstable();
    assert_eq!(attempts, [(1, false), (1, true), (1, true), (2, true)]);
}

#[tokio::test]
async fn r5_a_burst_for_a_webhook_that_hangs_meets_it_with_few_attempts() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["*"]).await;
    receiver.hang(true);
    for number in 1..=20 {
        let receipt = world.judged(&format!("E31{number:010}"), ReceiptState::Accepted).await;
        world.queue.clear();
        world
            .stack
            .queues()
            .send_webhook(&job(&receipt), Duration::ZERO)
            .await
            .unwrap();
    }
    let took = drain(&world).await;
    assert!(took < FAST_LIMIT + SOON, "{took:?}");
    assert_eq!(
        receiver.received().len(),
        4,
        "as many as one process makes at one webhook at a time"
    );
    assert_eq!(world.stack.take_messages(Queue::WebhookSlow).await.len(), 20);
}
