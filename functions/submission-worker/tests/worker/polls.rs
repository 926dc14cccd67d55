//! Asking for the verdict.

use std::time::Duration;

use ecf::ReceiptState;
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn the_question_is_repeated_with_growing_waits_until_there_is_a_verdict() {
    let mut world = World::start().await;
    world.authority.set("verdict-delay", json!({ "ms": 25_000 })).await;
    let issued = world.issue("E310000000001").await;
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
    // The last two are the event's and the delivery's.
    assert_eq!(
        world.stack.calls().delays(),
        [1, 2, 3, 5, 8, 13, 0, 0].map(Duration::from_secs)
    );
}

#[tokio::test]
async fn a_verdict_that_takes_hours_is_asked_for_by_way_of_the_due_index() {
    let mut world = World::start().await;
    let hours = SignedDuration::from_hours(5);
    world.authority.set("verdict-delay", json!({ "ms": 18_000_000 })).await;
    let issued = world.issue("E310000000001").await;
    let start = world.now();
    world.run().await;
    assert!(world.now().duration_since(start) < SignedDuration::from_mins(10));
    let waiting = world.receipt(&issued).await;
    assert_eq!(waiting.state, ReceiptState::Submitted);
    assert_eq!(
        waiting.next_action_at, issued.next_action_at,
        "housekeeping looks after ten minutes"
    );
    let ended = world.run_until_quiet(&issued).await;
    assert_eq!(ended.state, ReceiptState::Accepted);
    assert!(ended.completed_at.unwrap().duration_since(start) >= hours);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn answers_that_are_no_verdict_lead_to_another_question() {
    let odd = [
        json!({ "fault": "html" }),
        json!({ "fault": "garbage" }),
        json!({ "fault": "empty" }),
        json!({ "fault": "text" }),
        json!({ "fault": "json_string" }),
        json!({ "fault": "mensaje" }),
        json!({ "fault": "mensajes" }),
        json!({ "fault": "problem_details" }),
        json!({ "fault": "maintenance" }),
        json!({ "fault": "lose_answer" }),
        json!({ "fault": "status", "status": 200, "body": "{\"codigo\":0,\"estado\":\"No encontrado\"}" }),
        json!({ "fault": "status", "status": 200, "body": "{\"codigo\":1,\"estado\":\"Rechazado\"}" }),
        json!({ "fault": "status", "status": 200, "body": "{\"codigo\":77}" }),
        json!({ "fault": "status", "status": 200, "body": "[]" }),
        json!({ "fault": "status", "status": 404, "body": "{\"mensaje\":\"TrackId no encontrado.\"}" }),
    ];
    let mut world = World::start().await;
    for (place, mut fault) in odd.into_iter().enumerate() {
        let encf = format!("E31{:010}", place + 1);
        fault["service"] = json!("consultaresultado");
        fault["encf"] = json!(encf);
        fault["times"] = json!(2);
        world.authority.order(fault.clone()).await;
        let issued = world.issue(&encf).await;
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(receipt.state, ReceiptState::Accepted, "{fault}");
        assert_eq!(world.authority.submissions(&encf).await, 1, "{fault}");
    }
}

/// A foreign "rejected, number free" would free a number in use, and the next receipt would get it.
#[tokio::test]
async fn r3_an_answer_about_another_receipt_is_asked_for_again() {
    let free = r#""codigo":2,"estado":"Rechazado","secuenciaUtilizada":false"#;
    let others = [
        ("consultaresultado", r#""eNCF":"E310000009999""#),
        ("consultaresultado", r#""rnc":"101672919""#),
        (
            "consultaresultado",
            r#""trackId":"2a0e4fcb-5e3b-4b86-a1b4-2a6f8c2b9f11""#,
        ),
        ("recepcionfc", r#""encf":"E320000009999""#),
        ("recepcionfc", r#""rnc":"101672919""#),
    ];
    let mut world = World::start().await;
    for (place, (service, other)) in others.into_iter().enumerate() {
        let ecf_type = if service == "recepcionfc" { 32 } else { 31 };
        let encf = format!("E{ecf_type}{:010}", place + 1);
        let fault = json!({
            "service": service, "encf": encf, "times": 1, "fault": "status", "status": 200, "body": format!("{{{free},{other}}}"),
        });
        world.authority.order(fault).await;
        let issued = world.issue(&encf).await;
        let receipt = world.run_until_quiet(&issued).await;
        assert_eq!(receipt.state, ReceiptState::Accepted, "{service} {other}");
    }
}

#[tokio::test]
async fn a_question_waits_as_long_as_the_authority_asks() {
    let mut world = World::start().await;
    let fault =
        json!({ "service": "consultaresultado", "fault": "status", "status": 429, "retry_after": 120, "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue("E310000000001").await;
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.stack.calls().delays(), [1, 120, 0, 0].map(Duration::from_secs));
}

#[tokio::test]
async fn a_poll_that_got_lost_is_made_good() {
    let mut world = World::start().await;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    world.lose_messages();
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Accepted);
    assert_eq!(receipt.completed_at, issued.next_action_at);
    assert_eq!(world.events_of(&issued), 1);
}
