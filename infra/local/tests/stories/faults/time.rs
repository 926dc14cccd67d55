//! The system's time: the begin of a run, and the nights after it.
//!
//! The state folder stores the speed of time and its start ([`Clock::lapse`]). If the start is moved while the process
//! is down, the system continues at a later time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use ecf_runtime::Clock;
use jiff::civil::date;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use serde_json::json;

/// Speed of the system's time relative to real time.
pub(crate) const SPEED: u32 = 20;
/// Ten minutes before midnight, so that a run crosses midnight. After the third of a month, the following nights are in
/// the same month.
const BEGIN: (i8, i8, i8) = (3, 23, 50);

/// The system's time; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Time {
    file: PathBuf,
    since: Arc<RwLock<Timestamp>>,
}

impl Time {
    /// Sets the time of a new system: the third of next month, before midnight.
    pub(crate) fn begin(folder: &Path) -> Self {
        let now = Clock::system().now();
        let (day, hour, minute) = BEGIN;
        let offset = Offset::constant(-4);
        let next = offset.to_datetime(now).date().first_of_month() + 1.month();
        let begin = date(next.year(), next.month(), day).at(hour, minute, 0, 0);
        let begin = offset.to_timestamp(begin).unwrap();
        let time = Self {
            file: folder.join("time-lapse.json"),
            since: Arc::new(RwLock::new(now)),
        };
        time.skip(begin.duration_since(now));
        time
    }

    pub(crate) fn now(&self) -> Timestamp {
        Clock::lapse(*self.since.read().unwrap(), SPEED).now()
    }

    /// Skips a duration. The process must not be running.
    pub(crate) fn skip(&self, by: SignedDuration) {
        let mut since = self.since.write().unwrap();
        // Moving the start back by one second advances the system's time by SPEED - 1 seconds.
        *since -= by / i32::try_from(SPEED - 1).unwrap();
        std::fs::write(&self.file, json!({ "since": *since, "times": SPEED }).to_string()).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_begins_before_midnight_and_time_can_be_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let time = Time::begin(folder.path());
        let begun = Offset::constant(-4).to_datetime(time.now());
        assert_eq!((begun.day(), begun.hour(), begun.minute()), BEGIN);
        time.skip(SignedDuration::from_hours(48));
        let later = Offset::constant(-4).to_datetime(time.now());
        assert_eq!((later.day(), later.hour()), (BEGIN.0 + 2, BEGIN.1));
    }
}
