//! The time of the embedded services.
//!
//! They play AWS, whose clock the rest of the system cannot turn either; so this module asks the system directly.
//! Everything below the request handlers takes the time as an argument.

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

    /// How long it is from this instant to `later`; nothing if that has passed.
    pub(crate) fn until(self, later: Millis) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }

    /// Seconds since the epoch, as the JSON protocols write instants.
    pub(crate) fn as_epoch_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    pub(crate) fn as_system_time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }
}
