//! Dead letters and their replay.

use ecf_testkit::Queue;
use serde_json::json;

use crate::{World, refusal};

impl World {
    /// Puts messages into a dead-letter queue.
    async fn bury(&self, queue: &str, bodies: impl Iterator<Item = String>) {
        let dead = &self.stack.environment_of("operator")[queue];
        let sqs = &self.stack.clients().sqs;
        for body in bodies {
            let send = sqs.send_message().queue_url(dead).message_body(body);
            send.send().await.unwrap();
        }
    }
}

#[tokio::test]
async fn dead_letters_go_back_to_their_queue_and_no_more_than_asked_for() {
    let world = World::start().await;
    let jobs = (0..12).map(|number| format!("job {number}"));
    world.bury("WEBHOOK_DEAD_QUEUE_URL", jobs).await;
    let replay = |limit: u32| world.run("replay_dead_letters", json!({ "queue": "webhook", "limit": limit }));
    assert_eq!(replay(11).await, json!({ "queue": "webhook", "moved": 11 }));
    assert_eq!(world.stack.take_messages(Queue::Webhook).await.len(), 11);
    assert_eq!(replay(100).await["moved"], 1);
    assert_eq!(replay(100).await["moved"], 0);
    assert_eq!(world.stack.take_messages(Queue::Webhook).await.len(), 1);

    assert_eq!(refusal(&replay(101).await), "bad_limit");
    let unknown = world.run("replay_dead_letters", json!({ "queue": "post" })).await;
    assert_eq!(
        unknown["error"]["message"],
        "queue is post; the queues are certification, exchange, issuing, submission-certecf, submission-ecf, submission-testecf, webhook, webhook-slow"
    );
}

#[tokio::test]
async fn each_queue_has_its_own_dead_letters() {
    let world = World::start().await;
    let queues = [
        ("issuing", "ISSUING_DEAD_QUEUE_URL", Queue::Issuing),
        (
            "submission-testecf",
            "SUBMISSION_DEAD_QUEUE_TESTECF_URL",
            Queue::SubmissionTesteCF,
        ),
        (
            "submission-certecf",
            "SUBMISSION_DEAD_QUEUE_CERTECF_URL",
            Queue::SubmissionCerteCF,
        ),
        ("submission-ecf", "SUBMISSION_DEAD_QUEUE_ECF_URL", Queue::SubmissionEcf),
        ("webhook", "WEBHOOK_DEAD_QUEUE_URL", Queue::Webhook),
        ("webhook-slow", "WEBHOOK_SLOW_DEAD_QUEUE_URL", Queue::WebhookSlow),
        ("exchange", "EXCHANGE_DEAD_QUEUE_URL", Queue::Exchange),
        ("certification", "CERTIFICATION_DEAD_QUEUE_URL", Queue::Certification),
    ];
    for (name, dead, _) in queues {
        world.bury(dead, std::iter::once(format!("a job of {name}"))).await;
    }
    for (name, _, queue) in queues {
        let moved = world.run("replay_dead_letters", json!({ "queue": name })).await;
        assert_eq!(moved, json!({ "queue": name, "moved": 1 }));
        assert_eq!(world.stack.take_messages(queue).await, [format!("a job of {name}")]);
    }
}

#[tokio::test]
async fn o3_dead_letters_are_counted_and_looked_at_without_moving() {
    let world = World::start().await;
    let empty = world.run("list_dead_letters", json!({})).await;
    let queues = empty["queues"].as_array().unwrap();
    assert!(
        queues.len() == 8 && queues.iter().all(|queue| queue["messages"] == 0),
        "{empty}"
    );
    let jobs = [r#"{"job": 1}"#.to_owned(), "x".repeat(2_000)];
    world.bury("EXCHANGE_DEAD_QUEUE_URL", jobs.into_iter()).await;
    for _ in 0..2 {
        let listed = world.run("list_dead_letters", json!({ "queue": "exchange" })).await;
        assert_eq!(
            listed["queues"],
            json!([{ "queue": "exchange", "messages": 2 }]),
            "{listed}"
        );
        let letters = listed["letters"].as_array().unwrap();
        let bodies: Vec<_> = letters.iter().map(|letter| letter["body"].as_str().unwrap()).collect();
        assert!(
            bodies.contains(&r#"{"job": 1}"#) && bodies.iter().all(|body| body.len() <= 1_000),
            "{listed}"
        );
        assert!(letters.iter().all(|letter| letter["sent_at"].is_string()), "{listed}");
    }
    let moved = world.run("replay_dead_letters", json!({ "queue": "exchange" })).await;
    assert_eq!(moved["moved"], 2);
    assert_eq!(world.stack.take_messages(Queue::Exchange).await.len(), 2);
    assert_eq!(
        refusal(&world.run("list_dead_letters", json!({ "queue": "post" })).await),
        "unknown_queue"
    );
}
