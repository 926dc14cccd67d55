//! One run's handling of an authority that is out of reach. Due receipts are held without a job, one receipt per host
//! is sent as a probe, and held receipts and alarms are counted.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use ecf::{Environment, ReceiptState, ReceiptType};
use ecf_runtime::{Metric, Metrics};
use ecf_store::{
    Receipt, Scope, StoreError, Table,
    breaker::Host,
    due::{DueEntry, DueRecord},
    receipts::{AlarmTimes, Mode},
};
use ecf_taxauth::{Gates, Passage};
use jiff::{SignedDuration, Timestamp};

use crate::alarm;
use crate::round_robin::HOLDS;

/// The next look at receipts that wait for the result of a probe: in the next run.
const FINDING_OUT: SignedDuration = SignedDuration::from_secs(30);
/// Upper bound of a hold between two looks, so that no alarm is late.
const LONGEST_HOLD: SignedDuration = SignedDuration::from_hours(1);

/// The state of one run.
pub(crate) struct Round<'a> {
    pub(crate) table: &'a Table,
    pub(crate) gates: &'a Gates,
    pub(crate) times: &'a AlarmTimes,
    /// Records are processed concurrently.
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    finding_out: HashSet<(Environment, Host)>,
    /// Companies with a receipt that this run held.
    holding: HashSet<Scope>,
    tally: HashMap<Environment, Tally>,
    /// The lowest and the highest number of receipts that were never sent.
    unsent: HashMap<(Scope, ReceiptType), (u64, u64)>,
}

#[derive(Default)]
struct Tally {
    held: u64,
    undelivered: u64,
    stuck: u64,
}

impl<'a> Round<'a> {
    pub(crate) fn new(table: &'a Table, gates: &'a Gates, times: &'a AlarmTimes) -> Self {
        Self {
            table,
            gates,
            times,
            found: Mutex::default(),
        }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().expect("nobody panics with it")
    }

    /// Whether a receipt stays due unchanged, because this run has held enough receipts of its environment: one write
    /// per receipt and hold would cost too much.
    pub(crate) fn passes_over(&self, entry: &DueEntry) -> bool {
        let found = self.found();
        let tally = found.tally.get(&entry.scope.environment);
        matches!(entry.record, DueRecord::Receipt(_)) && tally.is_some_and(|tally| tally.held >= HOLDS)
    }

    /// Records a receipt that was signed long ago and never sent: its request may have died before it counted the
    /// number.
    pub(crate) fn record_unsent(&self, receipt: &Receipt) {
        let is_unsent = receipt.state == ReceiptState::Signed && receipt.sending.attempts == 0;
        let Some(encf) = receipt.encf().filter(|_| is_unsent && receipt.mode == Mode::Immediate) else {
            return;
        };
        let sequence = encf.sequence();
        let mut found = self.found();
        let stretch = found.unsent.entry((receipt.scope, encf.receipt_type()));
        let (first, last) = stretch.or_insert((sequence, sequence));
        *first = sequence.min(*first);
        *last = sequence.max(*last);
    }

    /// Schedules a recount of those receipts' ranges, if the caller numbers them.
    pub(crate) async fn recount(&self, now: Timestamp) -> Result<(), StoreError> {
        let unsent = std::mem::take(&mut self.found().unsent);
        for ((scope, ecf_type), (first, last)) in unsent {
            self.table.recount_soon(&scope, ecf_type, first..=last, now).await?;
        }
        Ok(())
    }

    /// Raises the alarm that is due for a receipt.
    pub(crate) async fn alarm(&self, receipt: &Receipt, now: Timestamp) -> Result<(), StoreError> {
        let Some(metric) = alarm::raise(self.table, self.times, receipt, now).await? else {
            return Ok(());
        };
        let mut found = self.found();
        let tally = found.tally.entry(receipt.scope.environment).or_default();
        match metric {
            Metric::ReceiptsUndelivered => tally.undelivered += 1,
            _ => tally.stuck += 1,
        }
        Ok(())
    }

    /// Schedules the next alarm of a receipt that awaits a person; after the last one the receipt leaves the index.
    pub(crate) async fn rest(&self, entry: &DueEntry, receipt: &Receipt, now: Timestamp) -> Result<(), StoreError> {
        match self.times.next(receipt, now) {
            Some(next) => self.table.claim_due(entry, next).await?,
            None => self.table.drop_due(entry).await?,
        };
        Ok(())
    }

    /// Holds a receipt whose host is closed. Returns `false` when its job may be enqueued.
    pub(crate) async fn hold(&self, receipt: &Receipt, now: Timestamp) -> Result<bool, StoreError> {
        let environment = receipt.scope.environment;
        let host = if receipt.is_sent_as_summary() {
            Host::Fc
        } else {
            Host::Ecf
        };
        let mut passage = self.gates.passage(environment, host).await;
        if passage == Passage::Free && receipt.state == ReceiptState::Contingency {
            // A worker held it although its host is there: a summary that has no token.
            passage = self.gates.passage(environment, Host::Ecf).await;
            if passage == Passage::Probe {
                passage = Passage::Free;
            }
        }
        let until = match passage {
            Passage::Free => return Ok(false),
            Passage::Probe if self.found().finding_out.insert((environment, host)) => return Ok(false),
            Passage::Probe => now + FINDING_OUT,
            Passage::Closed(until) => until.min(now + LONGEST_HOLD),
        };
        let until = self.times.next(receipt, now).map_or(until, |alarm| until.min(alarm));
        if self.table.hold(&receipt.scope, receipt, until, now).await? {
            self.found().tally.entry(environment).or_default().held += 1;
        }
        Ok(true)
    }

    /// Whether this is the first receipt of its company that this run held.
    pub(crate) fn is_first_held(&self, receipt: &Receipt) -> bool {
        self.found().holding.insert(receipt.scope)
    }

    /// Emits the metrics of this run, for each environment with a value above zero.
    pub(crate) async fn emit_metrics(&self, metrics: &Metrics, now: Timestamp) {
        for environment in Environment::ALL {
            let mut away = 0;
            for host in Host::ALL {
                away += u64::from(self.gates.passage(environment, host).await != Passage::Free);
            }
            let counted = self.found().tally.remove(&environment).unwrap_or_default();
            let values = [
                (Metric::HostsAway, away),
                (Metric::ReceiptsHeld, counted.held),
                (Metric::ReceiptsUndelivered, counted.undelivered),
                (Metric::ReceiptsStuck, counted.stuck),
            ];
            if values.iter().any(|(_, value)| *value > 0) {
                metrics.emit(environment.as_str(), &values, now);
            }
        }
    }
}
