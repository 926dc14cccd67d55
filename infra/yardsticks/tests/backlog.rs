//! Simulates how long the due index and the submission queue take to drain, without AWS and without a clock. The order,
//! the shares and every constant of a run come from the code ([`housekeeping::round_robin`]); other figures are the
//! assumptions below.
//!
//! `cargo test --test backlog -- --nocapture` prints the table of `docs/cost.md`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise, and prints its table"
)]

use std::collections::VecDeque;
use std::time::Duration;

use ecf_store::due::SHARDS;
use housekeeping::round_robin::{BUDGET, EVERY, LOOK, REACH, room, round_robin};

/// Receipts of two days, at 30 million a month.
const TWO_DAYS: usize = 2_000_000;
/// Assumption: records that one run serves in a second. Each needs a read, a conditional write and a message: about 30
/// ms with [`housekeeping::round_robin::CONCURRENT`] at a time, and one millisecond of CPU, of which the function has half a
/// core.
const SERVED_A_SECOND: usize = 500;
/// Assumption: index entries that one run reads and sorts in a second, over all shards.
const READ_A_SECOND: usize = 80_000;
/// Assumption: jobs that the workers of an environment finish in a second. `SubmissionConcurrency` is 50 in
/// `production`, a worker runs ten jobs at a time, and the authority takes one second for each.
const JOBS_A_SECOND: usize = 500;
/// Two jobs for each receipt: submit it, poll its verdict.
const JOBS_A_RECEIPT: usize = 2;
/// The earlier algorithm took the oldest hundred entries of each shard, regardless of the company.
const BEFORE_PER_SHARD: usize = 100;

const LARGE: u32 = 0;
const SMALL: u32 = u32::MAX;

/// An entry: its position in time, and its company.
type Entry = (usize, u32);

/// The result when the last record is queued and sent.
struct Drained {
    hours: f64,
    /// Seconds from the small company's due time until its last receipt is sent.
    small_seconds: usize,
    longest_queue: usize,
}

struct World {
    seconds: usize,
    /// The due index by shard, each in order of time.
    shards: Vec<VecDeque<Entry>>,
    /// Waiting messages: the company, and whether the job is the submission.
    queue: VecDeque<(u32, bool)>,
    /// Polls, by the second in which they become due.
    polls: VecDeque<(usize, u32)>,
    unsent: usize,
    small_unsent: usize,
    small_due: usize,
    small_done: Option<usize>,
    longest_queue: usize,
}

impl World {
    /// `backlog` records of `companies`; with more than one company, the first has half of the records. 24 records of a
    /// small company become due at `small_due`.
    fn with(companies: usize, backlog: usize, small_due: usize) -> Self {
        let mut shards = vec![VecDeque::new(); usize::from(SHARDS)];
        for place in 0..backlog {
            let company = match place % 2 {
                0 => LARGE,
                _ => u32::try_from(place / 2 % companies).unwrap(),
            };
            shards[shard_of(place)].push_back((place, company));
        }
        Self {
            seconds: 0,
            shards,
            queue: VecDeque::new(),
            polls: VecDeque::new(),
            unsent: backlog,
            small_unsent: 24,
            small_due,
            small_done: None,
            longest_queue: 0,
        }
    }

    fn due(&self) -> usize {
        self.shards.iter().map(VecDeque::len).sum()
    }

    /// One second of the workers and of the clock.
    fn work(&mut self) {
        self.longest_queue = self.longest_queue.max(self.queue.len());
        for _ in 0..JOBS_A_SECOND {
            let Some((company, is_send)) = self.queue.pop_front() else {
                break;
            };
            if !is_send {
                continue;
            }
            if company == SMALL {
                self.small_unsent -= 1;
                if self.small_unsent == 0 {
                    self.small_done = Some(self.seconds);
                }
            } else {
                self.unsent -= 1;
            }
            for _ in 1..JOBS_A_RECEIPT {
                self.polls.push_back((self.seconds + 1, company));
            }
        }
        while self.polls.front().is_some_and(|(at, _)| *at <= self.seconds) {
            let (_, company) = self.polls.pop_front().unwrap();
            self.queue.push_back((company, false));
        }
        self.seconds += 1;
        if self.seconds == self.small_due {
            for place in usize::MAX - 24..usize::MAX {
                self.shards[shard_of(place)].push_back((place, SMALL));
            }
        }
    }

    fn is_drained(&self) -> bool {
        self.unsent == 0 && self.small_unsent == 0
    }

    fn drain(mut self, run: impl Fn(&mut Self)) -> Drained {
        let every = usize::try_from(EVERY.as_secs()).unwrap();
        while !self.is_drained() {
            assert!(self.seconds < 100 * 3_600, "{} are left", self.due());
            let next = self.seconds + every;
            run(&mut self);
            while self.seconds < next {
                self.work();
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a table for people")]
        Drained {
            hours: self.seconds as f64 / 3_600.0,
            small_seconds: self.small_done.unwrap() - self.small_due,
            longest_queue: self.longest_queue,
        }
    }

    /// A run of the earlier algorithm: the oldest entries of each shard.
    fn run_before(&mut self) {
        for shard in 0..self.shards.len() {
            let count = BEFORE_PER_SHARD.min(self.shards[shard].len());
            let taken: Vec<Entry> = self.shards[shard].drain(..count).collect();
            self.queue.extend(taken.into_iter().map(|(_, company)| (company, true)));
        }
    }

    /// A run of `sweep::run`.
    fn run_now(&mut self) {
        let end = self.seconds + seconds(BUDGET);
        let mut due = self.look(true);
        loop {
            let until = (self.seconds + seconds(LOOK)).min(end);
            let mut room = room(self.queue.len());
            let mut served = due.into_iter();
            while self.seconds < until && room > 0 && served.len() > 0 {
                for (_, company) in served.by_ref().take(SERVED_A_SECOND.min(room)) {
                    self.queue.push_back((company, true));
                    room -= 1;
                }
                self.work();
            }
            due = served.collect();
            if self.seconds + seconds(LOOK) > end || (due.is_empty() && self.due() == 0) {
                break;
            }
            if due.is_empty() {
                due = self.look(true);
                continue;
            }
            while self.seconds < until {
                self.work();
            }
            let fresh = self.look(false);
            if !fresh.is_empty() {
                due.extend(fresh);
                due.sort_unstable();
                due = round_robin(due, |(_, company)| *company);
            }
        }
        self.put_back(due);
    }

    /// Reads both ends of each shard in the order of service, or only entries that are new since the last read.
    fn look(&mut self, whole: bool) -> Vec<Entry> {
        let mut due: Vec<Entry> = Vec::new();
        for shard in &mut self.shards {
            if whole {
                due.extend(shard.drain(..REACH.min(shard.len())));
                due.extend(shard.drain(shard.len().saturating_sub(REACH)..));
            } else {
                while shard.back().is_some_and(|(_, company)| *company == SMALL) {
                    due.extend(shard.pop_back());
                }
            }
        }
        for _ in 0..due.len() / READ_A_SECOND {
            self.work();
        }
        due.sort_unstable();
        round_robin(due, |(_, company)| *company)
    }

    /// Entries that were read but not served stay on the index, before and after the unread ones.
    fn put_back(&mut self, mut due: Vec<Entry>) {
        due.sort_unstable();
        let mut older = Vec::new();
        for entry in due {
            let shard = &mut self.shards[shard_of(entry.0)];
            match shard.front() {
                Some(first) if entry < *first => older.push(entry),
                _ => shard.push_back(entry),
            }
        }
        for entry in older.into_iter().rev() {
            self.shards[shard_of(entry.0)].push_front(entry);
        }
    }
}

/// Distributes positions over the shards like random ids.
fn shard_of(place: usize) -> usize {
    (place.wrapping_mul(0x9E37_79B9) >> 7) % usize::from(SHARDS)
}

fn seconds(span: Duration) -> usize {
    usize::try_from(span.as_secs()).unwrap()
}

#[test]
fn r4_the_backlog_of_two_days_drains_within_six_hours() {
    println!(
        "companies | drained before, h | now, h | 24 of another company sent after, s, before | now | longest queue"
    );
    for companies in [1, 20, 2_000] {
        // The small company's receipts become due at the worst moment: just after the last read of a run.
        let before = World::with(companies, TWO_DAYS, 3_638).drain(World::run_before);
        let now = World::with(companies, TWO_DAYS, 3_638).drain(World::run_now);
        println!(
            "{companies} | {:.1} | {:.1} | {} | {} | {}",
            before.hours, now.hours, before.small_seconds, now.small_seconds, now.longest_queue
        );
        assert!(before.hours > 24.0, "{}", before.hours);
        assert!(now.hours < 6.0, "{companies} companies: {} h", now.hours);
        assert!(
            now.small_seconds <= 60,
            "{companies} companies: {} s",
            now.small_seconds
        );
    }
}

#[test]
fn r4_a_company_with_24_due_receipts_is_served_within_a_minute_beside_one_with_100_000() {
    let mut waits = Vec::new();
    for due_at in 60..120 {
        let world = World::with(1, 100_000, due_at);
        waits.push(world.drain(World::run_now).small_seconds);
    }
    println!("24 beside 100,000, due in each second of a minute: {waits:?}");
    assert!(waits.iter().all(|wait| *wait <= 60), "{waits:?}");
    let before = World::with(1, 100_000, 90).drain(World::run_before);
    println!("before: {} s", before.small_seconds);
    assert!(before.small_seconds > 3_600, "{}", before.small_seconds);
}
