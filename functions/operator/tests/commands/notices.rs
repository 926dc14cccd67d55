//! Notices: from draft to resolution or withdrawal.

use serde_json::{Value, json};

use crate::{World, refusal};

fn drafted() -> Value {
    json!({
        "category": "dgii_incident", "severity": "warning", "title": "Recepción lenta", "body": "Con demora.",
        "source": "estado", "environments": ["ecf"], "audience": "all",
    })
}

#[tokio::test]
async fn a_notice_is_drafted_published_changed_resolved_and_withdrawn() {
    let world = World::start().await;
    let draft = world.run("draft_notice", drafted()).await;
    assert_eq!(draft["notice"]["state"], "draft", "{draft}");
    let id = json!({ "notice": draft["notice"]["id"] });
    assert_eq!(refusal(&world.run("resolve_notice", id.clone()).await), "wrong_state");
    assert_eq!(
        world.run("publish_notice", id.clone()).await["notice"]["state"],
        "active"
    );
    assert_eq!(refusal(&world.run("publish_notice", id.clone()).await), "wrong_state");

    let mut update = id.clone();
    update["severity"] = json!("critical");
    update["source"] = Value::Null;
    update["audience"] = json!({ "companies": [world.company.scope.company] });
    let updated = world.run("update_notice", update).await;
    let expected = json!({ "companies": [world.company.scope.company] });
    assert_eq!(updated["notice"]["audience"], expected, "{updated}");
    assert_eq!(
        (
            &updated["notice"]["severity"],
            &updated["notice"]["source"],
            &updated["notice"]["title"]
        ),
        (&json!("critical"), &Value::Null, &json!("Recepción lenta"))
    );

    let mut resolve = id.clone();
    resolve["note"] = json!("Normalizada.");
    let resolved = world.run("resolve_notice", resolve).await;
    assert_eq!(resolved["notice"]["resolution_note"], "Normalizada.", "{resolved}");
    let withdrawn = world.run("withdraw_notice", id.clone()).await;
    assert_eq!(
        (&withdrawn["notice"]["state"], &withdrawn["notice"]["revision"]),
        (&json!("withdrawn"), &json!(5))
    );
    assert_eq!(world.run("show_notice", id.clone()).await, withdrawn);
    assert_eq!(refusal(&world.run("withdraw_notice", id).await), "wrong_state");
}

#[tokio::test]
async fn a_notice_that_makes_no_sense_is_refused_with_what_is_wrong() {
    let world = World::start().await;
    for (member, value, word) in [
        ("title", json!(" "), "title"),
        ("title", json!("x".repeat(151)), "150"),
        ("body", json!("x".repeat(4_001)), "4000"),
        ("severity", json!("loud"), "loud"),
        ("audience", json!({ "companies": [] }), "audience"),
        ("audience", json!({ "environments": ["prod"] }), "prod"),
        ("colour", json!("red"), "colour"),
    ] {
        let mut notice = drafted();
        notice[member] = value;
        let answer = world.run("draft_notice", notice).await;
        assert!(["bad_command", "bad_notice"].contains(&refusal(&answer)));
        assert!(answer["error"]["message"].as_str().unwrap().contains(word), "{answer}");
    }
    let mut backwards = drafted();
    backwards["starts_at"] = json!("2026-11-28T00:00:00Z");
    backwards["expires_at"] = json!("2026-11-27T00:00:00Z");
    assert_eq!(refusal(&world.run("draft_notice", backwards).await), "bad_notice");
    let nobody = json!({ "notice": "0123456789abcdefghjkmnpqrstvwxyz" });
    assert_eq!(refusal(&world.run("withdraw_notice", nobody).await), "not_found");
}
