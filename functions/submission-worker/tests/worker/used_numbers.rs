//! "Already used" (1209): whose bytes used the number decides.

use ecf::{Environment, ReceiptState};
use serde_json::json;

use crate::world::World;

/// The first copy is taken, its answer lost, and for a while the look-ups do not see it: so a second copy goes out.
async fn sent_twice(environment: Environment, encf: &str, service: &str, look_up: &str) -> World {
    let mut world = World::in_environment(environment).await;
    let nothing = match look_up {
        "consultatrackids" => "[]".to_owned(),
        _ => json!({ "codigo": 0, "estado": "No encontrado" }).to_string(),
    };
    for order in [
        json!({ "service": service, "fault": "lose_answer", "times": 1 }),
        json!({ "service": look_up, "fault": "status", "status": 200, "body": nothing, "times": 2 }),
    ] {
        world.authority.order(order).await;
    }
    let issued = world.issue(encf).await;
    let ended = world.run_until_quiet(&issued).await;
    assert_eq!(world.authority.submissions(encf).await, 2, "a copy went out again");
    assert_eq!(ended.sending.attempts, 2);
    world
}

#[tokio::test]
async fn our_own_earlier_bytes_are_a_success() {
    for environment in [Environment::TesteCF, Environment::Ecf] {
        for (encf, service, look_up) in [
            ("E310000000001", "recepcion", "consultatrackids"),
            ("E320000000001", "recepcionfc", "consultarfce"),
        ] {
            let world = sent_twice(environment, encf, service, look_up).await;
            let found = world
                .stack
                .table()
                .receipt_by_encf(&world.company.scope, &encf.parse().unwrap())
                .await;
            let receipt = found.unwrap().unwrap();
            assert_eq!(receipt.state, ReceiptState::Accepted, "{encf} {environment}");
            assert_eq!((receipt.error_code, receipt.error_message), (None, None));
            // The track id is the accepted copy's, not the refused one's.
            let documents = world.authority.documents(encf).await;
            assert_eq!(documents.len(), 1);
            let first = documents[0]["trackIds"].get(0).and_then(|id| id.as_str());
            assert_eq!(receipt.sending.track_id.as_deref(), first);
            assert_eq!(world.events.len(), 1);
        }
    }
}

#[tokio::test]
async fn foreign_bytes_are_a_rejection() {
    for (encf, service) in [("E310000000001", "recepcion"), ("E320000000001", "recepcionfc")] {
        // Once without doubt, once after a lost answer, when our own copy might be the one.
        for answer_is_lost in [false, true] {
            let mut world = World::start().await;
            // The same taxpayer numbers with another system, too.
            let ours = std::mem::replace(
                &mut world.company,
                world.stack.company_builder().without_ranges().build().await,
            );
            let foreign = world.issue(encf).await;
            world.run().await;
            assert_eq!(world.receipt(&foreign).await.state, ReceiptState::Accepted);

            world.company = ours;
            world.advance(jiff::SignedDuration::from_mins(5));
            if answer_is_lost {
                let order = json!({ "service": service, "fault": "status", "status": 504, "times": 1 });
                world.authority.order(order).await;
            }
            let issued = world.issue(encf).await;
            assert_ne!(issued.public_id, foreign.public_id);
            let receipt = world.run_until_quiet(&issued).await;
            assert_eq!(receipt.state, ReceiptState::Rejected, "{encf} {answer_is_lost}");
            assert_eq!(receipt.error_code.as_deref(), Some("1209"));
            assert_eq!(receipt.secuencia_utilizada, Some(true));
            let words = format!("La secuencia {encf} ya fue utilizada.");
            assert_eq!(receipt.error_message.as_deref(), Some(words.as_str()));
            assert_eq!(world.events_of(&issued), 1);
            assert_eq!(world.authority.documents(encf).await.len(), 2);
        }
    }
}

#[tokio::test]
async fn a_door_that_says_already_used_to_a_first_send_is_a_failure() {
    let mut world = World::start().await;
    let fault = json!({ "service": "recepcion", "fault": "mensajes", "codigo": "1209", "mensaje": "Ya fue utilizada.", "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue("E310000000001").await;
    world.run().await;
    let receipt = world.receipt(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Failed);
    assert_eq!(receipt.error_code.as_deref(), Some("1209"));
    assert_eq!(receipt.error_message.as_deref(), Some("Ya fue utilizada."));
}

#[tokio::test]
async fn a_door_that_says_already_used_to_a_second_send_leads_to_the_first() {
    let mut world = World::start().await;
    for order in [
        json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 }),
        json!({ "service": "consultatrackids", "fault": "status", "status": 200, "body": "[]", "times": 2 }),
        json!({ "service": "recepcion", "fault": "mensajes", "codigo": "1209", "mensaje": "Ya fue utilizada.", "times": 1 }),
    ] {
        world.authority.order(order).await;
    }
    let issued = world.issue("E310000000001").await;
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Accepted);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn a_used_number_that_the_list_lacks_is_no_rejection_while_the_list_may_be_late() {
    let mut world = World::start().await;
    for order in [
        json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 }),
        json!({ "service": "consultatrackids", "fault": "status", "status": 200, "body": "[]", "times": 6 }),
    ] {
        world.authority.order(order).await;
    }
    let issued = world.issue("E310000000001").await;
    let receipt = world.run_until_quiet(&issued).await;
    assert_eq!(receipt.state, ReceiptState::Accepted, "{:?}", receipt.error_message);
    assert_eq!(world.authority.submissions("E310000000001").await, 2);
    assert_eq!(world.events_of(&issued), 1);
}
