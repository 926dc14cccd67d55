//! When to try again: pure tables, so that a reader sees the whole schedule.

use std::time::Duration;

use ecf_runtime::Outcome;
use ecf_store::{SubmissionJob, waits};

/// The wait before the first question for a verdict.
pub(crate) fn first_poll() -> Duration {
    waits::VERDICT.after(0).unwrap_or_default()
}

/// The next question for a verdict, after one that brought none. Once there were many, the due index takes over.
pub(crate) fn poll_again(job: &SubmissionJob) -> Outcome<SubmissionJob> {
    again(job, waits::VERDICT.after(job.attempt().saturating_add(1)))
}

/// The wait before the next try of a step that failed; `None` once there were many.
///
/// Such a chain ends within the ten minutes after which housekeeping looks: it would be a second chain beside the first.
pub(crate) fn after_failure(attempt: u32) -> Option<Duration> {
    waits::STEP.after(attempt)
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
