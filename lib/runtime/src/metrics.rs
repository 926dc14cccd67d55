//! Metrics without calls: a line of CloudWatch's embedded metric format in the log, which CloudWatch turns into metrics.
//!
//! Outside of Lambda nobody reads them, and nothing is written.

use std::io::{Write, stdout};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::env::{Env, EnvError};

const NAMESPACE: &str = "ecf";
const FUNCTION: &str = "FunctionName";

/// Where a function's metrics go.
#[derive(Debug, Clone)]
pub struct Metrics {
    /// Its name in Lambda, which tells deployments apart.
    function: Option<String>,
}

impl Metrics {
    /// The metrics of this function, named by Lambda's own `AWS_LAMBDA_FUNCTION_NAME`.
    ///
    /// # Errors
    /// When the name is not readable.
    pub fn from_env(env: &Env) -> Result<Self, EnvError> {
        Ok(Self {
            function: env.optional("AWS_LAMBDA_FUNCTION_NAME")?,
        })
    }

    /// Tells counts, for the function as a whole and by these dimensions.
    pub fn count(&self, dimensions: &[(&str, &str)], values: &[(&str, u64)], now: Timestamp) {
        let Some(function) = &self.function else { return };
        let line = line(function, dimensions, values, now);
        if let Err(error) = writeln!(stdout().lock(), "{line}") {
            tracing::warn!(%error, "metrics were not written");
        }
    }
}

fn line(function: &str, dimensions: &[(&str, &str)], values: &[(&str, u64)], now: Timestamp) -> Value {
    let names: Vec<&str> = [FUNCTION]
        .into_iter()
        .chain(dimensions.iter().map(|(name, _)| *name))
        .collect();
    let metrics: Vec<Value> = values
        .iter()
        .map(|(name, _)| json!({ "Name": name, "Unit": "Count" }))
        .collect();
    let mut line = Map::from_iter([
        (
            "_aws".to_owned(),
            json!({
                "Timestamp": now.as_millisecond(),
                "CloudWatchMetrics": [{ "Namespace": NAMESPACE, "Dimensions": [[FUNCTION], names], "Metrics": metrics }],
            }),
        ),
        (FUNCTION.to_owned(), json!(function)),
    ]);
    line.extend(
        dimensions
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value))),
    );
    line.extend(values.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_embedded_metric_format() {
        let line = line(
            "housekeeping",
            &[("Environment", "ecf")],
            &[("HostsAway", 1), ("ReceiptsHeld", 20)],
            Timestamp::UNIX_EPOCH,
        );
        let expected = json!({
            "_aws": { "Timestamp": 0, "CloudWatchMetrics": [{
                "Namespace": "ecf",
                "Dimensions": [["FunctionName"], ["FunctionName", "Environment"]],
                "Metrics": [{ "Name": "HostsAway", "Unit": "Count" }, { "Name": "ReceiptsHeld", "Unit": "Count" }],
            }] },
            "FunctionName": "housekeeping", "Environment": "ecf", "HostsAway": 1, "ReceiptsHeld": 20,
        });
        assert_eq!(line, expected);
    }
}
