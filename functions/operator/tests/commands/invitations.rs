//! Invitations to sign up.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{World, refusal};

#[tokio::test]
async fn an_invitation_is_made_shown_once_and_revoked() {
    let world = World::start().await;
    let made = world.run("create_invitation", json!({ "uses": 3 })).await;
    let code = made["invitation"]["code"].as_str().unwrap();
    let expected = json!({ "invitation": {
        "code": code, "only_shown_once": true, "uses": 3, "expires_at": "2026-12-27T16:00:00Z",
    } });
    assert_eq!(made, expected);
    let hash = Sha256::digest(code).into();
    let now = world.stack.clock().now();
    assert!(world.table().invitation_is_good(&hash, now).await.unwrap());
    let revoked = world.run("revoke_invitation", json!({ "code": code })).await;
    assert_eq!(revoked, json!({ "revoked": true }));
    assert!(!world.table().invitation_is_good(&hash, now).await.unwrap());
    assert_eq!(
        refusal(&world.run("revoke_invitation", json!({ "code": code })).await),
        "not_found"
    );
}

#[tokio::test]
async fn an_invitation_for_nobody_or_for_ever_is_refused() {
    let world = World::start().await;
    for wanted in [
        json!({ "uses": 0 }),
        json!({ "uses": 1_001 }),
        json!({ "expires_at": "2026-11-27T16:00:00Z" }),
        json!({ "expires_at": "2028-01-01T00:00:00Z" }),
    ] {
        assert_eq!(refusal(&world.run("create_invitation", wanted).await), "bad_invitation");
    }
}
