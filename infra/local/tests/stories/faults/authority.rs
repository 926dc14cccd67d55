//! The tax authority outside the process that is killed, on bad days.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ecf_runtime::Clock;
use ecf_simulator::{Options, Simulator};
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::dice::Dice;
use crate::support::Caller;

/// How long the authority thinks, in the system's time: as a rule, and now and then.
const VERDICT: Duration = Duration::from_secs(2);
const SLOW_VERDICT: Duration = Duration::from_secs(15 * 60);

const SERVICES: [&str; 7] = [
    "recepcion",
    "recepcion",
    "recepcionfc",
    "consultaresultado",
    "consultatrackids",
    "consultaestado",
    "autenticacion",
];

/// The simulator, in the time of the system under test once that is known.
#[derive(Debug)]
pub(crate) struct Authority {
    simulator: Simulator,
    time: Arc<OnceLock<Clock>>,
}

impl Authority {
    pub(crate) async fn start() -> Self {
        let time = Arc::new(OnceLock::new());
        let told: Arc<OnceLock<Clock>> = Arc::clone(&time);
        let options = Options {
            verdict_delay: VERDICT,
            clock: Arc::new(move || told.get().cloned().unwrap_or_else(Clock::system).now()),
            ..Options::default()
        };
        Self {
            simulator: Simulator::start(options).await.unwrap(),
            time,
        }
    }

    pub(crate) fn url(&self) -> &str {
        self.simulator.base_url()
    }

    /// Reads how fast time runs on the system's state, and follows.
    pub(crate) fn follow(&self, folder: &Path) -> Clock {
        let lapse: Value = serde_json::from_slice(&std::fs::read(folder.join("time-lapse.json")).unwrap()).unwrap();
        let since: Timestamp = lapse["since"].as_str().unwrap().parse().unwrap();
        let times = u32::try_from(lapse["times"].as_u64().unwrap()).unwrap();
        let clock = Clock::lapse(since, times);
        self.time.set(clock.clone()).unwrap();
        clock
    }

    /// Stops answering and forgets its orders. What it judged is asked before.
    pub(crate) async fn shutdown(self) {
        self.simulator.shutdown().await;
    }
}

/// Orders a new fault every now and then, until told to stop; then there are none left. It takes the place of the one before: faults
/// that nobody met while receipts were held would keep them held. Maintenance is not among them: what is held meets no other fault, and
/// `outage.rs` has it.
pub(crate) async fn bad_days(caller: Caller, mut dice: Dice, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(dice.millis(50, 500)) => {}
        }
        let service = *dice.pick(&SERVICES);
        if dice.below(16) == 0 {
            // Longer than a chain of questions: housekeeping takes over.
            judge_within(&caller, SLOW_VERDICT).await;
            continue;
        }
        judge_within(&caller, VERDICT).await;
        let times = 1 + dice.below(4);
        let mut order = json!({ "service": service, "times": times });
        let more = match dice.below(18) {
            0 | 1 => json!({ "fault": "lose_answer" }),
            2 => json!({ "fault": "status", "status": 503, "retry_after": 5 }),
            3 => json!({ "fault": "status", "status": 500 }),
            4 => json!({ "fault": "html" }),
            5 => json!({ "fault": "garbage" }),
            6 => json!({ "fault": "empty" }),
            8 => json!({ "fault": "timeout", "delay_ms": 400 }),
            9 => json!({ "fault": "delay", "delay_ms": 300 }),
            10 => json!({ "fault": "status", "status": 401 }),
            11..=13 if service.starts_with("recepcion") => {
                json!({ "fault": "reject", "codigo": "2020", "mensaje": "Rechazado por encargo.", "secuenciaUtilizada": dice.below(2) == 0 })
            }
            14..=16 if service.starts_with("recepcion") => {
                json!({ "fault": "conditional", "codigo": "1203", "mensaje": "Observado por encargo." })
            }
            _ => json!({ "fault": "problem_details", "status": 502 }),
        };
        order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        caller.control(Method::DELETE, "faults", &Value::Null).await;
        caller.control(Method::POST, "faults", &order).await;
    }
    caller.control(Method::DELETE, "faults", &Value::Null).await;
    judge_within(&caller, VERDICT).await;
}

async fn judge_within(caller: &Caller, time: Duration) {
    let order = json!({ "ms": time.as_millis() });
    caller.control(Method::PUT, "verdict-delay", &order).await;
}
