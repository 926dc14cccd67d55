//! `POST /api/v1/client/inbox/{id}/ack`.

use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, INBOX};

#[tokio::test]
async fn the_first_acknowledgement_counts() {
    let api = Api::start().await;
    let item = api.receive("E310000000001").await;
    let path = format!("{INBOX}/{}/ack", item.id);
    let expected = json!({ "public_id": item.id.to_string(), "acked": true, "acked_at": "2026-11-27T16:00:01.000Z" });
    let (a, b) = tokio::join!(api.post(&path), api.post(&path));
    assert_eq!((a.expect(200), b.expect(200)), (expected.clone(), expected.clone()));
    api.stack.clock().advance(SignedDuration::from_secs(60));
    assert_eq!(api.post(&path).await.expect(200), expected);
    let list = api.get(&format!("{INBOX}?acked=true")).await.expect(200);
    assert_eq!(
        (&list["items"][0]["acked"], &list["items"][0]["acked_at"]),
        (&json!(true), &expected["acked_at"])
    );
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let api = Api::start().await;
    for id in ["0123456789abcdefghjkmnpqrstvwxyz", "1", "%2e%2e"] {
        assert_eq!(api.post(&format!("{INBOX}/{id}/ack")).await.status, 404, "{id}");
    }
}
