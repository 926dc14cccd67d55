//! When to try again: pure tables, so that a reader sees the whole schedule.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::SubmissionJob;

/// Seconds before each question for a verdict. The authority judges most receipts within seconds (reference, polling).
const POLLS: [u64; 10] = [1, 2, 3, 5, 8, 13, 30, 60, 120, 300];
/// Seconds before a step is tried again that failed.
const FAILURES: [u64; 7] = [2, 5, 15, 30, 60, 120, 300];

/// The wait before the first question for a verdict.
pub(crate) fn first_poll() -> Duration {
    Duration::from_secs(POLLS[0])
}

/// The next question for a verdict, after one that brought none. Once there were many, the due index takes over.
pub(crate) fn poll_again(job: &SubmissionJob) -> Outcome<SubmissionJob> {
    again(job, at(&POLLS, job.attempt().saturating_add(1)))
}

/// The wait before the next try of a step that failed; `None` once there were many.
///
/// Such a chain ends within the ten minutes after which housekeeping looks: it would be a second chain beside the first.
pub(crate) fn after_failure(attempt: u32) -> Option<Duration> {
    at(&FAILURES, attempt)
}

/// The job's next try after this wait, or nothing: the receipt is on the due index, which costs nothing while it waits.
pub(crate) fn again(job: &SubmissionJob, wait: Option<Duration>) -> Outcome<SubmissionJob> {
    match wait {
        Some(after) => Outcome::Again {
            job: job.clone().next(),
            after,
        },
        None => Outcome::Done,
    }
}

fn at(table: &[u64], attempt: u32) -> Option<Duration> {
    let seconds = table.get(usize::try_from(attempt).ok()?)?;
    Some(Duration::from_secs(*seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end_before_housekeeping_looks() {
        for table in [POLLS.as_slice(), &FAILURES] {
            assert!(table.is_sorted());
            assert!(table.iter().sum::<u64>() < 600, "{table:?}");
        }
        assert_eq!(after_failure(0), Some(Duration::from_secs(2)));
        assert_eq!(after_failure(6), Some(Duration::from_secs(300)));
        assert_eq!(after_failure(7), None);
        assert_eq!(after_failure(u32::MAX), None);
    }
}
