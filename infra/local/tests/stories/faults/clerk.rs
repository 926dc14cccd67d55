//! Changes the company's webhooks during deliveries: creates, changes and deletes them, rotates their secrets, and
//! redelivers.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::board::Phase;
use super::desk::Desk;
use super::endpoint::Endpoint;
use super::rng::Rng;

/// The path of the webhook that receives every verdict.
pub(crate) const VERDICTS: &str = "/verdicts";
/// The path of the webhook for receipts and approvals from others.
pub(crate) const OTHERS: &str = "/others";

/// Creates a webhook. The endpoint learns its secret before the system does.
pub(crate) async fn subscribe(desk: &Desk, endpoint: &Endpoint, path: &str, events: &[&str]) -> String {
    let secret = format!("the first secret of {path}");
    endpoint.know(path, &secret);
    let url = endpoint.url(path);
    let body = json!({ "url": url, "events": events, "secret": secret });
    let made = desk.post(Phase::Webhook, "/client/webhooks", &body).await.expect(201);
    // A lost response leads to a duplicate: all webhooks but one are deleted.
    let all = desk.get("/client/webhooks").await;
    let twins = all.as_array().unwrap().iter().filter(|one| one["url"] == url.as_str());
    for twin in twins.filter(|one| one["public_id"] != made["public_id"]) {
        remove(desk, twin["public_id"].as_str().unwrap()).await;
    }
    made["public_id"].as_str().unwrap().to_owned()
}

/// Rotates a webhook's secret. The endpoint learns it before the system does.
pub(crate) async fn rotate(desk: &Desk, endpoint: &Endpoint, path: &str, id: &str, number: u32) {
    let secret = format!("secret {number} of {path}, rotated");
    endpoint.know(path, &secret);
    let rotated = format!("/client/webhooks/{id}/rotate-secret");
    let rotated = desk.post(Phase::Webhook, &rotated, &json!({ "secret": secret })).await;
    assert_eq!(rotated.expect(200)["secret"], secret.as_str());
}

async fn remove(desk: &Desk, id: &str) {
    let path = format!("/client/webhooks/{id}");
    let removed = desk.ask(Phase::Webhook, Method::DELETE, &path, None).await;
    // 404: an earlier deletion whose response was lost.
    assert!(
        [204, 404].contains(&removed.status),
        "{} {}",
        removed.status,
        removed.body
    );
}

/// Works until `stop`; then only the webhooks from before are left.
pub(crate) async fn work(desk: &Desk, endpoint: &Endpoint, verdicts: &str, seed: u64, stop: &CancellationToken) {
    let mut rng = Rng::new(seed, 600);
    for number in 0_u32.. {
        let path = format!("/clerk-{number}");
        let id = subscribe(desk, endpoint, &path, &["ecf.*"]).await;
        sleep(rng.millis(200, 1_500)).await;
        let changed = json!({ "events": ["accepted", "rejected"], "is_active": rng.below(2) == 0 });
        let shown = format!("/client/webhooks/{id}");
        desk.ask(Phase::Webhook, Method::PATCH, &shown, Some(&changed))
            .await
            .expect(200);
        rotate(desk, endpoint, &path, &id, number).await;
        rotate(desk, endpoint, VERDICTS, verdicts, number).await;
        deliver_again(desk, verdicts, &mut rng).await;
        sleep(rng.millis(200, 1_500)).await;
        remove(desk, &id).await;
        if stop.is_cancelled() {
            return;
        }
    }
}

/// Redelivers one of the last deliveries.
async fn deliver_again(desk: &Desk, webhook: &str, rng: &mut Rng) {
    let page = desk
        .get(&format!("/client/webhooks/{webhook}/deliveries?limit=20"))
        .await;
    let deliveries: Vec<&Value> = page["items"].as_array().unwrap().iter().collect();
    if deliveries.is_empty() {
        return;
    }
    let id = rng.pick(&deliveries)["id"].as_u64().unwrap();
    let path = format!("/client/webhooks/{webhook}/deliveries/{id}/redeliver");
    let answer = desk.ask(Phase::Webhook, Method::POST, &path, None).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
}

/// The company's webhooks.
pub(crate) async fn webhooks(desk: &Desk) -> BTreeSet<String> {
    let all = desk.get("/client/webhooks").await;
    let ids = all
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["public_id"].as_str().unwrap().to_owned());
    ids.collect()
}
