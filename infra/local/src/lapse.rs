//! Faster time, which shows in minutes what takes a day: retries, leases, expiries.
//!
//! A state folder has a fixed speed. On the next start, time continues where it would have been without the stop, and
//! never runs backwards.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use ecf_embedded::Pace;
use ecf_runtime::Clock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::folder::StateFolder;
use crate::start::StartError;

/// Real time that one call to an external system needs.
const ONE_CALL: Duration = Duration::from_secs(1);

/// The speed of time, and its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lapse {
    since: Timestamp,
    times: NonZeroU32,
}

impl Lapse {
    /// The folder's speed; a new folder takes the requested one.
    ///
    /// # Errors
    ///
    /// When the requested speed differs from the folder's.
    pub(crate) fn of(folder: &StateFolder, asked: Option<NonZeroU32>, now: Timestamp) -> Result<Self, StartError> {
        let file = folder.lapse();
        let state = |source| StartError::State {
            folder: file.clone(),
            source,
        };
        if let Some(kept) = Self::kept(&file).map_err(state)? {
            return match asked {
                Some(asked) if asked != kept.times => Err(StartError::Speed {
                    kept: kept.times,
                    asked,
                }),
                _ => Ok(kept),
            };
        }
        let times = asked.unwrap_or(NonZeroU32::MIN);
        // State with real timestamps cannot continue in a time lapse, nor the other way round.
        if folder.demo().exists() && times != NonZeroU32::MIN {
            return Err(StartError::Speed {
                kept: NonZeroU32::MIN,
                asked: times,
            });
        }
        let lapse = Self { since: now, times };
        if times != NonZeroU32::MIN {
            let kept = serde_json::to_vec(&lapse).map_err(|error| state(error.into()))?;
            std::fs::write(&file, kept).map_err(state)?;
        }
        Ok(lapse)
    }

    /// The speed in this file; `None` without a file, which means real time.
    pub(crate) fn kept(file: &Path) -> Result<Option<Self>, std::io::Error> {
        match std::fs::read(file) {
            Ok(kept) => Ok(Some(serde_json::from_slice(&kept)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn clock(self) -> Clock {
        match self.times.get() {
            1 => Clock::system(),
            times => Clock::lapse(self.since, times),
        }
    }

    pub(crate) fn pace(self) -> Pace {
        let since = Duration::try_from(self.since.as_duration()).unwrap_or_default();
        Pace::lapse(since, self.times.get())
    }

    /// A worker's timeout in real time. External systems do not run faster, so it is at least the time of one call.
    pub(crate) fn time_limit(self, lapsed: Duration) -> Duration {
        self.sleep(lapsed).max(lapsed.min(ONE_CALL))
    }

    pub(crate) fn sleep(self, lapsed: Duration) -> Duration {
        lapsed / self.times.get()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_folder_keeps_the_speed_and_the_instant_it_was_begun_with() {
        let folder = tempfile::tempdir().unwrap();
        let folder = StateFolder::claim(folder.path()).unwrap();
        let begun = Timestamp::from_second(1_798_761_600).unwrap();
        let first = Lapse::of(&folder, NonZeroU32::new(60), begun).unwrap();
        let later = begun + jiff::SignedDuration::from_hours(1);
        assert_eq!(Lapse::of(&folder, None, later).unwrap(), first);
        assert_eq!(Lapse::kept(&folder.lapse()).unwrap(), Some(first));
        assert_eq!(Lapse::of(&folder, NonZeroU32::new(60), later).unwrap(), first);
        assert_eq!(first.sleep(Duration::from_secs(60)), Duration::from_secs(1));
        let error = Lapse::of(&folder, NonZeroU32::new(2), later).unwrap_err().to_string();
        assert!(error.contains("60") && error.contains("--reset"), "{error}");
    }

    #[test]
    fn r10_a_time_limit_leaves_time_for_one_call() {
        let since = Timestamp::UNIX_EPOCH;
        let lapse = |times| Lapse {
            since,
            times: NonZeroU32::new(times).unwrap(),
        };
        let seconds = Duration::from_secs;
        assert_eq!(lapse(1).time_limit(seconds(65)), seconds(65));
        assert_eq!(lapse(20).time_limit(seconds(60)), seconds(3));
        assert_eq!(lapse(60).time_limit(seconds(28)), ONE_CALL);
        // A folder of an earlier version.
        assert_eq!(lapse(1_200).time_limit(seconds(60)), ONE_CALL);
    }

    #[test]
    fn state_of_real_time_is_not_taken_into_a_lapse() {
        let folder = tempfile::tempdir().unwrap();
        let folder = StateFolder::claim(folder.path()).unwrap();
        std::fs::write(folder.demo(), "{}").unwrap();
        let now = Timestamp::from_second(1_798_761_600).unwrap();
        assert!(Lapse::of(&folder, NonZeroU32::new(60), now).is_err());
        assert!(Lapse::of(&folder, None, now).is_ok());
    }
}
