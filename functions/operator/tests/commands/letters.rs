//! Dead letters and their way back.

use ecf_testkit::Queue;
use serde_json::json;

use crate::{World, refusal};

#[tokio::test]
async fn dead_letters_go_back_to_their_queue_and_no_more_than_asked_for() {
    let world = World::start().await;
    let dead = &world.stack.environment_of("operator")["WEBHOOK_DEAD_QUEUE_URL"];
    let sqs = &world.stack.clients().sqs;
    for number in 0..12 {
        let body = format!("job {number}");
        sqs.send_message()
            .queue_url(dead)
            .message_body(body)
            .send()
            .await
            .unwrap();
    }
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
        "queue is post; the queues are exchange, issuing, submission-certecf, submission-ecf, submission-testecf, webhook"
    );
}
