//! A subscriber that does not take an event.

use std::time::Duration;

use ecf::ReceiptState;
use ecf_runtime::{Message, Outcome};
use ecf_store::{WebhookJob, deliveries::Delivery, webhooks::WebhookChanges};
use ecf_testkit::{EmittedMetrics, Fault, Queue, Receiver};
use jiff::{SignedDuration, Timestamp};

use crate::world::World;

/// The waits between attempts, in seconds.
fn waits(deliveries: &[Delivery]) -> Vec<i64> {
    deliveries
        .windows(2)
        .map(|pair| pair[1].sent_at.duration_since(pair[0].sent_at).as_secs())
        .collect()
}

#[tokio::test]
async fn the_operator_is_told_of_attempts_that_fail_and_that_do_not() {
    let mut world = World::start().await;
    let (metrics, told) = EmittedMetrics::metrics();
    world.app.metrics = metrics;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;
    assert_eq!(
        told.take(),
        ["WebhooksFailed of TesteCF: 1", "WebhooksDelivered of TesteCF: 1"]
    );
}

#[tokio::test]
async fn a_failing_subscriber_gets_the_same_bytes_again_and_the_other_only_once() {
    let mut world = World::start().await;
    let (failing, sound) = (Receiver::start().await, Receiver::start().await);
    let webhook = world.subscribe(&failing, &["*"]).await;
    world.subscribe(&sound, &["*"]).await;
    failing.answer_next(&[500, 404, 302]);
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    // Everybody had a turn: the event is done, and what is left is between the two.
    assert_eq!(world.receipt(&receipt).await.next_action_at, None);
    world.run().await;
    let received = failing.received();
    assert_eq!(received.len(), 4);
    for again in &received[1..] {
        assert_eq!(again.body, received[0].body);
        assert_eq!(again.header("x-ecf-signature"), received[0].header("x-ecf-signature"));
    }
    assert_eq!(sound.received().len(), 1);
    let deliveries = world.deliveries(&webhook).await;
    let seen: Vec<_> = deliveries
        .iter()
        .map(|one| (one.attempt, one.status_code, one.succeeded))
        .collect();
    assert_eq!(
        seen,
        [
            (1, Some(500), false),
            (2, Some(404), false),
            (3, Some(302), false),
            (4, Some(200), true)
        ]
    );
}

#[tokio::test]
async fn the_bytes_stay_the_same_when_the_receipt_changes_meanwhile() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[503]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    // Another process, an hour later.
    world.restart_worker();
    world.advance(SignedDuration::from_hours(1));
    world.run().await;
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].body, received[1].body);
}

#[tokio::test]
async fn after_an_hour_of_errors_it_is_delivered_once_and_never_again() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500; 8]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    let start = world.now();
    world.live(SignedDuration::from_hours(3)).await;
    let received = receiver.received();
    assert_eq!(received.len(), 9);
    let last = world.deliveries(&webhook).await.last().unwrap().sent_at;
    assert!(last.duration_since(start) >= SignedDuration::from_hours(1));
    assert!(received.iter().all(|one| one.body == received[0].body));
    world.live(SignedDuration::from_hours(48)).await;
    assert_eq!(receiver.received().len(), 9);
    assert!(world.deliveries(&webhook).await.last().unwrap().succeeded);
}

#[tokio::test]
async fn a_dead_endpoint_is_tried_with_growing_waits_until_the_day_is_over() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500; 100]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    let start = world.now();
    world.live(SignedDuration::from_hours(48)).await;
    let deliveries = world.deliveries(&webhook).await;
    let waits = waits(&deliveries);
    // Jitter takes up to a fifth off.
    for (wait, most) in waits.iter().zip([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
        assert!(
            (most * 4 / 5..=most + 1).contains(wait) || *wait == 30,
            "{wait} of {most}"
        );
    }
    assert!(waits.len() >= 29, "{waits:?}");
    let last: Timestamp = deliveries.last().unwrap().sent_at;
    let tried = last.duration_since(start);
    assert!(
        tried <= SignedDuration::from_hours(24) && tried > SignedDuration::from_hours(22),
        "{tried:?}"
    );
    assert_eq!(receiver.received().len(), deliveries.len());
    let numbers: Vec<u32> = deliveries.iter().map(|one| one.attempt).collect();
    assert_eq!(
        numbers,
        (1..=u32::try_from(deliveries.len()).unwrap()).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_wait_that_no_queue_holds_is_left_to_the_due_index() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500; 7]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    world.run().await;
    // Six waits of up to a quarter of an hour are messages; the next may be longer.
    let deliveries = world.deliveries(&webhook).await;
    let delays = world.stack.calls().delays();
    assert!((5..=6).contains(&delays.len()), "{delays:?}");
    assert!(
        delays.iter().all(|delay| *delay <= Duration::from_secs(900)),
        "{delays:?}"
    );
    assert_eq!(deliveries.len(), delays.len() + 1);
    world.live(SignedDuration::from_hours(2)).await;
    assert_eq!(receiver.received().len(), 8);
    let deliveries = world.deliveries(&webhook).await;
    for (wait, most) in waits(&deliveries).iter().zip([30, 60, 120, 240, 480, 960, 1_920]) {
        assert!(*wait <= most + 1, "{wait} of {most}");
    }
}

#[tokio::test]
async fn one_attempt_is_made_once_however_often_its_message_comes() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    let [second] = world
        .table
        .undelivered_of(&world.company.scope, &webhook.id, 10)
        .await
        .unwrap()
        .try_into()
        .unwrap();
    let job = WebhookJob::Deliver {
        scope: world.company.scope,
        webhook: webhook.id,
        event: second.key,
        attempt: 2,
        slow: false,
    };
    let message = || Message {
        message_id: "a repeated message".to_owned(),
        receive_count: 1,
    };
    let same = (0..5).map(|_| webhook_worker::handle(&world.app, job.clone(), message()));
    for outcome in futures::future::join_all(same).await {
        assert_eq!(outcome, Outcome::Done);
    }
    assert_eq!(receiver.received().len(), 2);
    assert_eq!(world.deliveries(&webhook).await.len(), 2);
    world.live(SignedDuration::from_hours(48)).await;
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test]
async fn an_event_that_is_told_twice_is_retried_in_one_chain() {
    let mut world = World::start().await;
    let receiver = Receiver::start().await;
    let webhook = world.subscribe(&receiver, &["*"]).await;
    receiver.answer_next(&[500, 500, 500]);
    let receipt = world.judged("E310000000001", ReceiptState::Accepted).await;
    // The second run of the job begins before the first has taken the entry out of the outbox.
    world.queue_event(&receipt);
    world.stack.calls().inject("UpdateItem", 2, Fault::DiesBefore);
    world.live(SignedDuration::from_hours(48)).await;
    let succeeded = world
        .deliveries(&webhook)
        .await
        .iter()
        .filter(|one| one.succeeded)
        .count();
    assert_eq!(succeeded, 1);
}

#[tokio::test]
async fn deliveries_to_a_webhook_that_is_switched_off_or_deleted_end() {
    for deletes in [false, true] {
        let mut world = World::start().await;
        let receiver = Receiver::start().await;
        let webhook = world.subscribe(&receiver, &["*"]).await;
        receiver.answer_next(&[500; 100]);
        world.judged("E310000000001", ReceiptState::Accepted).await;
        assert!(world.step().await);
        let scope = world.company.scope;
        if deletes {
            assert!(world.table.delete_webhook(&scope, &webhook.id).await.unwrap());
        } else {
            let off = WebhookChanges {
                is_active: Some(false),
                ..WebhookChanges::default()
            };
            let changed = world.table.update_webhook(&scope, &webhook.id, off, world.now()).await;
            assert!(changed.unwrap().is_some());
        }
        world.run().await;
        assert_eq!(receiver.received().len(), 1, "{deletes}");
        assert_eq!(world.stack.take_messages(Queue::Webhook).await.len(), 0);
    }
}

#[tokio::test]
async fn a_new_address_and_secret_serve_from_the_next_attempt_on() {
    let mut world = World::start().await;
    let (old, new) = (Receiver::start().await, Receiver::start().await);
    let webhook = world.subscribe(&old, &["*"]).await;
    old.answer_next(&[500]);
    world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    let scope = world.company.scope;
    let context = ecf_store::webhooks::webhook_context(&scope, &webhook.id);
    let sealed = world
        .stack
        .vault()
        .seal(&context, b"whsec_another-secret")
        .await
        .unwrap();
    let changes = WebhookChanges {
        url: Some(new.url()),
        sealed_secret: Some(sealed),
        ..WebhookChanges::default()
    };
    let changed = world
        .table
        .update_webhook(&scope, &webhook.id, changes, world.now())
        .await;
    assert!(changed.unwrap().is_some());
    world.run().await;
    assert_eq!((old.received().len(), new.received().len()), (1, 1));
    assert_eq!(old.received()[0].body, new.received()[0].body);
    assert_ne!(
        old.received()[0].header("x-ecf-signature"),
        new.received()[0].header("x-ecf-signature")
    );
}

#[tokio::test]
async fn nobody_listening_is_an_attempt_that_failed() {
    let mut world = World::start().await;
    // Port 1 is nobody's.
    let webhook = world
        .subscribe_url("http://127.0.0.1:1/hook?token=private", &["*"])
        .await;
    world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    let deliveries = world.deliveries(&webhook).await;
    assert_eq!(
        (deliveries.len(), deliveries[0].status_code, deliveries[0].succeeded),
        (1, None, false)
    );
    let excerpt = &*deliveries[0].response_excerpt.as_ref().unwrap().en;
    assert!(!excerpt.contains("private"), "{excerpt}");
    assert!(world.queue.next_due().is_some());
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut world = World::start().await;
    let target = Receiver::start().await;
    let url = bare::redirecting(&target.url());
    let webhook = world.subscribe_url(&url, &["*"]).await;
    world.judged("E310000000001", ReceiptState::Accepted).await;
    assert!(world.step().await);
    assert_eq!(target.received().len(), 0);
    let deliveries = world.deliveries(&webhook).await;
    assert_eq!((deliveries[0].status_code, deliveries[0].succeeded), (Some(307), false));
}

/// A receiver that needs no HTTP crate.
mod bare {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// The address of a receiver that sends one caller elsewhere.
    pub(crate) fn redirecting(target: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let answer = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 65_536];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(answer.as_bytes());
            while stream.read(&mut request).is_ok_and(|read| read > 0) {}
        });
        url
    }
}
