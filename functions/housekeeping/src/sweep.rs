//! One run over the due index: reads all shards, serves companies in turns, and repeats while entries and time are
//! left.
//!
//! `infra/yardsticks/tests/backlog.rs` computes the duration of an outage's backlog, and the delay of a company with
//! few records beside one with many, from the constants and the order of [`crate::round_robin`].

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ecf_store::{
    JobQueue, Scope, StoreError,
    due::{Due, DueEntry, DueRecord, SHARDS},
};
use futures::future::join_all;
use futures::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::round::Round;
use crate::round_robin::{BUDGET, CONCURRENT, FEW, LOOK, REACH, room, round_robin};
use crate::{App, serve};

/// Serves the due entries. A failing record or shard does not stop the others.
///
/// # Errors
/// The first failure, after everything was processed.
pub(crate) async fn run(app: &App, round: &Round<'_>) -> Result<(), StoreError> {
    let end = Instant::now() + BUDGET;
    let failures = Failures::default();
    let mut looked_at = app.clock.now();
    let (mut due, mut is_partial) = look(app, &failures, looked_at).await;
    loop {
        let until = end.min(Instant::now() + LOOK);
        let rooms = Rooms::of(app, &due, &failures).await;
        let served = serve_all(app, round, due, &rooms, &failures, until).await;
        due = served.left;
        if served.queued > 0 {
            tracing::info!(
                queued = served.queued,
                left = due.len(),
                "overdue records enqueued again"
            );
        }
        let now = Instant::now();
        if (due.is_empty() && !is_partial) || now + LOOK > end {
            break;
        }
        if due.is_empty() {
            if !served.has_moved {
                break;
            }
            looked_at = app.clock.now();
            (due, is_partial) = look(app, &failures, looked_at).await;
            continue;
        }
        // Either the time of this look is over, or full queues stopped it: wait for the next look.
        tokio::time::sleep_until(until).await;
        let from = std::mem::replace(&mut looked_at, app.clock.now());
        let fresh = fresh(app, &failures, from, looked_at).await;
        if !fresh.is_empty() {
            due.extend(fresh);
            due.sort_by_key(|entry| entry.at);
            due = round_robin(due, |entry| entry.scope.company);
        }
    }
    failures.into_result()
}

/// Reads both ends of every shard, in turns. Also returns whether a shard has more entries.
async fn look(app: &App, failures: &Failures, now: Timestamp) -> (Vec<DueEntry>, bool) {
    let mut is_partial = false;
    let mut due = Vec::new();
    for found in all_shards(failures, |shard| ends(app, failures, shard, now)).await {
        due.extend(found.0);
        is_partial |= found.1;
    }
    let mut seen = failures.records();
    due.retain(|entry| seen.insert((entry.scope, entry.record)));
    due.sort_by_key(|entry| entry.at);
    (round_robin(due, |entry| entry.scope.company), is_partial)
}

/// The entries that became due since the previous look.
async fn fresh(app: &App, failures: &Failures, from: Timestamp, now: Timestamp) -> Vec<DueEntry> {
    // The index has millisecond precision, and entries at `from` were read already.
    let from = from + SignedDuration::from_millis(1);
    if from > now {
        return Vec::new();
    }
    let found = all_shards(failures, |shard| app.table.due_latest(shard, from, now, REACH)).await;
    found.into_iter().flat_map(|due| failures.readable(due)).collect()
}

async fn all_shards<T, F>(failures: &Failures, read: impl Fn(u8) -> F) -> Vec<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let found = join_all((0..SHARDS).map(read)).await;
    let answers = found.into_iter().enumerate().filter_map(|(shard, found)| match found {
        Ok(found) => Some(found),
        Err(error) => {
            tracing::error!(shard, error = %ecf_runtime::telemetry::chain(&error), "a shard could not be read");
            failures.first(error);
            None
        }
    });
    answers.collect()
}

/// The oldest entries of a shard, and the newest ones when the backlog exceeds [`REACH`]; whether it does.
async fn ends(app: &App, failures: &Failures, shard: u8, now: Timestamp) -> Result<(Vec<DueEntry>, bool), StoreError> {
    let mut due = failures.readable(app.table.due_now(shard, now, REACH).await?);
    let Some(last) = due.last().map(|entry| entry.at).filter(|_| due.len() >= REACH) else {
        return Ok((due, false));
    };
    due.extend(failures.readable(app.table.due_latest(shard, last, now, REACH).await?));
    Ok((due, true))
}

struct Served {
    queued: usize,
    /// Whether any record was enqueued, held or settled.
    has_moved: bool,
    /// Entries that were not served, for lack of room or time, in their order.
    left: Vec<DueEntry>,
}

async fn serve_all(
    app: &App,
    round: &Round<'_>,
    due: Vec<DueEntry>,
    rooms: &Rooms,
    failures: &Failures,
    until: Instant,
) -> Served {
    let (queued, moved) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let serve_one = async |entry: DueEntry| {
        if round.passes_over(&entry) {
            return None;
        }
        if Instant::now() >= until || !rooms.admit(&entry) {
            return Some(entry);
        }
        match serve(app, round, &entry, app.clock.now()).await {
            Ok(has_queued) => {
                queued.fetch_add(usize::from(has_queued), Ordering::Relaxed);
                moved.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                tracing::error!(record = ?entry.record, error = %ecf_runtime::telemetry::chain(&error), "an overdue record could not be enqueued");
                failures.of(&entry, error);
            }
        }
        None
    };
    let left = stream::iter(due)
        .map(serve_one)
        .buffered(CONCURRENT)
        .filter_map(std::future::ready)
        .collect()
        .await;
    Served {
        queued: queued.into_inner(),
        has_moved: moved.into_inner() > 0,
        left,
    }
}

/// The number of messages that each queue still accepts; a queue that is not listed is not limited.
struct Rooms {
    left: Mutex<HashMap<JobQueue, usize>>,
}

impl Rooms {
    /// Reads the length of the queues, if there are at least [`FEW`] entries.
    async fn of(app: &App, due: &[DueEntry], failures: &Failures) -> Self {
        let mut left = HashMap::new();
        if due.len() >= FEW {
            for queue in JobQueue::FILLED {
                let waiting = app.queues.waiting(queue).await.unwrap_or_else(|error| {
                    failures.first(error);
                    0
                });
                left.insert(queue, room(waiting));
            }
        }
        Self { left: Mutex::new(left) }
    }

    /// Reserves room in each queue that the entry's job may go to. Returns `false` when one of them is full.
    fn admit(&self, entry: &DueEntry) -> bool {
        let mut left = self.left.lock().expect("nobody panics with it");
        let queues = queues_of(entry);
        if queues.iter().any(|queue| left.get(queue) == Some(&0)) {
            return false;
        }
        for queue in queues {
            left.entry(queue).and_modify(|left| *left -= 1);
        }
        true
    }
}

/// The queues that a record's job may go to. A receipt may need either of two; that is known when the receipt is read.
fn queues_of(entry: &DueEntry) -> Vec<JobQueue> {
    match entry.record {
        DueRecord::Receipt(_) => vec![JobQueue::Submission(entry.scope.environment), JobQueue::Issuing],
        DueRecord::Announcement(_) | DueRecord::Undelivered(..) | DueRecord::Webhook(_) => vec![JobQueue::Webhook],
        DueRecord::Approval(_) | DueRecord::Annulment(_) | DueRecord::Inbox(_) => vec![JobQueue::Exchange],
        DueRecord::Run(_) => vec![JobQueue::Certification],
        DueRecord::UnclaimedP12 => vec![],
    }
}

/// The failures of a run.
#[derive(Default)]
struct Failures {
    first: Mutex<Option<StoreError>>,
    records: Mutex<HashSet<(Scope, DueRecord)>>,
}

impl Failures {
    fn first(&self, error: StoreError) {
        self.first.lock().expect("nobody panics with it").get_or_insert(error);
    }

    fn of(&self, entry: &DueEntry, error: StoreError) {
        let mut records = self.records.lock().expect("nobody panics with it");
        records.insert((entry.scope, entry.record));
        self.first(error);
    }

    /// The entries that could be read.
    fn readable(&self, due: Due) -> Vec<DueEntry> {
        let count = due.unreadable.len();
        if let Some(error) = due.unreadable.into_iter().next() {
            tracing::error!(count, error = %ecf_runtime::telemetry::chain(&error), "this version cannot read some due records");
            self.first(error);
        }
        due.entries
    }

    fn records(&self) -> HashSet<(Scope, DueRecord)> {
        self.records.lock().expect("nobody panics with it").clone()
    }

    fn into_result(self) -> Result<(), StoreError> {
        let first = self.first.into_inner().expect("nobody panics with it");
        first.map_or(Ok(()), Err)
    }
}
