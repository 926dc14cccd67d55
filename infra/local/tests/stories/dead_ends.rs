//! Every state that is not final has an alarm by age, is reported by the operator's check, and has a way out.

use ecf::ReceiptState;
use ecf_runtime::Metric;
use ecf_store::{
    Receipt, ReceiptId, Table,
    receipts::{Created, Failure, Mode, NOT_FOUND_WINDOW, NewReceipt, Particulars, Recorded, Withdrawal},
};
use ecf_testkit::{EmittedMetrics, TestCompany, TestStack};
use jiff::SignedDuration;
use serde_json::{Value, json};

const LEASE: SignedDuration = SignedDuration::from_secs(90);
/// Beyond the last alarm of both lists in the template.
const LONG: SignedDuration = SignedDuration::from_hours(73);

/// The way in which a receipt leaves a state.
#[derive(Clone, Copy)]
enum WayOut {
    /// An operator's command, and the job that it enqueues.
    Command(&'static str, &'static str),
    /// An operator records the outcome, and the receipt gets this state.
    Resolve(&'static str, ReceiptState),
    /// The caller withdraws the receipt.
    Withdraw,
}

/// The alarm of a state and its ways out; `None` for a final state. A new state does not compile without a row.
fn expected(state: ReceiptState) -> Option<(Metric, &'static [WayOut])> {
    Some(match state {
        ReceiptState::Received | ReceiptState::Deferred | ReceiptState::Validated => (
            Metric::ReceiptsStuck,
            &[WayOut::Command("requeue_receipt", "issue"), WayOut::Withdraw],
        ),
        ReceiptState::Signed | ReceiptState::Contingency => (
            Metric::ReceiptsUndelivered,
            &[WayOut::Command("requeue_receipt", "send"), WayOut::Withdraw],
        ),
        ReceiptState::Submitted => (
            Metric::ReceiptsStuck,
            &[
                WayOut::Command("requeue_receipt", "poll"),
                WayOut::Resolve("accepted", ReceiptState::Accepted),
            ],
        ),
        ReceiptState::Failed => (
            Metric::ReceiptsStuck,
            &[WayOut::Command("retry_failed", "send"), WayOut::Withdraw],
        ),
        ReceiptState::Accepted
        | ReceiptState::ConditionallyAccepted
        | ReceiptState::Rejected
        | ReceiptState::Cancelled
        | ReceiptState::Incapacity => return None,
    })
}

struct World {
    stack: TestStack,
    company: TestCompany,
    table: Table,
    housekeeping: housekeeping::App,
    operator: operator::App,
    told: EmittedMetrics,
}

impl World {
    async fn start() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company_builder().without_ranges().build().await;
        let (metrics, told) = EmittedMetrics::metrics();
        let name = "housekeeping";
        let clock = stack.clock().clone();
        let housekeeping = housekeeping::App::from_env(&stack.env(name), &stack.clients_of(name), clock.clone());
        let mut housekeeping = housekeeping.unwrap();
        housekeeping.metrics = metrics;
        let name = "operator";
        let operator = operator::App::from_env(&stack.env(name), &stack.clients_of(name), clock);
        Self {
            table: stack.table(),
            housekeeping,
            operator: operator.unwrap(),
            stack,
            company,
            told,
        }
    }

    /// Creates a receipt in a state that is not final.
    async fn receipt_in(&self, state: ReceiptState, key: u64) -> Receipt {
        let (scope, now) = (self.company.scope, self.stack.clock().now());
        if [ReceiptState::Received, ReceiptState::Deferred, ReceiptState::Validated].contains(&state) {
            return self.kept(state, &format!("{state} {key}")).await;
        }
        let receipt = self.stack.signed_receipt(&self.company, &format!("E31{key:010}")).await;
        let id = &receipt.public_id;
        match state {
            ReceiptState::Contingency => {
                assert!(self.table.hold(&scope, &receipt, now, now).await.unwrap());
            }
            ReceiptState::Submitted => {
                self.table.claim_send(&scope, id, now, LEASE).await.unwrap();
                let track_id = format!("track {key}");
                self.table.record_submitted(&scope, id, &track_id, now).await.unwrap();
            }
            ReceiptState::Failed => {
                let failure = Failure {
                    code: "certificate_missing",
                    message: "no certificate",
                    taxauth_response: None,
                };
                self.table.record_failed(&scope, &receipt, failure, now).await.unwrap();
            }
            _ => {}
        }
        self.record(&receipt).await
    }

    /// Creates a receipt without a number.
    async fn kept(&self, state: ReceiptState, key: &str) -> Receipt {
        let (scope, now) = (self.company.scope, self.stack.clock().now());
        let new = NewReceipt {
            public_id: ReceiptId::of_receipt(&scope, key),
            company_rnc: self.company.rnc.clone(),
            idempotency_key: key.to_owned(),
            payload_hash: [0; 32],
            ecf_type: "31".parse().unwrap(),
            external_id: None,
            mode: Mode::Immediate,
            state,
            created_at: now,
            scheduled_for: (state == ReceiptState::Deferred).then(|| now + SignedDuration::from_hours(2)),
            monto_total: "11800.00".to_owned(),
            rnc_comprador: None,
            fecha_emision: ecf::Fecha::at(now),
            particulars: Particulars::default(),
            signed: None,
            payload: None,
            note: None,
        };
        match self.table.create_receipt(&scope, new).await.unwrap() {
            Created::New(receipt) => receipt,
            other => panic!("{other:?}"),
        }
    }

    async fn record(&self, of: &Receipt) -> Receipt {
        let found = self.table.receipt(&of.scope, &of.public_id).await;
        found.unwrap().unwrap()
    }

    async fn command(&self, command: &str, mut arguments: Value) -> Value {
        arguments["command"] = json!(command);
        arguments["company"] = json!(self.company.scope.company);
        arguments["environment"] = json!(self.company.scope.environment);
        operator::handle(&self.operator, arguments).await
    }

    /// The alarms that a run of housekeeping raises.
    async fn alarms(&self) -> Vec<String> {
        housekeeping::run(&self.housekeeping).await.unwrap();
        let alarms = [Metric::ReceiptsStuck, Metric::ReceiptsUndelivered].map(Metric::name);
        let mut told = self.told.take();
        told.retain(|told| alarms.iter().any(|alarm| told.starts_with(alarm)) && !told.ends_with(": 0"));
        told
    }

    /// Whether the operator's check reports the receipt.
    async fn is_reported_stuck(&self, receipt: &Receipt) -> bool {
        let mut arguments = json!({ "from": receipt.day() });
        loop {
            let answer = self.command("check", arguments.clone()).await;
            let problems = answer["found"]["problems"].as_array().unwrap();
            if problems
                .iter()
                .any(|one| one["problem"] == "stuck" && one["receipt"] == json!(receipt.public_id))
            {
                return true;
            }
            if answer["next"].is_null() {
                return false;
            }
            arguments["at"] = answer["next"].clone();
        }
    }

    async fn takes(&self, way: WayOut, receipt: &Receipt) {
        let one = json!({ "receipt": receipt.public_id });
        match way {
            WayOut::Command(command, queued) => {
                let answer = self.command(command, one).await;
                assert_eq!(answer["queued"], queued, "{} {command}: {answer}", receipt.state);
            }
            WayOut::Resolve(outcome, state) => {
                let arguments = json!({ "receipt": receipt.public_id, "outcome": outcome });
                let answer = self.command("resolve_outcome", arguments).await;
                assert_eq!(answer["receipt"]["status"], json!(state), "{answer}");
            }
            WayOut::Withdraw => {
                let now = self.stack.clock().now();
                let withdrawal = Withdrawal::Cancel;
                let withdrawn = self.table.withdraw(&receipt.scope, receipt, withdrawal, now).await;
                assert!(matches!(withdrawn.unwrap(), Recorded::Now(_)), "{}", receipt.state);
            }
        }
        self.stack.leave_messages();
    }
}

#[tokio::test]
async fn r1_every_state_that_is_not_final_has_an_alarm_and_a_way_out() {
    for state in ReceiptState::ALL {
        let Some((metric, ways)) = expected(state) else {
            assert!(state.is_final(), "{state}");
            continue;
        };
        assert!(!state.is_final(), "{state}");
        for (key, way) in (1..).zip(ways) {
            let world = World::start().await;
            let receipt = world.receipt_in(state, key).await;
            assert_eq!(receipt.state, state);
            // Younger than the first alarm.
            world.stack.clock().advance(NOT_FOUND_WINDOW);
            assert_eq!(world.alarms().await, [""; 0], "{state}");
            assert!(!world.is_reported_stuck(&receipt).await, "{state}");
            world.stack.clock().advance(LONG);
            assert_eq!(
                world.alarms().await,
                [format!("{} of TesteCF: 1", metric.name())],
                "{state}"
            );
            assert!(world.is_reported_stuck(&receipt).await, "{state}");
            // Each hour of the list raises one alarm.
            world.stack.clock().advance(SignedDuration::from_hours(2));
            assert_eq!(world.alarms().await, [""; 0], "{state}");
            world.takes(*way, &world.record(&receipt).await).await;
        }
    }
}

/// "En Proceso" for days: each hour of the list alarms once, and the receipt is still polled.
#[tokio::test]
async fn r1_each_hour_of_the_list_alarms_once() {
    for state in [ReceiptState::Submitted, ReceiptState::Failed, ReceiptState::Received] {
        let world = World::start().await;
        let receipt = world.receipt_in(state, 1).await;
        let mut alarms = Vec::new();
        for hour in 1..=100 {
            world.stack.clock().advance(SignedDuration::from_hours(1));
            alarms.extend(
                world
                    .alarms()
                    .await
                    .into_iter()
                    .map(|alarm| (hour, alarm.ends_with(": 1"))),
            );
        }
        assert_eq!(alarms, [(6, true), (24, true), (72, true)], "{state}");
        let due = world.record(&receipt).await.next_action_at;
        // A receipt that waits for an operator leaves the index after its last alarm.
        assert_eq!(due.is_some(), state != ReceiptState::Failed, "{state}");
        world.stack.leave_messages();
    }
}
