//! A deployment with one company, its receipts and its webhooks.

use ecf::ReceiptState;
use ecf_runtime::{env::Env, process_batch};
use ecf_store::{
    Clients, OperatorSecret, Receipt, Table, WebhookId, WebhookJob,
    deliveries::Delivery,
    due::SHARDS,
    receipts::{OutboxEntry, Recorded, Verdict},
    webhooks::{NewWebhook, Webhook, WebhookChanges, WebhookCreated, webhook_context},
};
use ecf_testkit::{Queue, Receiver, TestCompany, TestStack, Timeline};
use jiff::{SignedDuration, Timestamp};
use webhook_worker::App;

/// More steps than a day of retries takes.
const MOST_STEPS: usize = 400;
pub(crate) const SECRET: &str = "whsec_0123456789abcdef";
pub(crate) const TRACK_ID: &str = "d2b6e27c-3908-46f3-afaa-2207b9501b4b";
/// The key that signs notifications to the portal.
pub(crate) const PORTAL_SECRET: &str = "whsec_portal_0123456789";

pub(crate) struct World {
    pub(crate) stack: TestStack,
    pub(crate) company: TestCompany,
    pub(crate) app: App,
    pub(crate) queue: Timeline,
    /// The slow lane.
    pub(crate) slow: Timeline,
    /// What the test itself asks, unseen by the faults that it injects.
    pub(crate) table: Table,
    housekeeping: housekeeping::App,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with_portal("").await
    }

    pub(crate) async fn with_portal(url: &str) -> Self {
        let parameters = [("AllowLoopbackTargets", "true"), ("PortalUrl", url)];
        let stack = TestStack::with_parameters(&parameters).await;
        stack.store_secret(OperatorSecret::PortalSecret, PORTAL_SECRET).await;
        let company = stack.company_builder().without_ranges().build().await;
        let unseen = Clients::new(stack.config());
        let housekeeping =
            housekeeping::App::from_env(&stack.env("housekeeping"), &unseen, stack.clock().clone()).unwrap();
        Self {
            app: worker(&stack),
            table: Table::new(unseen.dynamodb, stack.provisioned().table_name()),
            stack,
            company,
            queue: Timeline::of(Queue::Webhook),
            slow: Timeline::of(Queue::WebhookSlow),
            housekeeping,
        }
    }

    pub(crate) fn restart_worker(&mut self) {
        self.app = worker(&self.stack);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.stack.clock().now()
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        self.stack.clock().advance(by);
    }

    /// A receipt with its verdict, whose event is queued.
    pub(crate) async fn judged(&mut self, encf: &str, state: ReceiptState) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, encf).await;
        let (scope, id, now) = (receipt.scope, receipt.public_id, self.now());
        let lease = SignedDuration::from_secs(90);
        self.table.claim_send(&scope, &id, now, lease).await.unwrap();
        // A track id is one receipt's.
        let track_id = if encf == "E310000000001" { TRACK_ID } else { encf };
        self.table.record_submitted(&scope, &id, track_id, now).await.unwrap();
        let with_words = state != ReceiptState::Accepted;
        let verdict = Verdict {
            state,
            track_id: None,
            error_code: with_words.then(|| "614".to_owned()),
            error_message: with_words.then(|| "no emitido".to_owned()),
            secuencia_utilizada: None,
            taxauth_response: Some(r#"{"codigo":1,"estado":"Aceptado"}"#.to_owned()),
            outbox: vec![OutboxEntry::Webhook],
        };
        let Recorded::Now(receipt) = self.table.record_verdict(&scope, &id, verdict, now).await.unwrap() else {
            panic!("the receipt was submitted")
        };
        self.queue_event(&receipt);
        receipt
    }

    pub(crate) fn queue_event(&mut self, receipt: &Receipt) {
        let event = WebhookJob::Event(receipt.job());
        self.queue.push(&self.stack, &event);
    }

    /// A webhook of the company.
    pub(crate) async fn subscribe(&self, receiver: &Receiver, events: &[&str]) -> Webhook {
        self.subscribe_url(&receiver.url(), events).await
    }

    pub(crate) async fn subscribe_url(&self, url: &str, events: &[&str]) -> Webhook {
        let id = WebhookId::from_random(ecf_runtime::random());
        self.subscribe_sealed_for(&id, id, url, events).await
    }

    /// A webhook whose secret was sealed for another.
    pub(crate) async fn subscribe_sealed_for(
        &self,
        sealed_for: &WebhookId,
        id: WebhookId,
        url: &str,
        events: &[&str],
    ) -> Webhook {
        let scope = &self.company.scope;
        let context = webhook_context(scope, sealed_for);
        let new = NewWebhook {
            id,
            url: url.to_owned(),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            is_active: true,
            sealed_secret: self.stack.vault().seal(&context, SECRET.as_bytes()).await.unwrap(),
            created_at: self.now(),
        };
        match self.table.create_webhook(scope, new).await.unwrap() {
            WebhookCreated::New(webhook) => *webhook,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn receipt(&self, of: &Receipt) -> Receipt {
        let found = self.table.receipt(&of.scope, &of.public_id).await;
        found.unwrap().expect("a receipt never goes away")
    }

    /// Every attempt at a webhook, oldest first.
    pub(crate) async fn deliveries(&self, webhook: &Webhook) -> Vec<Delivery> {
        let scope = &self.company.scope;
        let found = self
            .table
            .deliveries(scope, &webhook.id, None, (1_000, 0), self.now())
            .await;
        let (mut deliveries, total) = found.unwrap();
        assert_eq!(deliveries.len(), total);
        deliveries.reverse();
        deliveries
    }

    /// Runs one message, moving the clock to it; `false`: there was none.
    pub(crate) async fn step(&mut self) -> bool {
        let app = &self.app;
        let worker = async |event| {
            let handler = |job, message| webhook_worker::handle(app, job, message);
            process_batch(event, handler, |job, after| app.resend(job, after)).await
        };
        self.queue.collect(&self.stack).await;
        self.slow.collect(&self.stack).await;
        let slow = self.slow.next_due();
        let is_slow = slow.is_some_and(|slow| self.queue.next_due().is_none_or(|next| slow < next));
        let lane = if is_slow { &mut self.slow } else { &mut self.queue };
        let stepped = lane.step(&self.stack, worker).await;
        self.queue.collect(&self.stack).await;
        self.slow.collect(&self.stack).await;
        stepped
    }

    /// Lets time pass until `end`, or until nothing waits any more: each message comes at its time, and housekeeping runs when
    /// something is due.
    pub(crate) async fn live_until(&mut self, end: Timestamp) {
        for _ in 0..MOST_STEPS {
            self.queue.collect(&self.stack).await;
            self.slow.collect(&self.stack).await;
            let message = self.queue.next_due().into_iter().chain(self.slow.next_due()).min();
            let record = self.next_due_record().await;
            let Some(next) = message.into_iter().chain(record).min().filter(|next| *next <= end) else {
                self.advance(end.duration_since(self.now()).max(SignedDuration::ZERO));
                return;
            };
            if message == Some(next) {
                self.step().await;
            } else {
                self.advance(next.duration_since(self.now()).max(SignedDuration::ZERO));
                housekeeping::run(&self.housekeeping).await.unwrap();
            }
        }
        panic!("the worker queues its own work again and again");
    }

    /// The same for that long.
    pub(crate) async fn live(&mut self, time: SignedDuration) {
        self.live_until(self.now() + time).await;
    }

    async fn next_due_record(&self) -> Option<Timestamp> {
        let mut next = None;
        for shard in 0..SHARDS {
            let far = self.now() + SignedDuration::from_hours(200);
            let first = self.table.due_now(shard, far, 1).await.unwrap().entries;
            next = first.first().map(|entry| entry.at).into_iter().chain(next).min();
        }
        next
    }

    pub(crate) async fn webhook(&self, of: &Webhook) -> Webhook {
        let found = self.table.webhook(&self.company.scope, &of.id).await.unwrap();
        found.expect("the webhook was not deleted")
    }

    /// Switches a webhook on or off, as its owner does.
    pub(crate) async fn switch(&mut self, webhook: &Webhook, on: bool) {
        let changes = WebhookChanges {
            is_active: Some(on),
            ..WebhookChanges::default()
        };
        let scope = self.company.scope;
        let changed = self
            .table
            .update_webhook(&scope, &webhook.id, changes, self.now())
            .await;
        assert!(changed.unwrap().is_some());
    }

    /// Runs the queue until it is empty.
    pub(crate) async fn run(&mut self) {
        for _ in 0..MOST_STEPS {
            if !self.step().await {
                return;
            }
        }
        panic!("the worker queues its own work again and again");
    }
}

fn worker(stack: &TestStack) -> App {
    let env: Env = stack.env("webhook-worker");
    App::from_env(&env, &stack.clients_of("webhook-worker"), stack.clock().clone()).unwrap()
}
