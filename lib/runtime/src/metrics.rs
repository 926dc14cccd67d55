//! Metrics without calls: a line of CloudWatch's embedded metric format in the log, which CloudWatch turns into metrics.
//!
//! Every metric is declared here, once. Dashboard and alarms name no other (`infra/checks/runbook`), and `docs/runbook.md` says
//! what to do about them. Outside of Lambda nobody reads them, and nothing is written.

use std::fmt;
use std::io::{Write, stdout};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::env::{Env, EnvError};

const NAMESPACE: &str = "ecf";
const FUNCTION: &str = "FunctionName";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Receipts that were signed.
    ReceiptsIssued,
    /// Verdicts.
    ReceiptsAccepted,
    ReceiptsConditionallyAccepted,
    ReceiptsRejected,
    /// From the receipt's creation to its verdict.
    VerdictSeconds,
    /// Receipts that wait for a person.
    ReceiptsFailed,
    /// Receipts that were held in a run, since the authority is out of reach.
    ReceiptsHeld,
    /// Receipts that became older than an alarm hour without the authority having them.
    ReceiptsUndelivered,
    /// Receipts that became older than an alarm hour in any other state that is not final.
    ReceiptsStuck,
    /// Receipts that are sent again, since the authority does not find the document that it gave a track id for.
    ReceiptsNotFound,
    /// Calls that the authority did not answer as it should.
    TaxauthErrors,
    /// Hosts of the authority whose gate is not open.
    HostsAway,
    /// Attempts at webhooks that were taken, and that were not.
    WebhooksDelivered,
    WebhooksFailed,
    /// Seeds of other taxpayers that were signed: each is worth a token of whoever issued it.
    SeedsSigned,
    /// Ranges of which their company was warned.
    RangesLow,
    RangesExpiring,
    /// Of each company's certificate that housekeeping comes across; the least matters.
    CertificateDaysLeft,
}

impl Metric {
    /// Its name in CloudWatch.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReceiptsIssued => "ReceiptsIssued",
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
            // CloudWatch has no unit of days.
            Self::CertificateDaysLeft => "None",
            _ => "Count",
        }
    }
}

/// Where a function's metrics go; clones share it. The default is nowhere.
#[derive(Clone, Default)]
pub struct Metrics(Option<Arc<Log>>);

struct Log {
    /// The function's name in Lambda, which tells deployments apart.
    function: String,
    out: Mutex<Box<dyn Write + Send>>,
}

impl Metrics {
    /// The metrics of this function on its log, named by Lambda's own `AWS_LAMBDA_FUNCTION_NAME`.
    ///
    /// # Errors
    /// When the name is not readable.
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

    /// Tells values, for the function as a whole and by environment of the tax authority.
    pub fn tell(&self, environment: &str, values: &[(Metric, u64)], now: Timestamp) {
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
