//! Looks up API keys, records their last use and enforces their rate limits. A valid key is cached for one minute, so a
//! revocation takes effect within a minute.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use ecf::Environment;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{ApiKeyId, Recent, StoreError, Table, api_keys::ApiKey};
use jiff::{SignedDuration, Timestamp};

use super::rate::{Admission, Rates, WINDOW_SECONDS};
use crate::ApiError;

/// How long a key is cached.
const KEPT: SignedDuration = SignedDuration::from_secs(60);
/// Upper bound of the cached keys. An instance serves few companies within a minute.
pub(super) const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// The last use of a key is recorded at most once in this time.
const RECORDED: SignedDuration = SignedDuration::from_hours(1);

/// The API keys. The requests of a function share it.
#[derive(Debug, Clone)]
pub struct Keys {
    table: Table,
    clock: Clock,
    known: Recent<[u8; 32], ApiKey>,
    /// The keys whose use was recorded within the last hour.
    recorded: Recent<ApiKeyId, ()>,
    rates: Arc<Mutex<Rates>>,
    /// The default rate limit of a key; `None` means no limit.
    requests_per_second: Option<u32>,
}

impl Keys {
    /// Keys of this table. `KEY_REQUESTS_PER_SECOND` is the default rate limit of a key; without the variable, or with
    /// 0, only keys with their own limit are limited.
    ///
    /// # Errors
    /// Fails when the variable is not a number.
    pub fn from_env(env: &Env, table: Table, clock: Clock) -> Result<Self, EnvError> {
        let requests_per_second = env.parsed("KEY_REQUESTS_PER_SECOND")?.filter(|rate| *rate > 0);
        Ok(Self {
            table,
            clock,
            known: Recent::new(CAPACITY, KEPT),
            recorded: Recent::new(CAPACITY, RECORDED),
            rates: Arc::default(),
            requests_per_second,
        })
    }

    /// Counts a request against the rate limit of its key.
    ///
    /// # Errors
    /// 429 when the key has used up its limit for the current window.
    pub(super) async fn admit(&self, key: &ApiKey) -> Result<(), ApiError> {
        let Some(rate) = key.requests_per_second.or(self.requests_per_second) else {
            return Ok(());
        };
        let now = self.clock.now();
        let limit = rate.saturating_mul(WINDOW_SECONDS.unsigned_abs().try_into().unwrap_or(u32::MAX));
        let rates = || self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let admission = rates().admit(key.id, limit, now);
        let wait = match admission {
            Admission::Granted => return Ok(()),
            Admission::Refused(wait) => wait,
            Admission::Share { window, requests } => {
                let counted = self
                    .table
                    .count_key_requests(&key.company, &key.id, window, requests, now);
                match counted.await {
                    Ok(all) if all > u64::from(limit) => rates().fill(&key.id, now),
                    Ok(_) => return Ok(()),
                    // The rate limit fails open: a failing counter must not stop the service that it protects.
                    Err(error) => {
                        tracing::warn!(%error, "the requests of an API key were not counted");
                        return Ok(());
                    }
                }
            }
        };
        tracing::warn!(api_key.id = %key.id, rate, "an API key is over its rate limit");
        Err(ApiError::key_rate_exceeded(limit, WINDOW_SECONDS, wait))
    }

    /// The key with this hash, if it is valid now.
    pub(super) async fn valid(&self, hash: [u8; 32]) -> Result<Option<ApiKey>, StoreError> {
        let now = self.clock.now();
        let key = match self.known.get(&hash, now) {
            Some(key) => Some(key),
            None => {
                let found = self.table.api_key_by_hash(&hash).await?;
                if let Some(key) = &found {
                    // Unknown keys are not cached: a new key works at once, and guessed keys take no memory.
                    self.known.insert(hash, key.clone(), now);
                }
                found
            }
        };
        Ok(key.filter(|key| opens(key, now)))
    }

    /// The highest environment among the valid keys of the same company.
    pub(super) async fn highest_environment(&self, key: &ApiKey) -> Result<Environment, StoreError> {
        if key.environment == Environment::Ecf {
            return Ok(Environment::Ecf);
        }
        let highest = self.table.highest_environment(&key.company, self.clock.now()).await?;
        Ok(highest.unwrap_or(key.environment))
    }

    /// Records the use of a key, at most once an hour. A failure is only logged: the time helps the company to find
    /// unused keys, and no request may fail for it.
    pub(super) async fn record_use(&self, key: &ApiKey) {
        let now = self.clock.now();
        if self.recorded.insert_new(key.id, (), now)
            && let Err(error) = self.table.record_key_use(&key.company, &key.id, now).await
        {
            tracing::warn!(%error, "the use of an API key was not recorded");
        }
    }
}

fn opens(key: &ApiKey, now: Timestamp) -> bool {
    key.revoked_at.is_none() && key.expires_at.is_none_or(|end| now < end)
}

#[cfg(test)]
mod tests;
