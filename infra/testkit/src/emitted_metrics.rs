//! Metrics that a function emitted.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ecf_runtime::Metrics;
use serde_json::Value;

/// The lines that metrics wrote; clones share them.
#[derive(Debug, Clone, Default)]
pub struct EmittedMetrics(Arc<Mutex<Vec<u8>>>);

impl EmittedMetrics {
    /// Metrics that a test can inspect.
    pub fn metrics() -> (Metrics, Self) {
        let told = Self::default();
        (Metrics::on("a-function".to_owned(), told.clone()), told)
    }

    /// One text such as `ReceiptsIssued of TesteCF: 1` for each value since the last call, in order of emission.
    pub fn take(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut told = Vec::new();
        for line in serde_json::Deserializer::from_slice(&lines).into_iter::<Value>() {
            let line = line.expect("metrics are JSON");
            let environment = line["Environment"].as_str().expect("metrics name the environment");
            let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array();
            for metric in metrics.expect("metrics are declared") {
                let name = metric["Name"].as_str().expect("metrics have names");
                told.push(format!("{name} of {environment}: {}", line[name]));
            }
        }
        told
    }
}

impl Write for EmittedMetrics {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
