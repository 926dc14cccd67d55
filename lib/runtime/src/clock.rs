//! The source of time: the system's clock in production, a faster or a manual clock elsewhere.

use std::sync::{Arc, Mutex, PoisonError};

use ecf::SANTO_DOMINGO;
use jiff::{SignedDuration, Timestamp, civil::Date};

/// A clock: the system's, one that runs faster, or one that a test advances. Clones share it.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Lapse { since: Timestamp, times: u32 },
    Manual(Arc<Mutex<Timestamp>>),
}

impl Clock {
    /// The system's clock, for production.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that has run `times` as fast as the system's clock since `since`. A local run uses it to show an hour's
    /// work in a minute.
    pub fn lapse(since: Timestamp, times: u32) -> Self {
        Self(Source::Lapse { since, times })
    }

    /// A clock that stands still until [`Clock::advance`] moves it.
    pub fn manual(start: Timestamp) -> Self {
        Self(Source::Manual(Arc::new(Mutex::new(start))))
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            #[expect(clippy::disallowed_methods, reason = "the clock is the one that asks the system")]
            Source::System => Timestamp::now(),
            Source::Lapse { since, times } => {
                let passed = Self::system().now().duration_since(*since);
                let times = i32::try_from(*times).unwrap_or(i32::MAX);
                let lapsed = passed.checked_mul(times).unwrap_or(passed);
                since.saturating_add(lapsed).unwrap_or(*since)
            }
            Source::Manual(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// The present date in the Dominican Republic.
    pub fn today(&self) -> Date {
        SANTO_DOMINGO.to_datetime(self.now()).date()
    }

    /// Advances a manual clock; a negative duration moves it back.
    ///
    /// # Panics
    /// Panics on a clock that is not manual, and when the result is outside the range of [`Timestamp`].
    pub fn advance(&self, by: SignedDuration) {
        match &self.0 {
            Source::System | Source::Lapse { .. } => panic!("only a manual clock can be advanced"),
            Source::Manual(time) => {
                let mut time = time.lock().unwrap_or_else(PoisonError::into_inner);
                *time = time
                    .checked_add(by)
                    .expect("a test stays within the years of a timestamp");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told_and_clones_share_it() {
        let start = Timestamp::from_second(1_798_761_600).expect("in range");
        let clock = Clock::manual(start);
        let clone = clock.clone();
        assert_eq!(clone.now(), start);
        clock.advance(SignedDuration::from_secs(90));
        assert_eq!(clone.now(), start + SignedDuration::from_secs(90));
    }

    #[test]
    fn today_is_the_date_in_santo_domingo() {
        let clock = Clock::manual("2026-11-28T03:59:59Z".parse().expect("an instant"));
        assert_eq!(clock.today(), jiff::civil::date(2026, 11, 27));
        clock.advance(SignedDuration::from_secs(1));
        assert_eq!(clock.today(), jiff::civil::date(2026, 11, 28));
    }

    #[test]
    fn a_lapse_runs_ahead_of_the_system_by_its_factor() {
        let since = Clock::system().now() - SignedDuration::from_secs(10);
        let ahead = Clock::lapse(since, 60).now().duration_since(since);
        // At least ten seconds passed, and this test took less than ten more.
        assert!(
            ahead >= SignedDuration::from_mins(10) && ahead < SignedDuration::from_mins(20),
            "{ahead:?}"
        );
    }

    #[test]
    fn the_system_clock_runs() {
        let clock = Clock::system();
        let before = clock.now();
        assert!(clock.now() >= before);
    }
}
