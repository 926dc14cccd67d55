//! A fixed-window rate limit by client address.
//!
//! Each visit is one write. It stores only the hash of the address, and expires with its window.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use super::{
    Table,
    change::Change,
    condition::{absent, below},
    item::{expiry, number},
    keys::{self, TTL},
    write::Applied,
};
use crate::StoreError;

const COUNT: &str = "ct";

/// A rate limit for requests without an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    pub name: &'static str,
    /// Upper bound of the visits within a window.
    pub max_requests: u32,
    pub window: SignedDuration,
}

/// The decision about a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateDecision {
    Allowed,
    /// The limit is used up; retry after this time.
    RetryAfter(Duration),
}

impl Table {
    /// Counts a visit from an address against the limit of the current window.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn count_request(
        &self,
        limit: RateLimit,
        address: &str,
        now: Timestamp,
    ) -> Result<RateDecision, StoreError> {
        let window = limit.window.as_secs().max(1);
        let begin = now.as_second() - now.as_second().rem_euclid(window);
        let end = Timestamp::from_second(begin + window).unwrap_or(Timestamp::MAX);
        let client: [u8; 32] = Sha256::digest(address).into();
        let change = Change::of(keys::rate_windows(limit.name, &client, begin))
            .add(COUNT, number(1))
            .set(TTL, expiry(end))
            .when(absent(COUNT).or(below(COUNT, number(limit.max_requests))));
        Ok(match self.apply("take turn", change).await? {
            Applied::Done(_) => RateDecision::Allowed,
            Applied::Refused(_) => {
                RateDecision::RetryAfter(Duration::try_from(end.duration_since(now)).unwrap_or_default())
            }
        })
    }
}
