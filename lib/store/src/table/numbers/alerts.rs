//! Warnings about ranges that run low or expire, each published once.
//!
//! The range records each published warning: with its last number for few numbers left, with its last day for the
//! expiry. After it was extended, the warning can be published again.

use ecf::Fecha;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::{PUBLISHED_EXPIRING, PUBLISHED_LOW, Range, RangeState, key};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::exists,
        item::{number, text},
        keys::PK,
    },
};

/// A range is never low while more than one number in five is left.
const LOW_AT_MOST_ONE_IN: u64 = 5;

/// The thresholds of a company's warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// A range is low with this number of numbers left, or with a fifth of its own if that is less.
    pub remaining: u64,
    /// A range is expiring from this number of days before its last day.
    pub days: u16,
}

/// A warning about a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeAlert {
    Low {
        remaining: u64,
        /// The range is low with this number of numbers left, or fewer.
        threshold: u64,
    },
    Expiring {
        valid_until: Fecha,
        days_left: i32,
        /// The range is expiring from this number of days before its last day.
        threshold_days: u16,
    },
}

impl Range {
    /// The warnings for its company today.
    ///
    /// An exhausted range is low until it is switched off; an expired range is not warned about any more.
    pub fn alerts(&self, thresholds: Thresholds, today: Fecha) -> Vec<RangeAlert> {
        let state = self.state(today);
        let mut alerts = Vec::new();
        if !matches!(state, RangeState::Active | RangeState::Exhausted) {
            return alerts;
        }
        let remaining = self.available();
        let low = thresholds.remaining.min(self.total() / LOW_AT_MOST_ONE_IN);
        if remaining <= low {
            alerts.push(RangeAlert::Low {
                remaining,
                threshold: low,
            });
        }
        if let Some(valid_until) = self.valid_until
            && state == RangeState::Active
        {
            let days_left = (valid_until.date() - today.date()).get_days();
            if days_left <= i32::from(thresholds.days) {
                alerts.push(RangeAlert::Expiring {
                    valid_until,
                    days_left,
                    threshold_days: thresholds.days,
                });
            }
        }
        alerts
    }

    /// When the passage of time alone may change the warnings; `None` when it cannot.
    pub fn next_change(&self, thresholds: Thresholds, now: Timestamp) -> Option<Timestamp> {
        let valid_until = self.valid_until?;
        if self.is_expired(Fecha::at(now)) {
            return None;
        }
        let first_day = valid_until.date().saturating_sub(i64::from(thresholds.days).days());
        let midnight = jiff::tz::Offset::constant(-4)
            .to_timestamp(first_day.at(0, 0, 0, 0))
            .ok()?;
        // Every day, because the thresholds may change too.
        let tomorrow = now + SignedDuration::from_hours(24);
        Some(if midnight > now {
            midnight.min(tomorrow)
        } else {
            tomorrow
        })
    }

    /// Whether the next take may pass the line of the low warning, wherever the company has drawn it.
    pub(super) fn may_run_low(&self) -> bool {
        self.published_low != Some(self.end) && self.available() <= self.total() / LOW_AT_MOST_ONE_IN + 1
    }

    /// Whether this warning was published already.
    pub fn is_published(&self, alert: RangeAlert) -> bool {
        match alert {
            RangeAlert::Low { .. } => self.published_low == Some(self.end),
            RangeAlert::Expiring { valid_until, .. } => self.published_expiring == Some(valid_until),
        }
    }
}

impl Table {
    /// Records that a warning was published, for the range as it was read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_alert_published(
        &self,
        scope: &Scope,
        range: &Range,
        alert: RangeAlert,
    ) -> Result<(), StoreError> {
        let change = Change::of(key(scope, range.id()));
        let change = match alert {
            RangeAlert::Low { .. } => change.set(PUBLISHED_LOW, number(range.end)),
            RangeAlert::Expiring { valid_until, .. } => change.set(PUBLISHED_EXPIRING, text(valid_until)),
        };
        self.apply("alert told", change.when(exists(PK))).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ecf::ReceiptType;

    use super::{super::Numbering, *};

    const THRESHOLDS: Thresholds = Thresholds {
        remaining: 100,
        days: 30,
    };

    fn range(end: u64, next: u64, valid_until: &str) -> Range {
        Range {
            ecf_type: ReceiptType::E31,
            start: 1,
            end,
            next,
            used: 0,
            valid_until: Some(valid_until.parse().unwrap()),
            numbering: Some(Numbering::Service),
            active: true,
            free: Vec::new(),
            retaken: Vec::new(),
            checked: 1,
            last_taken_at: None,
            verified_at: None,
            created_at: Timestamp::UNIX_EPOCH,
            next_look: None,
            published_low: None,
            published_expiring: None,
        }
    }

    fn published(range: &Range, today: &str) -> Vec<String> {
        let alerts = range.alerts(THRESHOLDS, today.parse().unwrap());
        alerts
            .into_iter()
            .map(|alert| match alert {
                RangeAlert::Low { remaining, .. } => format!("low {remaining}"),
                RangeAlert::Expiring { days_left, .. } => format!("expiring {days_left}"),
            })
            .collect()
    }

    #[test]
    fn a_range_is_low_below_the_threshold_or_a_fifth_of_itself() {
        for (end, next, expected) in [
            (1_000, 900, &[][..]),
            (1_000, 901, &["low 100"]),
            (1_000, 1_001, &["low 0"]),
            // A fifth of 50 is 10.
            (50, 40, &[]),
            (50, 41, &["low 10"]),
            (4, 4, &[]),
            (4, 5, &["low 0"]),
        ] {
            assert_eq!(
                published(&range(end, next, "31-12-2028"), "28-11-2026"),
                expected,
                "{next} of {end}"
            );
        }
        let mut freed = range(1_000, 901, "31-12-2028");
        freed.free = vec![7];
        assert_eq!(published(&freed, "28-11-2026"), [""; 0]);
    }

    #[test]
    fn a_range_is_expiring_from_so_many_days_before_its_last_until_that_is_over() {
        let range = range(1_000, 1, "31-12-2026");
        for (today, expected) in [
            ("30-11-2026", &[][..]),
            ("01-12-2026", &["expiring 30"]),
            ("31-12-2026", &["expiring 0"]),
            ("01-01-2027", &[]),
        ] {
            assert_eq!(published(&range, today), expected, "{today}");
        }
    }

    #[test]
    fn what_was_told_is_told_again_only_of_a_range_that_grew_or_was_prolonged() {
        let mut range = range(1_000, 950, "31-12-2026");
        let untold = |range: &Range| {
            let alerts = range.alerts(THRESHOLDS, "31-12-2026".parse().unwrap());
            alerts.into_iter().filter(|alert| !range.is_published(*alert)).count()
        };
        assert_eq!(untold(&range), 2);
        range.published_low = Some(1_000);
        range.published_expiring = range.valid_until;
        assert_eq!(untold(&range), 0);
        range.end = 1_010;
        range.valid_until = Some("01-01-2027".parse().unwrap());
        assert_eq!(untold(&range), 2);
    }

    #[test]
    fn of_a_range_that_is_off_nothing_is_said() {
        let mut range = range(1_000, 1_001, "31-12-2026");
        range.active = false;
        assert_eq!(published(&range, "31-12-2026"), [""; 0]);
    }

    #[test]
    fn a4_a_range_that_the_caller_numbers_is_low_by_what_is_used_not_by_its_highest_number() {
        let mut range = range(1_000, 1_001, "31-12-2026");
        range.numbering = Some(Numbering::Caller);
        for (used, expected) in [
            (1, &["expiring 0"][..]),
            (899, &["expiring 0"]),
            (900, &["low 100", "expiring 0"]),
            (1_000, &["low 0"]),
        ] {
            range.used = used;
            assert_eq!(published(&range, "31-12-2026"), expected, "{used}");
        }
    }

    #[test]
    fn the_clock_is_waited_for_until_the_first_day_of_warning_but_no_longer_than_a_day() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let range = range(1_000, 1, "31-12-2026");
        for (now, next) in [
            ("2026-11-28T12:00:00Z", "2026-11-29T12:00:00Z"),
            ("2026-11-30T12:00:00Z", "2026-12-01T04:00:00Z"),
            ("2026-12-01T04:00:00Z", "2026-12-02T04:00:00Z"),
        ] {
            assert_eq!(range.next_change(THRESHOLDS, at(now)), Some(at(next)), "{now}");
        }
        assert_eq!(range.next_change(THRESHOLDS, at("2027-01-01T04:00:00Z")), None);
    }
}
