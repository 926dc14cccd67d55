//! The AWS cost of one receipt, from the request to the delivered webhook: every SDK call is counted and compared with
//! the design's budget. Counters and index writes are included.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use ecf::Fecha;
use ecf_local::{Mounted, QueueFunction, mount};
use ecf_simulator::{Options, Simulator};
use ecf_testkit::{AwsCalls, Queue, Receiver, TestCompany, TestStack, request};
use http::Method;
use serde_json::{Value, json};

use crate::payloads::{note, payload};

const WRITE_UNITS: f64 = 20.0;
const READ_UNITS: f64 = 8.0;
const SQS_REQUESTS: u32 = 10;
const INVOCATIONS: u32 = 5;

/// The functions that a receipt passes through, on one deployment.
struct Line {
    stack: TestStack,
    company: TestCompany,
    receiver: Receiver,
    issuing: Router,
    submission_worker: QueueFunction,
    webhook_worker: QueueFunction,
    exchange_worker: QueueFunction,
    _authority: Simulator,
}

impl Line {
    async fn start() -> Self {
        let clock = ecf_runtime::Clock::manual("2026-11-27T16:00:00Z".parse().unwrap());
        let authority = Simulator::start(Options {
            // The verdict is ready at the first poll, as in most real cases, where it takes less than a second.
            verdict_delay: Duration::ZERO,
            clock: Arc::new(move || clock.now()),
            ..Options::default()
        });
        let authority = authority.await.unwrap();
        let url = authority.base_url();
        let stack = TestStack::with_parameters(&[
            ("TaxauthEcfUrl", url),
            ("TaxauthFcUrl", url),
            ("TaxauthStatusUrl", url),
            ("AllowLoopbackTargets", "true"),
        ])
        .await;
        let company = stack.company().await;
        let receiver = Receiver::start().await;
        let Mounted::Http(webhooks) = mounted(&stack, "webhooks") else {
            panic!("webhooks has routes")
        };
        let hook = json!({ "url": receiver.url(), "events": ["ecf.*"] });
        let path = "/api/v1/client/webhooks";
        request(&webhooks, Method::POST, path, Some(&company.api_key), Some(&hook))
            .await
            .expect(201);
        let Mounted::Http(issuing) = mounted(&stack, "issuing") else {
            panic!("issuing has routes")
        };
        Self {
            issuing,
            submission_worker: worker(&stack, "submission-worker"),
            webhook_worker: worker(&stack, "webhook-worker"),
            exchange_worker: worker(&stack, "exchange-worker"),
            stack,
            company,
            receiver,
            _authority: authority,
        }
    }

    /// Processes one receipt from the request to the delivered webhook, and returns its cost.
    async fn issue(&self, ecf_type: &str, external_id: Option<&str>) -> Cost {
        let payload = payload(self.company.rnc.as_str(), &self.today(), ecf_type, 1_000);
        self.bring(ecf_type, payload, external_id).await.1
    }

    fn today(&self) -> String {
        Fecha::at(self.stack.clock().now()).to_string()
    }

    async fn bring(&self, ecf_type: &str, payload: Value, external_id: Option<&str>) -> (Value, Cost) {
        self.stack.calls().reset();
        let told = self.receiver.received().len();
        let invocations = AtomicU32::new(1);
        let mut body = json!({
            "idempotency_key": format!("sale {told}"), "ecf_type": ecf_type, "payload": payload,
        });
        if let Some(external_id) = external_id {
            body["external_id"] = json!(external_id);
        }
        let issued = request(
            &self.issuing,
            Method::POST,
            "/api/v1/ecf",
            Some(&self.company.api_key),
            Some(&body),
        )
        .await;
        let issued: Value = issued.expect(201);
        let queues = [
            (Queue::SubmissionTesteCF, &self.submission_worker),
            (Queue::Webhook, &self.webhook_worker),
        ];
        for (queue, worker) in queues {
            let invoke = |event| {
                invocations.fetch_add(1, Ordering::Relaxed);
                worker(event)
            };
            self.stack.drain(queue, invoke).await;
        }
        let received = self.receiver.received().split_off(told);
        let [webhook] = received.as_slice() else {
            panic!("{received:?}")
        };
        assert_eq!(webhook.json()["public_id"], issued["public_id"]);
        assert_eq!(webhook.json()["status"], "accepted");
        let cost = Cost::of(self.stack.calls(), invocations.into_inner(), queues.len());
        // Delivery to the buyer is not in the budget: no caller waits for it, and most buyers are not in the directory.
        self.stack.calls().reset();
        let delivered = self
            .stack
            .drain(Queue::Exchange, |event| (self.exchange_worker)(event))
            .await;
        assert_eq!(delivered, usize::from(ecf_type != "32"));
        eprintln!(
            "the way to a buyer outside the directory\n{}",
            Cost::of(self.stack.calls(), 1, 1).table
        );
        (issued, cost)
    }
}

fn mounted(stack: &TestStack, name: &str) -> Mounted {
    mount(name, &stack.env(name), &stack.clients_of(name), stack.clock().clone()).unwrap()
}

fn worker(stack: &TestStack, name: &str) -> QueueFunction {
    match mounted(stack, name) {
        Mounted::Queue(worker) => worker,
        _ => panic!("{name} is fed from a queue"),
    }
}

/// The cost of one receipt.
struct Cost {
    table: String,
    write_units: f64,
    read_units: f64,
    puts: usize,
    sqs_requests: u32,
    invocations: u32,
}

impl Cost {
    /// `drained` queues were looked into once more at the end. A deployment looks into empty queues whether receipts come
    /// or not, and `infra/cost/bill` counts that for the whole month.
    fn of(calls: &AwsCalls, invocations: u32, drained: usize) -> Self {
        let units = calls.units();
        let sqs_requests = calls.requests_to("SQS") - u32::try_from(drained).unwrap();
        let mut table = String::new();
        for call in calls.calls() {
            let line = format!(
                "{:<16} {:<20} {:>5.1} write {:>5.1} read {} request(s)\n",
                call.service, call.operation, call.units.write, call.units.read, call.requests
            );
            table.push_str(&line);
        }
        table.push_str(&format!(
            "{} write units, {} read units, {} S3 puts, {} SQS requests, {invocations} invocations\n",
            units.write,
            units.read,
            calls.count("PutObject"),
            sqs_requests,
        ));
        Self {
            table,
            write_units: units.write,
            read_units: units.read,
            puts: calls.count("PutObject"),
            sqs_requests,
            invocations,
        }
    }

    #[track_caller]
    fn is_within(&self, what: &str, puts: usize) {
        eprintln!("{what}\n{}", self.table);
        assert!(self.write_units <= WRITE_UNITS, "{} write units", self.write_units);
        assert!(self.read_units <= READ_UNITS, "{} read units", self.read_units);
        assert_eq!(self.puts, puts, "S3 puts");
        assert!(self.sqs_requests <= SQS_REQUESTS, "{} SQS requests", self.sqs_requests);
        assert!(self.invocations <= INVOCATIONS, "{} invocations", self.invocations);
        // Lower bounds: a counter that stayed at zero would be within any budget.
        assert!(self.write_units > 5.0 && self.read_units > 1.0, "units are not counted");
        assert!(self.sqs_requests >= 4 && self.invocations >= 3, "calls are not counted");
    }
}

/// The first receipt also pays for values that the functions then cache: key, certificate, and a token per certificate
/// and hour. The second has an `external_id`, which adds an index entry.
#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_stays_within_its_budget() {
    let line = Line::start().await;
    line.issue("31", None).await.is_within("type 31, the first of all", 1);
    line.issue("31", None)
        .await
        .is_within("type 31 later on the same day", 1);
    line.issue("31", Some("order 3"))
        .await
        .is_within("type 31 with an external id", 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_that_goes_as_a_summary_stays_within_its_budget() {
    let line = Line::start().await;
    line.issue("32", None)
        .await
        .is_within("type 32 as a summary, the first of all", 2);
    line.issue("32", None)
        .await
        .is_within("type 32 as a summary later on the same day", 2);
    line.issue("32", Some("order 3"))
        .await
        .is_within("type 32 as a summary with an external id", 2);
}

/// A number that the caller chose is not taken from its range; it is counted there instead.
#[tokio::test(flavor = "multi_thread")]
async fn a4_a_receipt_that_the_caller_numbers_stays_within_the_same_budget() {
    let line = Line::start().await;
    let (rnc, today) = (line.company.rnc.clone(), line.today());
    for (number, external_id) in [(7, None), (3, Some("order 2")), (8, None)] {
        let mut numbered = payload(rnc.as_str(), &today, "31", 1_000);
        numbered["Encabezado"]["IdDoc"]["eNCF"] = json!(format!("E31{number:010}"));
        let (_, cost) = line.bring("31", numbered, external_id).await;
        cost.is_within(&format!("type 31 with the number {number} of the caller"), 1);
    }
    let ranges = line
        .stack
        .table()
        .ranges(&line.company.scope, Some(ecf::ReceiptType::E31))
        .await
        .unwrap();
    assert_eq!((ranges[0].used, ranges[0].next), (3, 9));
}

/// A note reduces its invoice's balance in the transaction that creates the note. A debit note counts when it is
/// accepted, in another transaction.
#[tokio::test(flavor = "multi_thread")]
async fn a_note_costs_little_more_than_the_receipt_that_it_modifies() {
    let line = Line::start().await;
    let (rnc, today) = (line.company.rnc.clone(), line.today());
    line.issue("31", None).await;
    let invoice = payload(rnc.as_str(), &today, "31", 1_000);
    let (invoice, plain) = line.bring("31", invoice, None).await;
    let encf = invoice["encf"].as_str().unwrap();
    for (ecf_type, most) in [("33", 6.0), ("34", 2.0)] {
        let note = note(rnc.as_str(), &today, ecf_type, 100, encf);
        let (_, cost) = line.bring(ecf_type, note, None).await;
        let more = cost.write_units - plain.write_units;
        eprintln!(
            "type {ecf_type}: {more} write units more than the receipt it modifies\n{}",
            cost.table
        );
        assert!((2.0..=most).contains(&more), "{more} write units");
        assert!(cost.read_units <= READ_UNITS, "{} read units", cost.read_units);
    }
}
