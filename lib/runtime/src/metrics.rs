//! Metrics without API calls: each is a log line in CloudWatch's embedded metric format.
//!
//! Every metric is declared here, once. The dashboard and the alarms use only these names (`infra/checks/runbook`
//! verifies it), and `docs/runbook.md` describes the response to each alarm. Outside of Lambda nothing is written.

use std::fmt;
use std::io::{Write, stdout};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::env::{Env, EnvError};

const NAMESPACE: &str = "ecf";
const FUNCTION: &str = "FunctionName";

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Receipts that were signed.
    ReceiptsIssued,
    /// Requests that repeated an idempotency key with another document.
    ReplaysDiffering,
    /// Verdicts of the tax authority.
    ReceiptsAccepted,
    ReceiptsConditionallyAccepted,
    ReceiptsRejected,
    /// Seconds from the receipt's creation to its verdict.
    VerdictSeconds,
    /// Receipts in state `failed`: they await a person.
    ReceiptsFailed,
    /// Receipts that a run held because the authority is out of reach.
    ReceiptsHeld,
    /// Receipts that passed an alarm hour without reaching the authority.
    ReceiptsUndelivered,
    /// Receipts that passed an alarm hour in any other state that is not final.
    ReceiptsStuck,
    /// Receipts that are sent again, because the authority does not find the document for the track id that it issued.
    ReceiptsNotFound,
    /// Calls to the authority that failed or got an unexpected answer.
    TaxauthErrors,
    /// Hosts of the authority whose gate is not open.
    HostsAway,
    /// Attempts to deliver a webhook that succeeded, and that failed.
    WebhooksDelivered,
    WebhooksFailed,
    /// Seeds of other issuers that were signed. Each signed seed can be exchanged for a token at its issuer.
    SeedsSigned,
    /// Number ranges for which a warning was published: few numbers left, or close to expiry.
    RangesLow,
    RangesExpiring,
    /// Days until a company's certificate expires, once for each certificate in a housekeeping run. Alarms use the
    /// minimum.
    CertificateDaysLeft,
}

impl Metric {
    /// The name in CloudWatch.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReceiptsIssued => "ReceiptsIssued",
            Self::ReplaysDiffering => "ReplaysDiffering",
            Self::ReceiptsAccepted => "ReceiptsAccepted",
            Self::ReceiptsConditionallyAccepted => "ReceiptsConditionallyAccepted",
            Self::ReceiptsRejected => "ReceiptsRejected",
            Self::VerdictSeconds => "VerdictSeconds",
            Self::ReceiptsFailed => "ReceiptsFailed",
            Self::ReceiptsHeld => "ReceiptsHeld",
            Self::ReceiptsUndelivered => "ReceiptsUndelivered",
            Self::ReceiptsStuck => "ReceiptsStuck",
            Self::ReceiptsNotFound => "ReceiptsNotFound",
            Self::TaxauthErrors => "TaxauthErrors",
            Self::HostsAway => "HostsAway",
            Self::WebhooksDelivered => "WebhooksDelivered",
            Self::WebhooksFailed => "WebhooksFailed",
            Self::SeedsSigned => "SeedsSigned",
            Self::RangesLow => "RangesLow",
            Self::RangesExpiring => "RangesExpiring",
            Self::CertificateDaysLeft => "CertificateDaysLeft",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::VerdictSeconds => "Seconds",
            // CloudWatch has no unit for days.
            Self::CertificateDaysLeft => "None",
            _ => "Count",
        }
    }
}

/// The metrics output of a function. Clones share it. The default discards everything.
#[derive(Clone, Default)]
pub struct Metrics(Option<Arc<Log>>);

struct Log {
    /// The function's name in Lambda. It distinguishes deployments.
    function: String,
    out: Mutex<Box<dyn Write + Send>>,
}

impl Metrics {
    /// Metrics on this function's log, under the name in `AWS_LAMBDA_FUNCTION_NAME`. Without the variable, metrics are
    /// discarded.
    ///
    /// # Errors
    /// Fails when the name is not UTF-8.
    pub fn from_env(env: &Env) -> Result<Self, EnvError> {
        Ok(match env.optional("AWS_LAMBDA_FUNCTION_NAME")? {
            Some(function) => Self::on(function, stdout()),
            None => Self::default(),
        })
    }

    /// Metrics of the function with this name. Each call writes one line.
    #[must_use]
    pub fn on(function: String, out: impl Write + Send + 'static) -> Self {
        let out = Mutex::new(Box::new(out) as Box<dyn Write + Send>);
        Self(Some(Arc::new(Log { function, out })))
    }

    /// Emits values, in total for the function and by environment of the tax authority.
    pub fn emit(&self, environment: &str, values: &[(Metric, u64)], now: Timestamp) {
        let Some(log) = &self.0 else { return };
        let line = line(&log.function, environment, values, now);
        let mut out = log.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(out, "{line}") {
            tracing::warn!(%error, "metrics were not written");
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0.as_ref().map(|log| &log.function);
        f.debug_tuple("Metrics").field(&function).finish()
    }
}

fn line(function: &str, environment: &str, values: &[(Metric, u64)], now: Timestamp) -> Value {
    let metrics: Vec<Value> = values
        .iter()
        .map(|(metric, _)| json!({ "Name": metric.name(), "Unit": metric.unit() }))
        .collect();
    let mut line = Map::from_iter([
        (
            "_aws".to_owned(),
            json!({
                "Timestamp": now.as_millisecond(),
                "CloudWatchMetrics": [{
                    "Namespace": NAMESPACE, "Dimensions": [[FUNCTION], [FUNCTION, "Environment"]], "Metrics": metrics,
                }],
            }),
        ),
        (FUNCTION.to_owned(), json!(function)),
        ("Environment".to_owned(), json!(environment)),
    ]);
    line.extend(
        values
            .iter()
            .map(|(metric, value)| (metric.name().to_owned(), json!(value))),
    );
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_embedded_metric_format() {
        let line = line(
            "submission-worker",
            "ecf",
            &[(Metric::ReceiptsAccepted, 1), (Metric::VerdictSeconds, 20)],
            Timestamp::UNIX_EPOCH,
        );
        let expected = json!({
            "_aws": { "Timestamp": 0, "CloudWatchMetrics": [{
                "Namespace": "ecf",
                "Dimensions": [["FunctionName"], ["FunctionName", "Environment"]],
                "Metrics": [{ "Name": "ReceiptsAccepted", "Unit": "Count" }, { "Name": "VerdictSeconds", "Unit": "Seconds" }],
            }] },
            "FunctionName": "submission-worker", "Environment": "ecf", "ReceiptsAccepted": 1, "VerdictSeconds": 20,
        });
        assert_eq!(line, expected);
    }
}
