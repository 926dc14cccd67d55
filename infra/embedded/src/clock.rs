//! The time of the embedded services.
//!
//! The services play AWS, whose clock cannot be set, so this module asks the system directly. Only the delays of the
//! queues can run faster ([`Pace`]), for a local system that runs in a time lapse. All code below the request handlers
//! takes the time as an argument.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Millis(pub(crate) i64);

impl Millis {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock of AWS, not of the system under test"
    )]
    pub(crate) fn now() -> Millis {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    pub(crate) fn plus_seconds(self, seconds: i64) -> Millis {
        Millis(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// The duration from this instant to `later`; zero if `later` has passed.
    pub(crate) fn until(self, later: Millis) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }

    /// Seconds since the epoch, the format of instants in the JSON protocols.
    pub(crate) fn as_epoch_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    pub(crate) fn as_system_time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }
}

/// The speed of delays and visibility timeouts.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    since: Millis,
    times: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            since: Millis(0),
            times: 1,
        }
    }
}

impl Pace {
    /// Runs `times` as fast as the system's clock from that instant on.
    pub fn lapse(since_epoch: Duration, times: u32) -> Pace {
        Pace {
            since: Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)),
            times: times.max(1),
        }
    }

    pub(crate) fn now(self) -> Millis {
        self.at(Millis::now())
    }

    fn at(self, real: Millis) -> Millis {
        let passed = real.0.saturating_sub(self.since.0);
        Millis(
            self.since
                .0
                .saturating_add(passed.saturating_mul(i64::from(self.times))),
        )
    }

    /// The real duration of a delay.
    pub(crate) fn sleep(self, lapsed: Duration) -> Duration {
        lapsed / self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_of_one_is_the_systems_time_and_a_lapse_multiplies_what_passed() {
        assert_eq!(Pace::default().at(Millis(5_000)), Millis(5_000));
        let lapse = Pace::lapse(Duration::from_secs(1), 60);
        assert_eq!(lapse.at(Millis(1_000)), Millis(1_000));
        assert_eq!(lapse.at(Millis(3_500)), Millis(151_000));
        assert_eq!(lapse.sleep(Duration::from_secs(60)), Duration::from_secs(1));
    }
}
