//! What the authority does not take, and what cannot be sent at all: a visible failure with its reason, never a lost receipt.

use ecf::ReceiptState;
use ecf_store::Receipt;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::World;

const WORDS: &str = "RNC 130000001 ... no válido: \"á & <b>\"";

/// Stopped, visible, and nothing left to do by itself.
fn assert_failed(receipt: &Receipt, code: &str, message: &str) {
    assert_eq!(receipt.state, ReceiptState::Failed, "{receipt:?}");
    assert_eq!(receipt.error_code.as_deref(), Some(code));
    assert_eq!(receipt.error_message.as_deref(), Some(message));
    let first_alarm = receipt.updated_at + SignedDuration::from_hours(1);
    assert_eq!(
        (receipt.next_action_at, receipt.sending.lease_until),
        (Some(first_alarm), None)
    );
    assert!(receipt.fiscal.signed.is_some(), "the bytes stay for the retry");
}

#[tokio::test]
async fn a_document_refused_outright_fails_with_the_authoritys_words() {
    let shapes = [
        ("text", "refused"),
        ("json_string", "refused"),
        ("mensaje", "refused"),
        ("error", "refused"),
        ("mensajes", "3243"),
        ("mensajes_text", "refused"),
    ];
    for (encf, service) in [("E310000000001", "recepcion"), ("E320000000001", "recepcionfc")] {
        for (shape, code) in shapes {
            let mut world = World::start().await;
            let fault = json!({ "service": service, "fault": shape, "mensaje": WORDS, "codigo": "3243", "times": 1 });
            world.authority.order(fault).await;
            let issued = world.issue(encf).await;
            world.run().await;
            let receipt = world.receipt(&issued).await;
            assert_failed(&receipt, code, WORDS);
            let answer: Value = serde_json::from_str(receipt.taxauth_response.as_deref().unwrap()).unwrap();
            let quoted = serde_json::to_string(WORDS).unwrap();
            let kept = answer.to_string();
            assert!(
                kept.contains(quoted.trim_matches('"')) || kept.contains("130000001"),
                "{shape}: {kept}"
            );
            assert_eq!(world.authority.submissions(encf).await, 0);
            // Whatever still comes for it, nothing is sent until a person decides.
            world.queue(&ecf_testkit::send_job(&issued));
            world.run().await;
            assert_eq!(world.authority.submissions(encf).await, 0);
        }
    }
}

#[tokio::test]
async fn a_refusal_without_words_says_so() {
    let mut world = World::start().await;
    let fault = json!({ "service": "recepcion", "fault": "empty", "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue("E310000000001").await;
    world.run().await;
    let receipt = world.receipt(&issued).await;
    assert_failed(
        &receipt,
        "refused",
        "the tax authority refused the document without a word",
    );
}

#[tokio::test]
async fn a_certificate_that_is_not_delegated_stops_its_receipts_before_anything_is_claimed() {
    let mut world = World::start().await;
    world
        .authority
        .set("certificates/00100000001", json!({ "rncs": [] }))
        .await;
    let issued = world.issue("E310000000001").await;
    // A delegation may be on its way: it is not believed at once.
    assert!(world.step().await);
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Signed);
    world.run().await;
    let receipt = world.receipt(&issued).await;
    let words = "El RNC 00100000001 del certificado no está delegado para realizar transaciones.";
    assert_failed(&receipt, "certificate_refused", words);
    assert!(receipt.taxauth_response.unwrap().contains("no está delegado"));
    assert_eq!(
        receipt.sending.attempts, 0,
        "it can still be cancelled: nothing was ever sent"
    );
    assert_eq!(world.authority.answers("recepcion", 200).await, 0);
}

#[tokio::test]
async fn c14_a_certificate_of_the_wrong_kind_stops_its_receipts_at_once_and_says_what_to_do() {
    let words = "Tipo de certificado no admitido";
    for order in [
        json!({ "service": "autenticacion", "fault": "json_string", "mensaje": words }),
        json!({ "service": "autenticacion", "fault": "status", "status": 400, "body": json!({ "mensaje": words, "errores": ["KeyInfo"] }).to_string() }),
    ] {
        let mut world = World::start().await;
        world.authority.order(order).await;
        let issued = world.issue("E310000000001").await;
        assert!(world.step().await);
        let receipt = world.receipt(&issued).await;
        assert_eq!(receipt.state, ReceiptState::Failed, "no attempt mends it");
        assert_eq!(receipt.error_code.as_deref(), Some("certificate_refused"));
        let message = receipt.error_message.unwrap();
        assert!(
            message.starts_with(words) && message.contains("upload the right P12"),
            "{message}"
        );
        assert_eq!(receipt.sending.attempts, 0);
        world.run().await;
        assert_eq!(world.authority.answers("recepcion", 200).await, 0);
    }
}

#[tokio::test]
async fn a_delegation_that_comes_in_time_saves_the_receipt() {
    let mut world = World::start().await;
    world
        .authority
        .set("certificates/00100000001", json!({ "rncs": [] }))
        .await;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    world.authority.unset("certificates/00100000001").await;
    world.run().await;
    assert_eq!(world.receipt(&issued).await.state, ReceiptState::Accepted);
}

#[tokio::test]
async fn a_lost_send_is_not_given_up_because_of_the_certificate() {
    let mut world = World::start().await;
    let fault = json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 });
    world.authority.order(fault).await;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    // From here on there is no token to look it up with.
    world.advance(jiff::SignedDuration::from_mins(61));
    world
        .authority
        .set("certificates/00100000001", json!({ "rncs": [] }))
        .await;
    world.run().await;
    let receipt = world.receipt(&issued).await;
    assert_eq!((receipt.state, receipt.sending.attempts), (ReceiptState::Signed, 1));
    assert!(receipt.sending.lease_until.is_some() && receipt.next_action_at.is_some());
    world.authority.unset("certificates/00100000001").await;
    assert_eq!(world.run_until_quiet(&issued).await.state, ReceiptState::Accepted);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn a_company_without_a_certificate_is_told_so() {
    let mut world = World::start().await;
    world.company = world
        .stack
        .company_builder()
        .rnc("131880681")
        .without_certificate()
        .without_ranges()
        .build()
        .await;
    let issued = world.issue("E310000000001").await;
    world.run().await;
    let message = "the company has no certificate: upload its P12, then retry";
    assert_failed(&world.receipt(&issued).await, "certificate_missing", message);
}
