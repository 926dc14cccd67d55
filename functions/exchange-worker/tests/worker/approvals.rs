//! Approvals and annulments that a request left unfinished.

use ecf_store::{
    AnnulmentId, ApprovalId, ArtifactKind, ExchangeJob,
    annulments::{Annulment, AnnulmentState},
    approvals::{Approval, ApprovalWay, Transmission, TransmissionState},
};
use ecf_testkit::{PeerAnswer, sign_foreign};
use jiff::SignedDuration;
use serde_json::json;

use crate::{BUYER, ENCF, World};

impl World {
    /// An approval that was not delivered yet, as a crashed request leaves it.
    async fn approval(&self) -> Approval {
        let (scope, now) = (&self.company.scope, self.stack.clock().now());
        let xml = sign_foreign("<ACECF></ACECF>");
        let id = ApprovalId::of("submit", scope, "answer");
        let kept = self.stack.artifacts();
        let acecf = kept
            .put_message(scope, now, &id, ArtifactKind::Acecf, xml)
            .await
            .unwrap();
        let approval = Approval {
            id,
            way: ApprovalWay::Submit,
            idempotency_key: "answer".to_owned(),
            rnc_emisor: BUYER.parse().unwrap(),
            rnc_comprador: self.company.rnc.clone(),
            encf: ENCF.parse().unwrap(),
            estado: ecf::catalogue::EstadoAprobacion::Aceptado,
            reason: None,
            acecf,
            receiver_url: None,
            receipt_unknown: false,
            created_at: now,
            issuer: Transmission::PENDING,
            authority: Transmission::PENDING,
            authority_answer: None,
            attempts: 0,
            next_action_at: None,
        };
        self.stack
            .table()
            .create_approval(scope, &approval, true)
            .await
            .unwrap();
        approval
    }

    fn job(&self, approval: &Approval, attempt: u32) -> ExchangeJob {
        ExchangeJob::Approval {
            scope: self.company.scope,
            approval: approval.id,
            attempt,
        }
    }

    async fn now(&self, approval: &Approval) -> Approval {
        let table = self.stack.table();
        table
            .approval(&self.company.scope, &approval.id)
            .await
            .unwrap()
            .unwrap()
    }
}

#[tokio::test]
async fn whoever_was_told_is_not_told_again() {
    let world = World::start().await;
    world.list_peer().await;
    let approval = world.approval().await;
    world.peer.answer_next(PeerAnswer::Status(503));
    // The second attempt follows at once: the test kit's queue ignores delays.
    world.run(world.job(&approval, 0)).await;
    let now = world.now(&approval).await;
    assert_eq!((now.attempts, now.issuer.state), (2, TransmissionState::Taken));
    // The authority rejects this message, which is its final answer.
    assert_eq!(now.authority.state, TransmissionState::Refused);
    assert!(now.authority_answer.is_some());
    assert_eq!(now.next_action_at, None);
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 2);
    world.run(world.job(&approval, 0)).await;
    world.run(world.job(&approval, 2)).await;
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 2);
}

#[tokio::test]
async fn who_cannot_be_told_for_days_is_given_up() {
    let world = World::start().await;
    world.list_peer().await;
    let approval = world.approval().await;
    for _ in 0..20 {
        world.peer.answer_next(PeerAnswer::Status(500));
    }
    let mut attempt = 0;
    for _ in 0..40 {
        world.run(world.job(&approval, attempt)).await;
        let now = world.now(&approval).await;
        let Some(next) = now.next_action_at else { break };
        attempt = now.attempts;
        let wait = next.duration_since(world.stack.clock().now());
        world.stack.clock().advance(wait + SignedDuration::from_secs(1));
    }
    let now = world.now(&approval).await;
    assert_eq!((now.attempts, now.issuer.state), (13, TransmissionState::GivenUp));
}

impl World {
    /// Runs an unfinished annulment of the numbers 10 to 19, and returns its state afterwards.
    async fn annul(&self) -> Annulment {
        let annulment = self.store_annulment().await;
        self.annul_again(&annulment).await
    }

    async fn store_annulment(&self) -> Annulment {
        let (scope, now) = (&self.company.scope, self.stack.clock().now());
        let range = ("E310000000010".parse().unwrap(), "E310000000019".parse().unwrap());
        let at = ecf::FechaHora::at(now);
        let anecf = ecf::messages::Anecf::new(self.company.rnc.clone(), [range], at).unwrap();
        let id = AnnulmentId::of(scope, "void");
        let xml = sign_foreign(&String::from_utf8(anecf.to_xml()).unwrap());
        let kept = self.stack.artifacts();
        let anecf = kept
            .put_message(scope, now, &id, ArtifactKind::Anecf, xml)
            .await
            .unwrap();
        let annulment = Annulment {
            id,
            idempotency_key: "void".to_owned(),
            ranges: vec![range],
            anecf,
            created_at: now,
            completed_at: None,
            state: AnnulmentState::Pending,
            words: None,
            answer: None,
            attempts: 0,
            has_lost_answer: false,
            next_action_at: None,
        };
        self.stack.table().create_annulment(scope, &annulment).await.unwrap();
        annulment
    }

    /// Makes the next attempt.
    async fn annul_again(&self, annulment: &Annulment) -> Annulment {
        let scope = &self.company.scope;
        let job = ExchangeJob::Annulment {
            scope: *scope,
            annulment: annulment.id,
            attempt: annulment.attempts,
        };
        self.run(job).await;
        let now = self.stack.table().annulment(scope, &annulment.id).await;
        now.unwrap().unwrap()
    }

    async fn locks(&self) -> usize {
        let table = self.stack.table();
        let locks = table.locks(&self.company.scope, ecf::ReceiptType::E31, 1, 30).await;
        locks.unwrap().len()
    }
}

#[tokio::test]
async fn an_annulment_whose_request_died_is_finished() {
    let world = World::start().await;
    let now = world.annul().await;
    assert_eq!(
        (now.state, now.attempts, now.next_action_at),
        (AnnulmentState::Accepted, 1, None)
    );
    assert_eq!(world.locks().await, 10);
}

/// The worker's role lacked a permission, and no test had the worker use it.
#[tokio::test]
async fn k4_an_annulment_that_is_refused_later_gives_its_numbers_back() {
    let world = World::start().await;
    let refusal = json!({
        "service": "anulacionrangos", "fault": "status", "status": 200, "times": 1,
        "body": r#"{"rnc":"130000001","codigo":"2","nombre":"X","mensajes":["Las secuencias han sido utilizadas."]}"#,
    });
    world.order(&refusal).await;
    assert_eq!(world.annul().await.state, AnnulmentState::Refused);
    assert_eq!(world.locks().await, 0);
}

/// Regression: numbers that the authority had annulled became free, because the rejection of the second message was
/// taken for an answer to the first.
#[tokio::test]
async fn r9_an_annulment_whose_worker_died_keeps_its_numbers_when_the_authority_refuses_to_annul_them_twice() {
    let world = World::start().await;
    let kept = world.store_annulment().await;
    let (table, now) = (world.stack.table(), world.stack.clock().now());
    let until = now + SignedDuration::from_mins(1);
    let claimed = table.claim_annulment(&world.company.scope, &kept, now, until).await;
    assert!(claimed.unwrap(), "the worker that dies has begun");
    world.stack.clock().advance(SignedDuration::from_mins(2));
    let refusal = json!({
        "service": "anulacionrangos", "fault": "status", "status": 200, "times": 1,
        "body": r#"{"rnc":"130000001","codigo":"2","nombre":"X","mensajes":["Las secuencias han sido utilizadas."]}"#,
    });
    world.order(&refusal).await;
    let attempted = Annulment { attempts: 1, ..kept };
    let now = world.annul_again(&attempted).await;
    assert_eq!((now.state, now.attempts), (AnnulmentState::Refused, 2));
    let words = now.words.unwrap();
    assert!(
        words.en.contains("the answer to an earlier attempt was lost"),
        "{words:?}"
    );
    assert!(
        words.es.contains("se perdió la respuesta a un intento anterior"),
        "{words:?}"
    );
    assert_eq!(world.locks().await, 10);
}
