//! Reads processor time and memory of this process, and counts log lines.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ecf_runtime::{Clock, Metric, Metrics, telemetry};
use serde::Serialize;
use serde_json::{Value, json};

/// Ticks of a `stat` file of `/proc` in a second.
const TICKS: f64 = 100.0;
/// What is logged at the level of the template, without what a deployment does not run, and without the way to the buyer.
const LOGGED: &str =
    "info,exchange_worker=off,ecf_embedded=off,ecf_local=off,ecf_simulator=off,dynoxide=off,s3s=off,stories=off";
/// A function's name as CloudFormation makes it.
const FUNCTION: &str = "ecf-production-SubmissionWorker-AbCdEfGhIjKl";

/// The log lines of the functions, as a deployment writes them.
#[derive(Clone, Default)]
pub(super) struct Logs(Arc<(AtomicU64, AtomicU64)>);

#[derive(Clone, Copy)]
pub(super) struct Log {
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

impl Logs {
    /// Counts the lines of the process from now on.
    pub(super) fn install() -> Self {
        let logs = Self::default();
        let writer = logs.clone();
        let lines = telemetry::json_lines(LOGGED.parse().unwrap(), move || writer.clone());
        tracing::subscriber::set_global_default(lines).unwrap();
        logs
    }

    pub(super) fn so_far(&self) -> Log {
        Log {
            lines: self.0.0.load(Ordering::Relaxed),
            bytes: self.0.1.load(Ordering::Relaxed),
        }
    }
}

impl Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.0.0.fetch_add(lines as u64, Ordering::Relaxed);
        self.0.1.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sub for Log {
    type Output = Log;

    fn sub(self, earlier: Log) -> Log {
        Log {
            lines: self.lines - earlier.lines,
            bytes: self.bytes - earlier.bytes,
        }
    }
}

/// The length of each line of metrics that a receipt's way takes: issued, judged, delivered. The local system discards
/// metrics.
pub(super) fn metric_line_bytes() -> Vec<u64> {
    let now = Clock::system().now();
    let lines: [&[(Metric, u64)]; 3] = [
        &[(Metric::ReceiptsIssued, 1)],
        &[(Metric::ReceiptsAccepted, 1), (Metric::VerdictSeconds, 2)],
        &[(Metric::WebhooksDelivered, 1)],
    ];
    let length = |values| {
        let logs = Logs::default();
        Metrics::on(FUNCTION.to_owned(), logs.clone()).emit("TesteCF", values, now);
        logs.so_far().bytes
    };
    lines.into_iter().map(length).collect()
}

/// Samples over the run.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Series(Vec<Value>);

impl Series {
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap()
    }

    pub(super) fn add(
        &mut self,
        at: Duration,
        (issued, delivered): (usize, usize),
        oldest: &BTreeMap<String, Duration>,
    ) {
        let oldest: BTreeMap<_, _> = oldest
            .iter()
            .map(|(queue, age)| (queue, rounded(age.as_secs_f64())))
            .collect();
        let (resident, peak) = (memory("VmRSS:"), memory("VmHWM:"));
        self.0.push(json!({
            "second": rounded(at.as_secs_f64()), "issued": issued, "delivered": delivered, "oldest_seconds": oldest,
            "resident_mb": resident, "peak_mb": peak,
        }));
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Megabytes, by a line of `/proc/self/status`.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kilobytes = status
        .lines()
        .find_map(|text| text.strip_prefix(line)?.trim().strip_suffix(" kB"));
    kilobytes.unwrap().parse::<u64>().unwrap() / 1024
}

/// Processor time of this process without the emulated AWS, which has its own threads. The simulated authority, the
/// callers and the receiver of webhooks are included.
pub(super) fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let emulated = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("stat")).ok())
        .filter(|stat| stat.contains("(embedded-aws)"));
    processor_time(&stat) - emulated.map(|stat| processor_time(&stat)).sum::<f64>()
}

fn processor_time(stat: &str) -> f64 {
    let after_name = stat.rsplit(") ").next().unwrap();
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = |field: usize| fields[field].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS
}

/// Milliseconds within which half, 95 and 99 of a hundred ended, and all.
pub(super) fn percentiles(took: impl IntoIterator<Item = Duration>) -> Value {
    let mut took: Vec<_> = took.into_iter().collect();
    took.sort_unstable();
    let of = |percent: usize| {
        let place = (took.len() * percent).div_ceil(100).max(1) - 1;
        took.get(place).map(|one| one.as_millis())
    };
    json!({ "p50": of(50), "p95": of(95), "p99": of(99), "max": of(100) })
}
