//! Deliveries to other issuers and to the authority are recovered by the due index.

use ecf::ReceiptState;
use ecf::catalogue::EstadoAprobacion;
use ecf_store::{
    AnnulmentId, ApprovalId, ContentHash, ExchangeJob, ReceiptJob,
    annulments::{Annulment, AnnulmentState},
    approvals::{Approval, ApprovalWay, Transmission},
    receipts::{OutboxEntry, Verdict},
};
use ecf_testkit::Queue;
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::World;

const TEN_MINUTES: SignedDuration = SignedDuration::from_mins(10);

impl World {
    async fn exchange_jobs(&self) -> Vec<ExchangeJob> {
        let bodies = self.stack.take_messages(Queue::Exchange).await;
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }
}

#[tokio::test]
async fn a_delivery_whose_message_was_lost_is_queued_again_until_it_is_done() {
    let world = World::start().await;
    let receipt = world.submitted("E310000000001").await;
    let (table, scope, id) = (world.stack.table(), receipt.scope, receipt.public_id);
    let verdict = Verdict {
        state: ReceiptState::Accepted,
        track_id: None,
        error_code: None,
        error_message: None,
        secuencia_utilizada: None,
        taxauth_response: None,
        outbox: vec![OutboxEntry::Webhook, OutboxEntry::Exchange],
    };
    table.record_verdict(&scope, &id, verdict, world.now()).await.unwrap();
    let job = |attempt| {
        ExchangeJob::Deliver(ReceiptJob {
            scope,
            receipt: id,
            attempt,
        })
    };
    // The approval is enqueued for both recipients that do not have it yet.
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(
        (world.exchange_jobs().await, world.events().await.len()),
        (vec![job(0)], 1)
    );
    table.outbox_done(&scope, &id, OutboxEntry::Webhook).await.unwrap();
    let seen = world.receipt(&receipt).await;
    let until = world.now() + SignedDuration::from_mins(3);
    assert!(table.claim_delivery(&seen, world.now(), until).await.unwrap());
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(
        (world.exchange_jobs().await, world.events().await.len()),
        (vec![job(1)], 0)
    );
    table.outbox_done(&scope, &id, OutboxEntry::Exchange).await.unwrap();
    world.advance(TEN_MINUTES * 6);
    run(&world.app).await.unwrap();
    assert_eq!(
        (world.exchange_jobs().await, world.submissions().await.len()),
        (vec![], 0)
    );
}

#[tokio::test]
async fn approvals_and_annulments_whose_requests_died_are_queued() {
    let world = World::start().await;
    let (table, scope, now) = (world.stack.table(), world.company.scope, world.now());
    let approval = Approval {
        id: ApprovalId::of("submit", &scope, "answer"),
        way: ApprovalWay::Submit,
        idempotency_key: "answer".to_owned(),
        rnc_emisor: "101672919".parse().unwrap(),
        rnc_comprador: world.company.rnc.clone(),
        encf: "E310000000001".parse().unwrap(),
        estado: EstadoAprobacion::Aceptado,
        reason: None,
        acecf: ContentHash::of(b""),
        receiver_url: None,
        receipt_unknown: false,
        created_at: now,
        issuer: Transmission::PENDING,
        authority: Transmission::PENDING,
        authority_answer: None,
        attempts: 0,
        next_action_at: None,
    };
    table.create_approval(&scope, &approval, true).await.unwrap();
    let annulment = Annulment {
        id: AnnulmentId::of(&scope, "void"),
        idempotency_key: "void".to_owned(),
        ranges: vec![("E310000000010".parse().unwrap(), "E310000000019".parse().unwrap())],
        anecf: ContentHash::of(b""),
        created_at: now,
        completed_at: None,
        state: AnnulmentState::Pending,
        words: None,
        answer: None,
        attempts: 0,
        has_lost_answer: false,
        next_action_at: None,
    };
    table.create_annulment(&scope, &annulment).await.unwrap();
    run(&world.app).await.unwrap();
    assert_eq!(world.exchange_jobs().await, []);
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    let mut jobs = world.exchange_jobs().await;
    jobs.sort_by_key(|job| matches!(job, ExchangeJob::Annulment { .. }));
    assert_eq!(
        jobs,
        [
            ExchangeJob::Approval {
                scope,
                approval: approval.id,
                attempt: 0,
            },
            ExchangeJob::Annulment {
                scope,
                annulment: annulment.id,
                attempt: 0,
            },
        ]
    );
}
