//! The tax authority, in another process than the one that is killed, with injected faults.

use std::sync::Arc;
use std::time::Duration;

use ecf_simulator::{Options, Simulator};
use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::rng::Rng;
use super::time::Time;
use crate::support::ApiClient;

/// The usual and the occasional slow verdict delay, in the system's time.
const VERDICT: Duration = Duration::from_secs(2);
const SLOW_VERDICT: Duration = Duration::from_secs(15 * 60);

const SERVICES: [&str; 10] = [
    "recepcion",
    "recepcion",
    "recepcionfc",
    "consultaresultado",
    "consultatrackids",
    "consultaestado",
    "autenticacion",
    "consultadirectorio",
    "aprobacioncomercial",
    "anulacionrangos",
];

/// A fault that a request met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Struck {
    pub(crate) fault: String,
    pub(crate) service: String,
    pub(crate) encf: String,
    pub(crate) times: u64,
}

/// All faults that requests met so far.
pub(crate) async fn struck(caller: &ApiClient) -> Vec<Struck> {
    let url = format!("{}/_control/struck", caller.simulator_url);
    let struck = caller.send(Method::GET, &url, None, None).await.expect(200);
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let read = |one: &Value| Struck {
        fault: text(one, "fault"),
        service: text(one, "service"),
        encf: text(one, "encf"),
        times: one["times"].as_u64().unwrap(),
    };
    struck.as_array().unwrap().iter().map(read).collect()
}

/// The simulator, in the time of the system under test.
#[derive(Debug)]
pub(crate) struct Authority {
    simulator: Simulator,
}

impl Authority {
    pub(crate) async fn start(time: Time) -> Self {
        let options = Options {
            verdict_delay: VERDICT,
            clock: Arc::new(move || time.now()),
            ..Options::default()
        };
        Self {
            simulator: Simulator::start(options).await.unwrap(),
        }
    }

    pub(crate) fn url(&self) -> &str {
        self.simulator.base_url()
    }

    /// Stops the simulator and loses its faults. Its verdicts must be read before.
    pub(crate) async fn shutdown(self) {
        self.simulator.shutdown().await;
    }
}

/// Injects random faults until `stop`, then clears them; returns the number of slow verdicts. Each fault replaces the
/// one before, because a fault that no request meets during an outage would prolong the outage. Maintenance is
/// excluded: receipts held by it meet no other fault, and `outage.rs` covers it.
pub(crate) async fn bad_days(caller: ApiClient, mut rng: Rng, stop: CancellationToken) -> u64 {
    let (mut slow_verdicts, mut orders) = (0, 0_u64);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(rng.millis(50, 500)) => {}
        }
        // Every fourth fault is for the next request to any service, each kind in turn, so that a run meets all kinds.
        orders += 1;
        let (service, kind) = match orders % 4 {
            0 => ("*", orders / 4 % 11),
            _ => (*rng.pick(&SERVICES), rng.below(18)),
        };
        if rng.below(16) == 0 {
            // Longer than the polls of one worker chain: housekeeping takes over.
            judge_within(&caller, SLOW_VERDICT).await;
            slow_verdicts += 1;
            continue;
        }
        judge_within(&caller, VERDICT).await;
        let times = 1 + rng.below(4);
        let mut order = json!({ "service": service, "times": times });
        let more = match kind {
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
                json!({ "fault": "reject", "codigo": "2020", "mensaje": "Rechazado por encargo.", "secuenciaUtilizada": rng.below(2) == 0 })
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
    slow_verdicts
}

async fn judge_within(caller: &ApiClient, time: Duration) {
    let order = json!({ "ms": time.as_millis() });
    caller.control(Method::PUT, "verdict-delay", &order).await;
}
