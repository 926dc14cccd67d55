//! A deployment, the authority, and the worker between them, driven by a clock that stands still until something is due.

use std::sync::Arc;

use ecf::{Environment, ReceiptState};
use ecf_runtime::process_batch;
use ecf_store::{
    Clients, ExchangeJob, Receipt, SubmissionJob, Table, WebhookJob,
    due::{DueRecord, SHARDS},
    receipts::OutboxEntry,
};
use ecf_testkit::{Queue, TestCompany, TestStack, Timeline, send_job};
use jiff::{SignedDuration, Timestamp};
use submission_worker::App;

use crate::authority::{Authority, Time};

/// More steps than any receipt takes.
const MOST_STEPS: usize = 300;

pub(crate) struct World {
    pub(crate) stack: TestStack,
    pub(crate) company: TestCompany,
    pub(crate) authority: Authority,
    pub(crate) app: App,
    /// What the test itself asks, unseen by the faults that it injects.
    table: Table,
    queue: Timeline,
    /// Every webhook job that was queued.
    pub(crate) events: Vec<WebhookJob>,
    pub(crate) deliveries: Vec<ExchangeJob>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::of(Environment::TesteCF, None).await
    }

    pub(crate) async fn in_environment(environment: Environment) -> Self {
        Self::of(environment, None).await
    }

    /// A world whose worker calls another address of the authority.
    pub(crate) async fn with_authority_at(url: &str) -> Self {
        Self::of(Environment::TesteCF, Some(url)).await
    }

    async fn of(environment: Environment, url: Option<&str>) -> Self {
        let time = Time::default();
        let authority = Authority::start(Arc::clone(&time)).await;
        let url = url.unwrap_or(authority.base_url());
        let parameters = ["TaxauthEcfUrl", "TaxauthFcUrl", "TaxauthStatusUrl"].map(|name| (name, url));
        let stack = TestStack::with_parameters(&parameters).await;
        time.set(stack.clock().clone()).unwrap();
        let company = stack
            .company_builder()
            .environment(environment)
            .without_ranges()
            .build()
            .await;
        let unseen = Clients::new(stack.config());
        Self {
            app: worker(&stack),
            table: Table::new(unseen.dynamodb, stack.provisioned().table_name()),
            stack,
            company,
            authority,
            queue: Timeline::of(Queue::submission(environment)),
            events: Vec::new(),
            deliveries: Vec::new(),
        }
    }

    /// A signed receipt whose submission is queued.
    pub(crate) async fn issue(&mut self, encf: &str) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, encf).await;
        self.queue(&send_job(&receipt));
        receipt
    }

    /// Puts a job into the queue.
    pub(crate) fn queue(&mut self, job: &SubmissionJob) {
        self.queue.push(&self.stack, job);
    }

    /// The messages in the queue are lost.
    pub(crate) fn lose_messages(&mut self) {
        self.queue.clear();
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// A process that remembers nothing.
    pub(crate) fn restart_worker(&mut self) {
        self.app = worker(&self.stack);
    }

    pub(crate) fn another_worker(&self) -> App {
        worker(&self.stack)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.stack.clock().now()
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        self.stack.clock().advance(by);
    }

    pub(crate) async fn receipt(&self, of: &Receipt) -> Receipt {
        let found = self.table.receipt(&of.scope, &of.public_id).await;
        found.unwrap().expect("a receipt never goes away")
    }

    /// Runs one message, moving the clock to it; `false`: there was none.
    pub(crate) async fn step(&mut self) -> bool {
        let app = &self.app;
        let worker = async |event| {
            let handler = |job, message| submission_worker::handle(app, job, message);
            process_batch(event, handler, |job, after| app.resend(job, after)).await
        };
        let has_run = self.queue.step(&self.stack, worker).await;
        for body in self.stack.take_messages(Queue::Webhook).await {
            self.events.push(serde_json::from_str(&body).unwrap());
        }
        for body in self.stack.take_messages(Queue::Exchange).await {
            self.deliveries.push(serde_json::from_str(&body).unwrap());
        }
        has_run
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

    /// Runs queue, housekeeping and the delivery of events until nothing is due for the receipt.
    pub(crate) async fn run_until_quiet(&mut self, receipt: &Receipt) -> Receipt {
        for _ in 0..MOST_STEPS {
            self.run().await;
            self.tell().await;
            let now = self.receipt(receipt).await;
            let Some(next) = now.next_action_at.filter(|_| !now.waits_for_a_person()) else {
                return now;
            };
            if next > self.now() {
                self.advance(next.duration_since(self.now()));
            }
            self.sweep().await;
        }
        panic!("the receipt never gets quiet: {:?}", self.receipt(receipt).await);
    }

    /// What housekeeping does with receipts that are due; it has tests of its own.
    pub(crate) async fn sweep(&mut self) {
        let now = self.now();
        for shard in 0..SHARDS {
            for entry in self.table.due_now(shard, now, 100).await.unwrap().entries {
                let next = now + SignedDuration::from_mins(10);
                assert!(self.table.claim_due(&entry, next).await.unwrap());
                let DueRecord::Receipt(id) = entry.record else {
                    panic!("{entry:?}")
                };
                let receipt = self.table.receipt(&entry.scope, &id).await.unwrap().unwrap();
                match receipt.state {
                    _ if receipt.outbox == [OutboxEntry::Exchange] => {
                        self.table
                            .outbox_done(&entry.scope, &id, OutboxEntry::Exchange)
                            .await
                            .unwrap();
                    }
                    _ if !receipt.outbox.is_empty() => self.events.push(WebhookJob::Event(receipt.job())),
                    ReceiptState::Submitted => self.queue(&SubmissionJob::Poll(receipt.job())),
                    _ => self.queue(&send_job(&receipt)),
                }
            }
        }
    }

    /// How often an event of a receipt was queued.
    pub(crate) fn events_of(&self, of: &Receipt) -> usize {
        self.events
            .iter()
            .filter(|job| matches!(job, WebhookJob::Event(job) if job.receipt == of.public_id))
            .count()
    }

    /// What the webhook worker does after every delivery.
    async fn tell(&self) {
        for event in &self.events {
            let WebhookJob::Event(job) = event else {
                panic!("{event:?}")
            };
            self.table
                .outbox_done(&job.scope, &job.receipt, OutboxEntry::Webhook)
                .await
                .unwrap();
        }
        for delivery in &self.deliveries {
            let ExchangeJob::Deliver(job) = delivery else {
                panic!("{delivery:?}")
            };
            let done = self.table.outbox_done(&job.scope, &job.receipt, OutboxEntry::Exchange);
            done.await.unwrap();
        }
    }
}

fn worker(stack: &TestStack) -> App {
    App::from_env(
        &stack.env("submission-worker"),
        &stack.clients_of("submission-worker"),
        stack.clock().clone(),
    )
    .unwrap()
}
