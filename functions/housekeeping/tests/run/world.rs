//! A deployment with receipts in every state.

use ecf::ReceiptState;
use ecf_store::{
    IssuingJob, Receipt, ReceiptId, SubmissionJob, WebhookJob,
    breaker::{Breaker, Cause, Host, OpenBreaker},
    receipts::{Created, Failure, Mode, NewReceipt, OutboxEntry, Particulars, Recorded, Verdict},
};
use ecf_testkit::{Queue, TestCompany, TestStack};
use housekeeping::App;
use jiff::{SignedDuration, Timestamp};

pub(crate) const TEN_MINUTES: SignedDuration = SignedDuration::from_mins(10);
const LEASE: SignedDuration = SignedDuration::from_secs(90);

pub(crate) struct World {
    pub(crate) stack: TestStack,
    pub(crate) company: TestCompany,
    pub(crate) app: App,
}

impl World {
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company_builder().without_ranges().build().await;
        let app = App::from_env(
            &stack.env("housekeeping"),
            &stack.clients_of("housekeeping"),
            stack.clock().clone(),
        )
        .unwrap();
        Self { stack, company, app }
    }

    /// Opens a circuit breaker now.
    pub(crate) async fn open_breaker(&self, host: Host) {
        let open = OpenBreaker {
            since: self.now(),
            cause: Cause::Failures,
            probe_at: self.now() + SignedDuration::from_mins(1),
            probing_until: None,
        };
        let next = Breaker {
            open: Some(open),
            ..Breaker::default()
        };
        self.set_breaker(host, next).await;
    }

    /// Closes a circuit breaker, as a successful call does.
    pub(crate) async fn close_breaker(&self, host: Host) {
        self.set_breaker(host, Breaker::default()).await;
    }

    async fn set_breaker(&self, host: Host, next: Breaker) {
        let (table, environment) = (self.stack.table(), self.company.scope.environment);
        let seen = table.condition(environment).await.unwrap().breaker(host).clone();
        let (_, is_ours) = table.replace_breaker(environment, host, &seen, next).await.unwrap();
        assert!(is_ours);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.stack.clock().now()
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        self.stack.clock().advance(by);
    }

    pub(crate) async fn signed(&self, encf: &str) -> Receipt {
        self.stack.signed_receipt(&self.company, encf).await
    }

    /// A receipt that was stored without a number.
    pub(crate) async fn kept(&self, key: &str, state: ReceiptState, scheduled_for: Option<Timestamp>) -> Receipt {
        let scope = self.company.scope;
        let new = NewReceipt {
            public_id: ReceiptId::of_receipt(&scope, key),
            company_rnc: self.company.rnc.clone(),
            idempotency_key: key.to_owned(),
            payload_hash: [0; 32],
            ecf_type: "31".parse().unwrap(),
            external_id: None,
            mode: Mode::Immediate,
            state,
            created_at: self.now(),
            scheduled_for,
            monto_total: "11800.00".to_owned(),
            rnc_comprador: None,
            fecha_emision: "27-11-2026".parse().unwrap(),
            particulars: Particulars::default(),
            signed: None,
            payload: None,
            note: None,
        };
        match self.stack.table().create_receipt(&scope, new).await.unwrap() {
            Created::New(receipt) => receipt,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn submitted(&self, encf: &str) -> Receipt {
        let receipt = self.signed(encf).await;
        let (table, scope, id) = (self.stack.table(), receipt.scope, receipt.public_id);
        table.claim_send(&scope, &id, self.now(), LEASE).await.unwrap();
        let recorded = table.record_submitted(&scope, &id, encf, self.now()).await.unwrap();
        written(recorded)
    }

    pub(crate) async fn accepted(&self, encf: &str) -> Receipt {
        let receipt = self.submitted(encf).await;
        let verdict = Verdict {
            state: ReceiptState::Accepted,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: None,
            taxauth_response: None,
            outbox: vec![OutboxEntry::Webhook],
        };
        let table = self.stack.table();
        let recorded = table
            .record_verdict(&receipt.scope, &receipt.public_id, verdict, self.now())
            .await;
        written(recorded.unwrap())
    }

    pub(crate) async fn told(&self, encf: &str) -> Receipt {
        let receipt = self.accepted(encf).await;
        let table = self.stack.table();
        let recorded = table
            .outbox_done(&receipt.scope, &receipt.public_id, OutboxEntry::Webhook)
            .await;
        written(recorded.unwrap())
    }

    pub(crate) async fn failed(&self, encf: &str) -> Receipt {
        let receipt = self.signed(encf).await;
        let failure = Failure {
            code: "refused",
            message: "no",
            taxauth_response: None,
        };
        let recorded = self
            .stack
            .table()
            .record_failed(&receipt.scope, &receipt, failure, self.now())
            .await;
        written(recorded.unwrap())
    }

    pub(crate) async fn receipt(&self, of: &Receipt) -> Receipt {
        let found = self.stack.table().receipt(&of.scope, &of.public_id).await;
        found.unwrap().unwrap()
    }

    /// Takes the jobs out of the submission queue.
    pub(crate) async fn submissions(&self) -> Vec<SubmissionJob> {
        let bodies = self.stack.take_messages(Queue::SubmissionTesteCF).await;
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }

    /// Takes the jobs out of the issuing queue.
    pub(crate) async fn kept_jobs(&self) -> Vec<IssuingJob> {
        let bodies = self.stack.take_messages(Queue::Issuing).await;
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }

    /// Takes the jobs out of the webhook queue.
    pub(crate) async fn events(&self) -> Vec<WebhookJob> {
        let bodies = self.stack.take_messages(Queue::Webhook).await;
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }
}

fn written(recorded: Recorded) -> Receipt {
    match recorded {
        Recorded::Now(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}
