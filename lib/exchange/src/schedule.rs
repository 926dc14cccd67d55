//! When to try again: pure tables, so that a reader sees the whole schedule.

use std::time::Duration;

use ecf_store::LONGEST_DELAY;
use jiff::{SignedDuration, Timestamp};

/// Minutes after each attempt that failed. Three days in all: a receiver that was away over a weekend gets everything.
const WAITS: [i64; 12] = [1, 5, 15, 60, 120, 240, 480, 720, 720, 720, 720, 720];
/// How long the due index waits for a message that is on its way.
const GRACE: SignedDuration = SignedDuration::from_mins(10);

/// How long an attempt may take before another may begin.
pub const LEASE: SignedDuration = SignedDuration::from_mins(3);

/// The wait after so many attempts; `None`: it was the last.
#[must_use]
pub fn wait(attempts: u32) -> Option<SignedDuration> {
    let place = usize::try_from(attempts).ok()?.checked_sub(1)?;
    WAITS.get(place).map(|minutes| SignedDuration::from_mins(*minutes))
}

/// Where the due index finds an attempt that a message may bring.
#[must_use]
pub fn look_at(now: Timestamp, wait: SignedDuration) -> Timestamp {
    match message_delay(wait) {
        Some(_) => now + wait + GRACE,
        None => now + wait,
    }
}

/// The delay of a message that brings it, when a queue can hold one that long.
pub(crate) fn message_delay(wait: SignedDuration) -> Option<Duration> {
    Duration::try_from(wait).ok().filter(|wait| *wait <= LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end_after_three_days() {
        assert!(WAITS.is_sorted());
        let days = WAITS.iter().sum::<i64>() / 60 / 24;
        assert_eq!(days, 3);
        assert_eq!(wait(0), None);
        assert_eq!(wait(1), Some(SignedDuration::from_mins(1)));
        assert_eq!(wait(12), Some(SignedDuration::from_hours(12)));
        assert_eq!(wait(13), None);
        assert_eq!(wait(u32::MAX), None);
    }

    #[test]
    fn long_waits_are_the_due_indexs_from_the_start() {
        let now: Timestamp = "2026-11-27T16:00:00Z".parse().unwrap();
        let at = |minutes| look_at(now, SignedDuration::from_mins(minutes)).to_string();
        assert_eq!(at(15), "2026-11-27T16:25:00Z");
        assert_eq!(at(60), "2026-11-27T17:00:00Z");
    }
}
