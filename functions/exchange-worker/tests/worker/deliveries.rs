//! Delivery of an accepted receipt to its buyer.

use ecf::catalogue::EstadoAprobacion;
use ecf::{Environment, ReceiptState};
use ecf_store::{
    ArtifactKind, ContentHash, ForeignText, Receipt,
    due::{DueRecord, SHARDS},
    receipts::{AnswerRecorded, BuyerAnswer, BuyerDelivery, DeliveryState},
};
use ecf_testkit::{PeerAnswer, sign_foreign};
use ecf_webhooks::News;
use jiff::SignedDuration;
use serde_json::json;

use crate::{BUYER, ENCF, World};

/// The reason, in English and Spanish.
fn in_both(delivery: &BuyerDelivery) -> Option<(&str, &str)> {
    delivery.words.as_ref().map(|words| (&*words.en, &*words.es))
}

#[tokio::test]
async fn a_receipt_is_delivered_with_a_token_and_its_acknowledgement_is_kept() {
    let world = World::start().await;
    world.list_peer().await;
    world.peer.demand_token();
    let receipt = world.accepted().await;
    world.run(world.deliver(&receipt, 0)).await;

    let sent = world.peer.documents("recepcion");
    let [sent] = sent.as_slice() else { panic!("{sent:?}") };
    let text = String::from_utf8_lossy(&sent.body);
    assert!(text.contains("filename=\"130000001E310000000001.xml\""), "{text}");
    let (table, artifacts) = (world.stack.table(), world.stack.artifacts());
    let (scope, id) = (&world.company.scope, &receipt.public_id);
    let signed = receipt.fiscal.signed.as_ref().unwrap().signed_xml;
    let xml = artifacts
        .get(scope, receipt.created_at, id, ArtifactKind::SignedXml, &signed)
        .await;
    let xml = String::from_utf8(xml.unwrap().unwrap().to_vec()).unwrap();
    assert!(text.contains(&xml), "the bytes that were signed are sent");

    let now = world.receipt(&receipt).await;
    let delivery = now.buyer.delivery.unwrap();
    assert_eq!(
        (delivery.state, delivery.attempts, delivery.words),
        (DeliveryState::Received, 1, None)
    );
    let arecf = artifacts
        .get(
            scope,
            receipt.created_at,
            id,
            ArtifactKind::Arecf,
            &delivery.arecf.unwrap(),
        )
        .await;
    assert!(xmldsig::verify(&arecf.unwrap().unwrap(), &xmldsig::Limits::default()).is_ok());
    assert_eq!((now.outbox, now.next_action_at), (vec![], None));

    // A repeated message has no effect.
    world.run(world.deliver(&receipt, 0)).await;
    assert_eq!(world.peer.documents("recepcion").len(), 1);
    assert_eq!(
        table
            .receipt(scope, id)
            .await
            .unwrap()
            .unwrap()
            .buyer
            .delivery
            .unwrap()
            .attempts,
        1
    );
}

#[tokio::test]
async fn what_fails_is_tried_again_over_days_and_then_given_up() {
    let world = World::start().await;
    world.list_peer().await;
    let receipt = world.accepted().await;
    for _ in 0..20 {
        world.peer.answer_next(PeerAnswer::Status(503));
    }
    world.run(world.deliver(&receipt, 0)).await;
    // The first delays are messages; the test kit's queue ignores delays, so three attempts are made at once.
    let delivery = world.delivery(&receipt).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Pending, 4));
    assert_eq!(
        in_both(&delivery),
        Some((
            "the buyer's receiver answered with status 503",
            "el receptor del comprador respondió con el código HTTP 503"
        ))
    );
    let mut last = delivery.attempts;
    for _ in 0..40 {
        let Some(next) = world.receipt(&receipt).await.next_action_at else {
            break;
        };
        let wait = next.duration_since(world.stack.clock().now());
        world.stack.clock().advance(wait + SignedDuration::from_secs(1));
        world.run(world.deliver(&receipt, last)).await;
        last = world.delivery(&receipt).await.attempts;
    }
    let delivery = world.delivery(&receipt).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::GivenUp, 13));
    let days = delivery.at.duration_since(receipt.created_at).as_hours() / 24;
    assert!((2..=4).contains(&days), "{days}");
    assert_eq!(world.receipt(&receipt).await.outbox, vec![]);
}

#[tokio::test]
async fn an_answer_that_was_lost_is_a_duplicate_the_next_time() {
    let world = World::start().await;
    world.list_peer().await;
    let receipt = world.accepted().await;
    world.peer.answer_next(PeerAnswer::Status(504));
    world.peer.answer_next(PeerAnswer::NotReceived(3));
    world.run(world.deliver(&receipt, 0)).await;
    let delivery = world.delivery(&receipt).await;
    assert_eq!(
        (delivery.state, in_both(&delivery)),
        (
            DeliveryState::Received,
            Some(("an earlier attempt had arrived", "había llegado un intento anterior"))
        )
    );
}

#[tokio::test]
async fn what_the_buyer_says_is_kept_with_its_reason() {
    let world = World::start().await;
    world.list_peer().await;
    let receipt = world.accepted().await;
    world.peer.answer_next(PeerAnswer::NotReceived(4));
    world.run(world.deliver(&receipt, 0)).await;
    let delivery = world.delivery(&receipt).await;
    assert_eq!(
        (delivery.state, in_both(&delivery)),
        (
            DeliveryState::NotReceived,
            Some(("4 RNC Comprador no corresponde", "4 RNC Comprador no corresponde"))
        )
    );
}

#[tokio::test]
async fn an_acknowledgement_that_is_none_is_told_as_such() {
    let arecf = |encf: &str| {
        format!(
            "<ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>130000001</RNCEmisor><RNCComprador>{BUYER}</RNCComprador>\
<eNCF>{encf}</eNCF><Estado>0</Estado><FechaHoraAcuseRecibo>27-11-2026 12:00:00</FechaHoraAcuseRecibo></DetalleAcusedeRecibo></ARECF>"
        )
    };
    let unsigned = ["its signature does not verify: ", "no se pudo verificar su firma: "];
    for (bytes, [english, spanish]) in [
        (b"OK".to_vec(), unsigned),
        (arecf(ENCF).into_bytes(), unsigned),
        (
            sign_foreign(&arecf("E310000000002")),
            ["its eNCF is not the receipt's", "su eNCF no es el del comprobante"],
        ),
        (
            sign_foreign("<ARECF></ARECF>"),
            ["it is no ARECF: ", "no es un ARECF: "],
        ),
    ] {
        let world = World::start().await;
        world.list_peer().await;
        let receipt = world.accepted().await;
        world.peer.answer_next(PeerAnswer::Bytes(bytes));
        world.run(world.deliver(&receipt, 0)).await;
        let delivery = world.delivery(&receipt).await;
        assert_eq!(delivery.state, DeliveryState::Unverified);
        let (en, es) = in_both(&delivery).unwrap();
        assert!(en.starts_with(english) && es.starts_with(spanish), "{delivery:?}");
        assert!(delivery.arecf.is_some());
    }
}

#[tokio::test]
async fn which_receipts_go_to_their_buyers() {
    let world = World::start().await;
    let receipt = world.accepted().await;
    let of = |ecf_type: &str| Receipt {
        fiscal: ecf_store::receipts::Fiscal {
            ecf_type: ecf_type.parse().unwrap(),
            ..receipt.fiscal.clone()
        },
        ..receipt.clone()
    };
    let accepted = ReceiptState::Accepted;
    for ecf_type in ["31", "33", "34", "44"] {
        assert!(of(ecf_type).goes_to_buyer(accepted, false), "{ecf_type}");
    }
    for ecf_type in ["32", "41", "43", "46", "47"] {
        assert!(!of(ecf_type).goes_to_buyer(accepted, true), "{ecf_type}");
    }
    assert!(of("45").goes_to_buyer(accepted, true) && !of("45").goes_to_buyer(accepted, false));
    assert!(receipt.goes_to_buyer(ReceiptState::ConditionallyAccepted, false));
    assert!(!receipt.goes_to_buyer(ReceiptState::Rejected, false));
    let anonymous = Receipt {
        fiscal: ecf_store::receipts::Fiscal {
            rnc_comprador: None,
            ..receipt.fiscal.clone()
        },
        ..receipt.clone()
    };
    assert!(!anonymous.goes_to_buyer(accepted, false));
    let mut certified = receipt.clone();
    certified.scope.environment = Environment::CerteCF;
    assert!(!certified.goes_to_buyer(accepted, false));
}

#[tokio::test]
async fn a_buyer_outside_the_directory_gets_nothing() {
    let world = World::start().await;
    let receipt = world.accepted().await;
    world.run(world.deliver(&receipt, 0)).await;
    assert_eq!(world.delivery(&receipt).await.state, DeliveryState::NotListed);
    assert_eq!(world.receipt(&receipt).await.outbox, vec![]);
    assert_eq!(world.peer.received().len(), 0);
}

#[tokio::test]
async fn what_replaces_a_paper_receipt_is_for_the_authority_alone() {
    let world = World::start().await;
    world.list_peer().await;
    let invoice = world.stack.signed_receipt(&world.company, ENCF).await;
    let note = world
        .stack
        .signed_note(&world.company, "E330000000001", &invoice, 4, "100.00")
        .await;
    let (table, scope) = (world.stack.table(), &world.company.scope);
    let modified = table
        .modified_receipt(scope, invoice.encf().unwrap())
        .await
        .unwrap()
        .unwrap();
    let now = world.stack.clock().now();
    table.clear_note(scope, &note, &modified, now).await.unwrap();
    let note = world.accept(&note).await;
    world.run(world.deliver(&note, 0)).await;
    assert_eq!(world.delivery(&note).await.state, DeliveryState::NotSent);
    assert_eq!(world.peer.received().len(), 0);
}

/// A deployed service calls only public addresses over https, also if the directory has others.
#[tokio::test]
async fn an_address_that_leads_inside_is_not_called() {
    let world = World::with(&[("AllowLoopbackTargets", "false")]).await;
    let receipt = world.accepted().await;
    for url in [
        world.peer.url(),
        "https://127.0.0.1/".to_owned(),
        "https://169.254.169.254/latest".to_owned(),
        "https://localhost".to_owned(),
        "file:///etc".to_owned(),
    ] {
        world
            .list(&json!({ "nombre": "X", "urlRecepcion": url, "urlAceptacion": url, "urlOpcional": "" }))
            .await;
        // The directory's cache holds an entry for at least a minute.
        world.stack.clock().advance(SignedDuration::from_hours(7));
        let attempt = world.receipt(&receipt).await.delivery_attempts();
        world.run(world.deliver(&receipt, attempt)).await;
        let delivery = world.delivery(&receipt).await;
        assert_eq!(delivery.state, DeliveryState::Pending, "{url}");
        assert!(
            in_both(&delivery).is_some_and(|(en, es)| en.contains("not called") && es.contains("no se llama")),
            "{url}: {delivery:?}"
        );
    }
    assert_eq!(world.peer.received().len(), 0);
}

/// A crash during an attempt leaves a lease, and the due index recovers the receipt.
#[tokio::test]
async fn an_attempt_that_died_is_found_on_the_due_index() {
    let world = World::start().await;
    world.list_peer().await;
    let receipt = world.accepted().await;
    let (table, now) = (world.stack.table(), world.stack.clock().now());
    let until = now + SignedDuration::from_mins(3);
    assert!(table.claim_delivery(&receipt, now, until).await.unwrap());
    assert!(!table.claim_delivery(&receipt, now, until).await.unwrap());
    let mut due = Vec::new();
    for shard in 0..SHARDS {
        due.extend(table.due_now(shard, until, 10).await.unwrap().entries);
    }
    let found: Vec<_> = due.iter().map(|entry| entry.record).collect();
    assert_eq!(found, [DueRecord::Receipt(receipt.public_id)]);
    world.run(world.deliver(&receipt, 1)).await;
    let delivery = world.delivery(&receipt).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Received, 2));
}

/// A record has at most 400 KB: texts of strangers must not make it too large to change.
#[tokio::test]
async fn s4_the_largest_texts_of_a_buyer_leave_its_receipt_changeable() {
    let world = World::start().await;
    world.list_peer().await;
    let receipt = world.accepted().await;
    let (table, now) = (world.stack.table(), world.stack.clock().now());
    let largest = || ForeignText::from("x".repeat(1_000_000));
    let answer = BuyerAnswer {
        estado: EstadoAprobacion::Rechazado,
        reason: Some(largest()),
        acecf: ContentHash::of(b"<ACECF/>"),
        received_at: now,
        signer: largest(),
        signer_trusted: false,
    };
    let news = News::ApprovalReceived {
        receipt: &receipt,
        answer: &answer,
    };
    let news = news.announcement(&receipt.scope, world.company.rnc.as_str(), now);
    let recorded = table.record_buyer_answer(&receipt.scope, &receipt.public_id, &answer, &news);
    assert_eq!(recorded.await.unwrap(), AnswerRecorded::Now);
    world.peer.answer_next(PeerAnswer::Bytes(vec![b'x'; 1_000_000]));
    world.run(world.deliver(&receipt, 0)).await;
    let kept = world.receipt(&receipt).await;
    assert_eq!(kept.buyer.delivery.unwrap().state, DeliveryState::Unverified);
    assert_eq!(
        kept.buyer.answer.unwrap().reason.unwrap().len(),
        ForeignText::MOST_BYTES
    );
    assert_eq!(kept.outbox, vec![]);
}
