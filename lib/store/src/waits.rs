//! Delays between attempts, leases of workers, and grace periods for messages that may be lost.
//!
//! They stand in one place because they depend on each other: a chain of messages ends before housekeeping looks ([`MESSAGE_GRACE`]),
//! or a second chain would run beside it, and a lease is longer than what it covers may take. Those of the way to the tax authority
//! stand in [`ecf::waits`], beside the function that decides with them.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

pub use ecf::waits::{LONGEST_DELAY, SEND_LEASE, STEP, VERDICT, Waits};

/// An event whose attempts could not be recorded. After the last retry the due index recovers it.
pub const EVENT: Waits = Waits(&[30, 60, 120, 300]);
/// Notifications of the portal about new companies. There is no further attempt after the last.
pub const PORTAL: Waits = Waits(&[60, 300, 900]);
/// Deliveries, approvals and annulments, from a minute to twelve hours. Three days in all, so that a receiver that was
/// down over a weekend gets everything.
pub const EXCHANGE: Waits = Waits(&[
    60, 300, 900, 3_600, 7_200, 14_400, 28_800, 43_200, 43_200, 43_200, 43_200, 43_200,
]);
/// Looks of a run of the certification at a row without a verdict; the last wait repeats. All are shorter than the time
/// after which housekeeping takes on a run.
pub const RUN: Waits = Waits(&[1, 2, 2, 5, 5, 10, 30, 60]);

/// The lease of an attempt to deliver to a webhook.
pub const WEBHOOK_LEASE: SignedDuration = SignedDuration::from_mins(5);
/// The lease of a call to another issuer or the authority, for a delivery, an approval or an annulment.
pub const EXCHANGE_LEASE: SignedDuration = SignedDuration::from_mins(3);

/// How long the due index waits for a message that was sent.
pub const MESSAGE_GRACE: SignedDuration = SignedDuration::from_mins(10);

/// The delay of the message for the next attempt; `None` when it exceeds the limit of a queue, and the due index starts
/// the attempt.
pub fn message_delay(now: Timestamp, next: Timestamp) -> Option<Duration> {
    let wait = Duration::try_from(next.duration_since(now)).unwrap_or_default();
    (wait <= LONGEST_DELAY).then_some(wait)
}

/// When the due index recovers an attempt: some time after its message.
pub fn due_at(now: Timestamp, next: Timestamp) -> Timestamp {
    match message_delay(now, next) {
        Some(_) => next + MESSAGE_GRACE,
        None => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_messages_ends_before_housekeeping_looks() {
        for Waits(seconds) in [STEP, VERDICT, EVENT] {
            assert!(seconds.is_sorted());
            assert!(
                seconds.iter().sum::<u64>() < MESSAGE_GRACE.unsigned_abs().as_secs(),
                "{seconds:?}"
            );
        }
    }

    #[test]
    fn other_issuers_are_tried_for_three_days() {
        let Waits(seconds) = EXCHANGE;
        assert!(seconds.is_sorted());
        assert_eq!(seconds.iter().sum::<u64>() / 86_400, 3);
    }

    #[test]
    fn a_wait_follows_each_attempt_but_the_last() {
        assert_eq!(STEP.after(0), Some(Duration::from_secs(2)));
        assert_eq!(STEP.after(6), Some(Duration::from_secs(300)));
        assert_eq!(STEP.after(7), None);
        assert_eq!(STEP.after(u32::MAX), None);
    }

    #[test]
    fn long_waits_are_the_due_indexs_from_the_start() {
        let now: Timestamp = "2026-11-27T16:00:00Z".parse().unwrap();
        let at = |minutes| due_at(now, now + SignedDuration::from_mins(minutes)).to_string();
        assert_eq!(at(15), "2026-11-27T16:25:00Z");
        assert_eq!(at(60), "2026-11-27T17:00:00Z");
    }
}
