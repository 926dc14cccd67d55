//! The simulated authority, with the time of the test.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ecf_runtime::Clock;
use ecf_simulator::{Options, Simulator};
use serde_json::Value;

/// Nothing on loopback takes that long.
const TIME_OUT: Duration = Duration::from_secs(20);

/// A simulator, and what a test orders and asks at its control service.
pub(crate) struct Authority {
    simulator: Simulator,
    http: reqwest::Client,
}

/// The time that a simulator is to have: it is started before the stack that brings it.
pub(crate) type Time = Arc<OnceLock<Clock>>;

impl Authority {
    pub(crate) async fn start(time: Time) -> Self {
        let clock = move || time.get().expect("nobody calls before the stack is there").now();
        let options = Options {
            clock: Arc::new(clock),
            ..Options::default()
        };
        Self {
            simulator: Simulator::start(options).await.unwrap(),
            http: reqwest::Client::builder().timeout(TIME_OUT).build().unwrap(),
        }
    }

    pub(crate) fn base_url(&self) -> &str {
        self.simulator.base_url()
    }

    fn control(&self, path: &str) -> String {
        format!("{}/_control/{path}", self.base_url())
    }

    /// Orders a fault.
    pub(crate) async fn order(&self, fault: Value) {
        let request = self.http.post(self.control("faults")).json(&fault);
        assert_eq!(request.send().await.unwrap().status(), 201, "{fault}");
    }

    pub(crate) async fn clear_faults(&self) {
        let request = self.http.delete(self.control("faults"));
        assert!(request.send().await.unwrap().status().is_success());
    }

    /// Changes a setting.
    pub(crate) async fn set(&self, path: &str, setting: Value) {
        let request = self.http.put(self.control(path)).json(&setting);
        assert!(request.send().await.unwrap().status().is_success(), "{path} {setting}");
    }

    pub(crate) async fn unset(&self, path: &str) {
        let request = self.http.delete(self.control(path));
        assert!(request.send().await.unwrap().status().is_success(), "{path}");
    }

    /// What came in under a number, one entry for each different document.
    pub(crate) async fn documents(&self, encf: &str) -> Vec<Value> {
        let request = self.http.get(self.control("documents")).query(&[("encf", encf)]);
        request.send().await.unwrap().json().await.unwrap()
    }

    /// How often documents with a number came in.
    pub(crate) async fn submissions(&self, encf: &str) -> u64 {
        let documents = self.documents(encf).await;
        documents.iter().map(|one| one["times"].as_u64().unwrap()).sum()
    }

    /// How many answers with this status a service gave.
    pub(crate) async fn answers(&self, service: &str, status: u16) -> u64 {
        let counters: Vec<Value> = self
            .http
            .get(self.control("counters"))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        counters
            .iter()
            .filter(|one| one["service"] == service && one["status"] == status)
            .map(|one| one["times"].as_u64().unwrap())
            .sum()
    }
}
