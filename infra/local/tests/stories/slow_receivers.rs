//! Webhook receivers that accept requests and never answer, beside one that answers.

use std::time::Duration;

use ecf_testkit::Receiver;
use tokio::time::Instant;

use crate::payloads::payload;
use crate::support::{System, webhook_of};

const HANGING: usize = 10;
const RECEIPTS: usize = 6;
/// Upper bound from the verdict to the webhook.
const SOON: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn r5_a_healthy_webhook_is_told_within_two_seconds_beside_ten_that_hang() {
    let system = System::start().await;
    let (caller, healthy, hanging) = (&system.caller, Receiver::start().await, Receiver::start().await);
    hanging.hang(true);
    for _ in 0..HANGING {
        caller.subscribe(&hanging).await;
    }
    caller.subscribe(&healthy).await;
    for number in 0..RECEIPTS {
        let payload = payload(&caller.rnc, &caller.today(), "31", 1_000);
        let issued = caller
            .issue(&format!("beside-{number}"), "31", &payload)
            .await
            .expect(201);
        caller.wait_for_state(&issued, "accepted").await;
        let judged = Instant::now();
        webhook_of(&healthy, &issued).await;
        let took = judged.elapsed();
        assert!(took < SOON, "receipt {number}: {took:?}");
    }
    system.local.shutdown().await;
}
