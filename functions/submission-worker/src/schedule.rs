//! When to try again: pure tables, so that a reader sees the whole schedule.

use std::time::Duration;

/// Seconds before each question for a verdict. The authority judges most receipts within seconds (reference, polling).
const POLLS: [u64; 10] = [1, 2, 3, 5, 8, 13, 30, 60, 120, 300];
/// Seconds before a send is tried again that certainly did not arrive.
const SENDS: [u64; 8] = [2, 5, 15, 30, 60, 120, 300, 600];

/// After so many attempts in the queue the due index takes over, which costs nothing while it waits.
pub(crate) const ATTEMPTS_IN_QUEUE: u32 = 30;

/// The wait before a question for a verdict, after so many that brought none.
pub(crate) fn poll(attempt: u32) -> Duration {
    at(&POLLS, attempt)
}

/// The wait before a send that follows a failed one.
pub(crate) fn after_failure(attempt: u32) -> Duration {
    at(&SENDS, attempt)
}

fn at(table: &[u64], attempt: u32) -> Duration {
    let last = table.len() - 1;
    Duration::from_secs(table[usize::try_from(attempt).unwrap_or(last).min(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_within_what_a_queue_can_delay() {
        for table in [poll, after_failure] {
            let waits: Vec<Duration> = (0..40).map(table).collect();
            assert!(waits.is_sorted());
            assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(900)));
            assert_eq!(table(u32::MAX), *waits.last().unwrap());
        }
        assert_eq!(poll(0), Duration::from_secs(1));
    }
}
