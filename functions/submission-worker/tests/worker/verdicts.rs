//! The verdicts, from the claim to the event.

use ecf::ReceiptState;
use ecf_store::{fiscal_day, receipts::OutboxEntry};
use ecf_testkit::EmittedMetrics;
use serde_json::{Value, json};

use crate::world::World;

impl World {
    async fn ended(&self) -> Vec<(String, ReceiptState, u64)> {
        let today = fiscal_day(self.now());
        let counts = self.stack.table().day_counts(&self.company.scope, today, today).await;
        let ended = counts.unwrap().into_iter().flat_map(|day| day.ended);
        ended
            .map(|((ecf_type, state), count)| (ecf_type.to_string(), state, count))
            .collect()
    }
}

#[tokio::test]
async fn the_operator_is_told_of_a_verdict_and_of_its_time() {
    let mut world = World::start().await;
    let (metrics, told) = EmittedMetrics::metrics();
    world.app.metrics = metrics;
    let issued = world.issue("E310000000001").await;
    assert!(world.step().await);
    assert_eq!(told.take(), [""; 0]);
    assert!(world.step().await);
    let seconds = world.now().duration_since(issued.created_at).as_secs().unsigned_abs();
    let seconds_told = format!("VerdictSeconds of TesteCF: {seconds}");
    assert_eq!(told.take(), ["ReceiptsAccepted of TesteCF: 1", &seconds_told]);
    assert!(seconds > 0);
}

#[tokio::test]
async fn the_operator_is_told_of_an_authority_that_does_not_answer() {
    let mut world = World::with_authority_at("http://127.0.0.1:9").await;
    let (metrics, told) = EmittedMetrics::metrics();
    world.app.metrics = metrics;
    world.issue("E310000000001").await;
    assert!(world.step().await);
    assert_eq!(told.take(), ["TaxauthErrors of TesteCF: 1"]);
    world.lose_messages();
}

#[tokio::test]
async fn a_receipt_is_sent_asked_for_and_accepted() {
    let mut world = World::start().await;
    let issued = world.issue("E310000000001").await;

    assert!(world.step().await);
    let submitted = world.receipt(&issued).await;
    assert_eq!(submitted.state, ReceiptState::Submitted);
    assert_eq!((submitted.sending.attempts, submitted.sending.lease_until), (1, None));
    let documents = world.authority.documents("E310000000001").await;
    assert_eq!(documents[0]["trackIds"], json!([submitted.sending.track_id]));
    // The authority has the very bytes that were signed.
    let signed = issued.fiscal.signed.as_ref().unwrap();
    assert_eq!(documents[0]["sha256"], signed.signed_xml.to_string());
    assert_eq!(world.events, []);

    assert!(world.step().await);
    let accepted = world.receipt(&issued).await;
    assert_eq!(accepted.state, ReceiptState::Accepted);
    assert_eq!(accepted.sending.track_id, submitted.sending.track_id);
    assert_eq!(accepted.completed_at, Some(world.now()));
    assert_eq!(accepted.outbox, [OutboxEntry::Webhook, OutboxEntry::Exchange]);
    assert_eq!(world.deliveries.len(), 1);
    assert_eq!((accepted.error_code, accepted.error_message), (None, None));
    let answer: Value = serde_json::from_str(accepted.taxauth_response.as_deref().unwrap()).unwrap();
    assert_eq!((&answer["codigo"], &answer["estado"]), (&json!(1), &json!("Aceptado")));
    // Until its event is delivered, the receipt stays where housekeeping finds it.
    assert_eq!(accepted.next_action_at, issued.next_action_at);
    assert_eq!(world.events_of(&issued), 1);
    assert!(world.is_idle());
    assert_eq!(world.ended().await, [("31".to_owned(), ReceiptState::Accepted, 1)]);
    assert_eq!(world.authority.submissions("E310000000001").await, 1);
}

#[tokio::test]
async fn a_small_consumer_invoice_goes_as_its_summary_and_is_judged_at_once() {
    let mut world = World::start().await;
    let issued = world.issue("E320000000001").await;
    assert!(world.step().await);
    assert!(world.is_idle());
    let accepted = world.receipt(&issued).await;
    assert_eq!(accepted.state, ReceiptState::Accepted);
    assert_eq!((accepted.sending.track_id, accepted.sending.lease_until), (None, None));
    let documents = world.authority.documents("E320000000001").await;
    assert_eq!(documents.len(), 1);
    assert_eq!(documents[0]["kind"], "RFCE");
    let rfce = issued.fiscal.signed.unwrap().rfce.unwrap();
    assert_eq!(documents[0]["sha256"], rfce.to_string());
    assert_eq!(world.events.len(), 1);
    assert_eq!(world.ended().await, [("32".to_owned(), ReceiptState::Accepted, 1)]);
}

#[tokio::test]
async fn a_conditional_acceptance_keeps_the_authoritys_remarks() {
    for (encf, service) in [("E310000000001", "recepcion"), ("E320000000001", "recepcionfc")] {
        let mut world = World::start().await;
        let fault = json!({ "service": service, "fault": "conditional", "codigo": "2330", "mensaje": "El MontoTotal no cuadra.", "times": 1 });
        world.authority.order(fault).await;
        let issued = world.issue(encf).await;
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(receipt.state, ReceiptState::ConditionallyAccepted, "{encf}");
        assert_eq!(receipt.error_code.as_deref(), Some("2330"));
        assert_eq!(receipt.error_message.as_deref(), Some("El MontoTotal no cuadra."));
        assert_eq!(world.events_of(&issued), 1);
    }
}

#[tokio::test]
async fn a_rejection_keeps_code_words_and_whether_the_number_is_burned() {
    for (encf, service) in [("E310000000001", "recepcion"), ("E320000000001", "recepcionfc")] {
        for burned in [true, false] {
            let mut world = World::start().await;
            let fault = json!({
                "service": service, "fault": "reject", "codigo": "614", "mensaje": "NCF Modificado no emitido.",
                "secuenciaUtilizada": burned, "times": 1,
            });
            world.authority.order(fault).await;
            let issued = world.issue(encf).await;
            world.run().await;
            let receipt = world.receipt(&issued).await;
            assert_eq!(receipt.state, ReceiptState::Rejected, "{encf}");
            assert_eq!(receipt.error_code.as_deref(), Some("614"));
            assert_eq!(receipt.error_message.as_deref(), Some("NCF Modificado no emitido."));
            assert_eq!(receipt.secuencia_utilizada, Some(burned));
            let answer: Value = serde_json::from_str(receipt.taxauth_response.as_deref().unwrap()).unwrap();
            assert_eq!(answer["secuenciaUtilizada"], burned);
            assert_eq!(world.events_of(&issued), 1);
            assert_eq!(world.ended().await.len(), 1);
        }
    }
}

#[tokio::test]
async fn answers_are_understood_as_they_were_seen_in_real_traffic() {
    let mut world = World::start().await;
    world.authority.set("shapes", json!({ "observed": true })).await;
    for encf in ["E310000000001", "E320000000001"] {
        let issued = world.issue(encf).await;
        world.run().await;
        let receipt = world.receipt(&issued).await;
        assert_eq!(receipt.state, ReceiptState::Accepted, "{encf}");
        assert_eq!((receipt.error_code, receipt.error_message), (None, None));
    }
}
