//! The rate limit of a key: a number of requests within a fixed window of ten seconds, counted over all instances.
//!
//! An instance counts in memory and adds to the shared counter only when it has a whole share, so a key at an ordinary
//! pace causes no write. Decision 0023 states what this bounds and what it does not.

use std::time::Duration;

use ecf_store::ApiKeyId;
use jiff::{SignedDuration, Timestamp};
use lru::LruCache;

use super::keys::CAPACITY;

/// Length of the window. A burst up to the whole limit of the window passes, which a batch job of an ERP needs.
pub(super) const WINDOW_SECONDS: i64 = 10;
/// A limit is divided into this number of shares. An instance counts one share locally.
const SHARES: u32 = 20;
/// Upper bound of a share, for any limit.
const LARGEST_SHARE: u32 = 50;

/// The decision about a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Granted,
    /// A share is full: add these requests to the shared counter.
    Share {
        window: Timestamp,
        requests: u32,
    },
    /// The limit is used up; retry after this time.
    Refused(Duration),
}

/// The current window of each of the most recently used keys in this instance.
#[derive(Debug)]
pub(super) struct Rates {
    windows: LruCache<ApiKeyId, Window>,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            windows: LruCache::new(CAPACITY),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Window {
    begin: i64,
    requests: u32,
    is_full: bool,
}

impl Rates {
    /// Counts a request against the limit of its key in the current window.
    pub(super) fn admit(&mut self, key: ApiKeyId, limit: u32, now: Timestamp) -> Admission {
        let begin = begin(now);
        let empty = Window {
            begin,
            requests: 0,
            is_full: false,
        };
        let window = self.windows.get_or_insert_mut(key, || empty);
        if window.begin != begin {
            *window = empty;
        }
        if window.is_full || window.requests >= limit {
            return Admission::Refused(rest(now));
        }
        window.requests += 1;
        let share = (limit / SHARES).clamp(1, LARGEST_SHARE);
        match window.requests % share {
            0 => Admission::Share {
                window: Timestamp::from_second(begin).unwrap_or(now),
                requests: share,
            },
            _ => Admission::Granted,
        }
    }

    /// Records that the shared counter exceeds the limit: this instance refuses the key until the window ends. Returns
    /// the time until then.
    pub(super) fn fill(&mut self, key: &ApiKeyId, now: Timestamp) -> Duration {
        if let Some(window) = self.windows.get_mut(key) {
            window.is_full = true;
        }
        rest(now)
    }
}

fn begin(now: Timestamp) -> i64 {
    now.as_second() - now.as_second().rem_euclid(WINDOW_SECONDS)
}

/// The time until the current window ends.
fn rest(now: Timestamp) -> Duration {
    let end = Timestamp::from_second(begin(now) + WINDOW_SECONDS).unwrap_or(Timestamp::MAX);
    let rest: SignedDuration = end.duration_since(now);
    Duration::try_from(rest).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_795_795_200 + seconds).unwrap()
    }

    fn key(number: usize) -> ApiKeyId {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        ApiKeyId::from_random(bytes)
    }

    #[test]
    fn k3_an_ordinary_pace_writes_nothing_and_a_share_is_added_as_a_whole() {
        let mut rates = Rates::default();
        for second in 0..60 {
            for _ in 0..2 {
                assert_eq!(rates.admit(key(1), 500, at(second)), Admission::Granted);
            }
        }
        let mut rates = Rates::default();
        let shares = (0..100).filter(|_| rates.admit(key(1), 500, at(3)) != Admission::Granted);
        assert_eq!(shares.count(), 4);
        let share = Admission::Share {
            window: at(10),
            requests: 25,
        };
        let admissions: Vec<_> = (0..25).map(|_| rates.admit(key(1), 500, at(19))).collect();
        assert_eq!(admissions.last(), Some(&share));
    }

    #[test]
    fn k3_a_full_window_refuses_until_it_ends() {
        let mut rates = Rates::default();
        rates.admit(key(1), 500, at(4));
        assert_eq!(rates.fill(&key(1), at(4)), Duration::from_secs(6));
        assert_eq!(
            rates.admit(key(1), 500, at(9)),
            Admission::Refused(Duration::from_secs(1))
        );
        assert_eq!(rates.admit(key(2), 500, at(9)), Admission::Granted, "another key");
        assert_eq!(rates.admit(key(1), 500, at(10)), Admission::Granted, "the next window");
        // A single instance never admits more than the limit.
        let mut rates = Rates::default();
        let refused = |admission: &Admission| matches!(admission, Admission::Refused(_));
        let admissions: Vec<_> = (0..15).map(|_| rates.admit(key(1), 10, at(0))).collect();
        assert_eq!(admissions.iter().filter(|one| refused(one)).count(), 5);
    }

    #[test]
    fn k3_more_keys_than_are_counted_do_not_reset_one_that_goes_on() {
        let mut rates = Rates::default();
        rates.admit(key(0), 500, at(0));
        rates.fill(&key(0), at(0));
        for number in 1..3 * CAPACITY.get() {
            rates.admit(key(number), 500, at(0));
            assert!(matches!(rates.admit(key(0), 500, at(1)), Admission::Refused(_)));
        }
        assert_eq!(rates.windows.len(), CAPACITY.get());
    }
}
