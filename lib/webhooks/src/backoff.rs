//! When a delivery that failed is tried again.

use std::time::Duration;

/// How long an event is tried, counted from its first attempt.
pub const WINDOW: Duration = Duration::from_hours(24);

/// How long a webhook has failed without a success in between when its events are no longer tried one by one.
pub const DEAD_AFTER: Duration = Duration::from_hours(1);

/// How long until it is switched off.
pub const PAUSE_AFTER: Duration = Duration::from_hours(72);

const FIRST: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_hours(1);

/// The wait before the next attempt, or `None` when the event is given up.
///
/// `attempts` counts those made so far, `since_first` runs from the first of them. The wait doubles from 30 seconds to
/// an hour. `jitter`, any random number, takes up to a fifth off it, never below 30 seconds, so that the deliveries
/// that one outage gathered do not come back as one wave. `asked`, what the receiver wants to be left alone for, makes the
/// wait longer, up to an hour.
#[must_use]
pub fn backoff(attempts: u32, since_first: Duration, jitter: u16, asked: Option<Duration>) -> Option<Duration> {
    let doublings = attempts.saturating_sub(1).min(16);
    let wait = (FIRST * 2_u32.pow(doublings)).min(LONGEST);
    let wait = (wait - wait / 5 * u32::from(jitter) / u32::from(u16::MAX)).max(FIRST);
    let wait = wait.max(asked.unwrap_or_default().min(LONGEST));
    (since_first + wait <= WINDOW).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_is_the_documented_table() {
        // (attempts made, seconds until the next without jitter, with the most of it)
        let table = [
            (1, 30, 30),
            (2, 60, 48),
            (3, 120, 96),
            (4, 240, 192),
            (5, 480, 384),
            (6, 960, 768),
            (7, 1_920, 1_536),
            (8, 3_600, 2_880),
            (9, 3_600, 2_880),
            (1_000, 3_600, 2_880),
            (u32::MAX, 3_600, 2_880),
        ];
        for (attempts, most, least) in table {
            assert_eq!(
                backoff(attempts, Duration::ZERO, 0, None),
                Some(Duration::from_secs(most)),
                "{attempts}"
            );
            assert_eq!(
                backoff(attempts, Duration::ZERO, u16::MAX, None),
                Some(Duration::from_secs(least)),
                "{attempts}"
            );
        }
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_of_an_hour_at_most() {
        for (attempts, asked, wait) in [
            (1, 5, 30),
            (1, 120, 120),
            (4, 300, 300),
            (8, 60, 3_600),
            (1, 86_400, 3_600),
        ] {
            let asked = Some(Duration::from_secs(asked));
            assert_eq!(
                backoff(attempts, Duration::ZERO, 0, asked),
                Some(Duration::from_secs(wait)),
                "{asked:?}"
            );
        }
    }

    #[test]
    fn no_attempt_is_made_after_the_window() {
        let last_chance = WINDOW - Duration::from_hours(1);
        assert_eq!(backoff(9, last_chance, 0, None), Some(Duration::from_hours(1)));
        assert_eq!(backoff(9, last_chance + Duration::from_secs(1), 0, None), None);
        assert_eq!(backoff(1, WINDOW, 0, None), None);
        assert_eq!(backoff(1, Duration::from_hours(1_000), 0, None), None);
    }

    #[test]
    fn a_dead_endpoint_is_tried_thirty_times_within_the_day() {
        let (mut attempts, mut since_first) = (1, Duration::ZERO);
        while let Some(wait) = backoff(attempts, since_first, 0, None) {
            attempts += 1;
            since_first += wait;
            assert!(attempts < 100);
        }
        assert_eq!(attempts, 30);
        assert!(since_first > Duration::from_hours(22) && since_first <= WINDOW);
    }
}
