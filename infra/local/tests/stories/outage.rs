//! An outage of the tax authority for two days, with worker and housekeeping mounted as in the template. The days pass
//! in seconds.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ecf::ReceiptState;
use ecf_local::{Mounted, QueueFunction, TimedFunction, mount};
use ecf_runtime::Clock;
use ecf_simulator::{Options, Simulator};
use ecf_store::{OperatorSecret, Receipt};
use ecf_testkit::{Queue, TestCompany, TestStack, Timeline, send_job};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Timeout of one call; none on loopback takes that long.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// A time step, and a longer one for the quiet middle of the outage.
const TICK: SignedDuration = SignedDuration::from_mins(10);
const LONG_TICK: SignedDuration = SignedDuration::from_mins(30);
/// Upper bound of messages in one step.
const MOST_STEPS: usize = 200;

struct World {
    simulator: Simulator,
    http: reqwest::Client,
    stack: TestStack,
    company: TestCompany,
    worker: QueueFunction,
    housekeeping: TimedFunction,
    queue: Timeline,
}

impl World {
    async fn start() -> Self {
        let time: Arc<OnceLock<Clock>> = Arc::default();
        let clock = Arc::clone(&time);
        let options = Options {
            clock: Arc::new(move || clock.get().expect("nobody calls before").now()),
            ..Options::default()
        };
        let simulator = Simulator::start(options).await.unwrap();
        let parameters = ["TaxauthEcfUrl", "TaxauthFcUrl", "TaxauthStatusUrl"].map(|name| (name, simulator.base_url()));
        let stack = TestStack::with_parameters(&parameters).await;
        stack.store_secret(OperatorSecret::TaxauthStatusKey, "a key").await;
        time.set(stack.clock().clone()).unwrap();
        let mounted = |name| mount(name, &stack.env(name), &stack.clients_of(name), stack.clock().clone()).unwrap();
        let (Mounted::Queue(worker), Mounted::Timed(housekeeping)) =
            (mounted("submission-worker"), mounted("housekeeping"))
        else {
            panic!("a worker and a timer")
        };
        let company = stack.company_builder().without_ranges().build().await;
        let queue = Timeline::of(Queue::submission(company.scope.environment));
        Self {
            simulator,
            http: reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap(),
            stack,
            company,
            worker,
            housekeeping,
            queue,
        }
    }

    async fn issue(&mut self, encf: &str) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, encf).await;
        self.queue.push(&self.stack, &send_job(&receipt));
        receipt
    }

    /// Advances time by ten minutes.
    async fn tick(&mut self) {
        self.pass(TICK).await;
    }

    /// Advances time: delivers the messages due in it, then runs housekeeping once.
    async fn pass(&mut self, time: SignedDuration) {
        let end = self.stack.clock().now() + time;
        for _ in 0..MOST_STEPS {
            self.queue.collect(&self.stack).await;
            if self.queue.next_due().is_none_or(|due| due > end) {
                let rest = end.duration_since(self.stack.clock().now()).max(SignedDuration::ZERO);
                self.stack.clock().advance(rest);
                (self.housekeeping)().await.unwrap();
                return;
            }
            let worker = Arc::clone(&self.worker);
            assert!(self.queue.step(&self.stack, |event| worker(event)).await);
        }
        panic!("the worker is never done");
    }

    async fn receipt(&self, of: &Receipt) -> Receipt {
        self.stack
            .table()
            .receipt(&of.scope, &of.public_id)
            .await
            .unwrap()
            .unwrap()
    }

    async fn states(&self, of: &[Receipt]) -> Vec<ReceiptState> {
        let mut states = Vec::new();
        for receipt in of {
            states.push(self.receipt(receipt).await.state);
        }
        states
    }

    async fn control(&self, method: http::Method, what: &str, body: &Value) -> Value {
        let url = format!("{}/_control/{what}", self.simulator.base_url());
        let answer = self.http.request(method, url).json(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{what}");
        answer.json().await.unwrap_or(Value::Null)
    }

    /// The number of the authority's requests about receipts.
    async fn calls(&self) -> u64 {
        let counters = self.control(http::Method::GET, "counters", &Value::Null).await;
        let counters = counters.as_array().unwrap().iter();
        counters
            .filter(|one| one["service"] != "estatusservicios")
            .map(|one| one["times"].as_u64().unwrap())
            .sum()
    }

    async fn times_received(&self, receipt: &Receipt) -> u64 {
        let what = format!("documents?encf={}", receipt.encf().unwrap());
        let documents = self.control(http::Method::GET, &what, &Value::Null).await;
        documents
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["times"].as_u64().unwrap())
            .sum()
    }
}

#[tokio::test]
async fn two_days_without_the_authority_hold_receipts_alarm_once_an_hour_of_the_list_and_end_by_themselves() {
    let mut world = World::start().await;
    let before = world.issue("E310000000001").await;
    world.tick().await;
    assert_eq!(world.receipt(&before).await.state, ReceiptState::Accepted);

    let down = json!({ "service": "*", "fault": "status", "status": 503 });
    world.control(http::Method::POST, "faults", &down).await;
    let mut held = Vec::new();
    for encf in ["E310000000002", "E310000000003", "E320000000001"] {
        held.push(world.issue(encf).await);
    }
    world.tick().await;
    assert_eq!(world.states(&held).await, [ReceiptState::Contingency; 3]);
    let calls = world.calls().await;
    let mut alarmed_after = None;
    for _ in 0..2 * 49 {
        world.pass(LONG_TICK).await;
        if alarmed_after.is_none() && world.receipt(&held[0]).await.alarms.delivery_hours.is_some() {
            alarmed_after = Some(world.stack.clock().now().duration_since(held[0].created_at));
        }
    }
    assert_eq!(world.states(&held).await, [ReceiptState::Contingency; 3]);
    let alarmed_after = alarmed_after.expect("the alarm was raised");
    let hours = SignedDuration::from_hours(48);
    assert!((hours..=hours + LONG_TICK).contains(&alarmed_after), "{alarmed_after}");
    let calls = world.calls().await - calls;
    assert!(
        calls <= 6 * 49 * 2,
        "each host is tried once in ten minutes, not {calls} times"
    );
    assert!(calls >= 49, "somebody must find out when it is back");

    world.control(http::Method::DELETE, "faults", &Value::Null).await;
    for _ in 0..6 {
        world.tick().await;
    }
    assert_eq!(world.states(&held).await, [ReceiptState::Accepted; 3]);
    for receipt in held.iter().chain([&before]) {
        assert_eq!(world.times_received(receipt).await, 1, "{:?}", receipt.encf());
        let delivery_alarm_hours = world.receipt(receipt).await.alarms.delivery_hours;
        assert_eq!(
            delivery_alarm_hours,
            (receipt.public_id != before.public_id).then_some(48)
        );
    }
    world.stack.leave_messages();
}

#[tokio::test]
async fn an_announced_window_holds_receipts_until_it_ends_and_its_environment_is_not_called() {
    let mut world = World::start().await;
    // The test begins at noon in Santo Domingo.
    let window = json!([{ "ambiente": "PreCertificacion", "horaInicio": "12:00 PM", "horaFin": "2:00 PM", "dias": ["27-11-2026"] }]);
    world.control(http::Method::PUT, "maintenance", &window).await;
    (world.housekeeping)().await.unwrap();
    let held = world.issue("E310000000001").await;
    for _ in 0..11 {
        world.tick().await;
    }
    assert_eq!(world.receipt(&held).await.state, ReceiptState::Contingency);
    assert_eq!(world.calls().await, 0);
    for _ in 0..3 {
        world.tick().await;
    }
    assert_eq!(world.receipt(&held).await.state, ReceiptState::Accepted);
    world.stack.leave_messages();
}
