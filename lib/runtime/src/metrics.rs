//! Metrics without calls: a line of CloudWatch's embedded metric format in the log, which CloudWatch turns into metrics.
//!
//! Every metric is declared here, once. Dashboard and alarms name no other (`infra/checks/runbook`), and `docs/runbook.md` says
//! what to do about them. Outside of Lambda nobody reads them, and nothing is written.

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

/// Where a function's metrics go.
#[derive(Debug, Clone)]
pub struct Metrics(To);

#[derive(Debug, Clone)]
enum To {
    Nobody,
    /// The function's log, under its name in Lambda, which tells deployments apart.
    Log(String),
    Test(Told),
}

/// What metrics were told, in a test.
#[derive(Debug, Clone, Default)]
pub struct Told(Arc<Mutex<Vec<(Metric, String, u64)>>>);

impl Told {
    /// Each value with the metric's name and what it was told of, in the order of telling, since it was asked last.
    #[must_use]
    pub fn take(&self) -> Vec<(Metric, String, u64)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Metrics {
    /// The metrics of this function, named by Lambda's own `AWS_LAMBDA_FUNCTION_NAME`.
    ///
    /// # Errors
    /// When the name is not readable.
    pub fn from_env(env: &Env) -> Result<Self, EnvError> {
        Ok(Self(match env.optional("AWS_LAMBDA_FUNCTION_NAME")? {
            Some(function) => To::Log(function),
            None => To::Nobody,
        }))
    }

    /// Metrics that a test looks at.
    #[must_use]
    pub fn of_test() -> (Self, Told) {
        let told = Told::default();
        (Self(To::Test(told.clone())), told)
    }

    /// Tells values, for the function as a whole and by environment of the tax authority.
    pub fn tell(&self, environment: &str, values: &[(Metric, u64)], now: Timestamp) {
        match &self.0 {
            To::Nobody => {}
            To::Log(function) => {
                let line = line(function, environment, values, now);
                if let Err(error) = writeln!(stdout().lock(), "{line}") {
                    tracing::warn!(%error, "metrics were not written");
                }
            }
            To::Test(told) => {
                let values = values
                    .iter()
                    .map(|(metric, value)| (*metric, environment.to_owned(), *value));
                told.0.lock().unwrap_or_else(PoisonError::into_inner).extend(values);
            }
        }
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
