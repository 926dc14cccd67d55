//! The last use of API keys, and the counter of their rate limit. The last use helps a company to find unused keys, so
//! it may be an hour old, and no request fails for it.
//!
//! A request that issues a receipt writes the day's counter anyway, and the time is part of that write. Other requests
//! write a separate item, at most once an hour. It is not stored with the keys, so that recording a use requires no
//! permission to change keys.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::{
    Query, Sort, Table,
    change::Change,
    condition::{absent, below, equals},
    item::{instant, number},
    keys::{self, SK},
    write::{ATTEMPTS, Applied},
};
use crate::{
    StoreError,
    ids::{ApiKeyId, CompanyId, Scope},
};

const USED_AT: &str = "used_at";
/// The window of the rate limit, in seconds since the epoch, and the number of its requests.
const WINDOW: &str = "rw";
const REQUESTS: &str = "rn";
/// Prefix of the attribute with a key's last use in a day's counters.
const ISSUED_BY: &str = "k:";
/// Characters of an id in that name: enough to distinguish a company's keys, while the counters of a shop with forty
/// tills stay below a kilobyte.
const ID_PART: usize = 10;
/// Number of days that are searched for receipts of a key.
const DAYS: i64 = 400;

/// The last use of each key of a company.
#[derive(Debug, Clone, Default)]
pub struct KeyUses(HashMap<String, Timestamp>);

impl KeyUses {
    pub fn last(&self, key: &ApiKeyId) -> Option<Timestamp> {
        self.0.get(part(&key.to_string())).copied()
    }

    fn see(&mut self, key: &str, at: Timestamp) {
        let seen = self.0.entry(part(key).to_owned()).or_insert(at);
        *seen = at.max(*seen);
    }
}

fn part(id: &str) -> &str {
    id.get(..ID_PART).unwrap_or(id)
}

/// Whether the name of a day's counter is that of a key's use.
pub(super) fn is_key_use(name: &str) -> bool {
    name.starts_with(ISSUED_BY)
}

/// Adds to a write of the day's counters that this key issued a receipt.
pub(super) fn issued(change: Change, key: &ApiKeyId, at: Timestamp) -> Change {
    change.set(&format!("{ISSUED_BY}{}", part(&key.to_string())), instant(at))
}

impl Table {
    /// Records a use of a key. The latest time stays, also when writes arrive out of order.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_key_use(&self, company: &CompanyId, id: &ApiKeyId, at: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(keys::key_use(company, id))
            .set(USED_AT, instant(at))
            .when(absent(USED_AT).or(below(USED_AT, instant(at))));
        self.apply("note use of API key", change).await.map(|_| ())
    }

    /// Adds requests of a key to the window of its rate limit that begins at `window`, and returns the window's total
    /// over all instances. Returns 0 when another instance has begun a later window.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when other writers keep changing the record.
    pub async fn count_key_requests(
        &self,
        company: &CompanyId,
        id: &ApiKeyId,
        window: Timestamp,
        requests: u32,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let begin = number(window.as_second());
        let change = || Change::of(keys::key_use(company, id)).set(USED_AT, instant(now));
        for _ in 0..ATTEMPTS {
            let further = change()
                .add(REQUESTS, number(requests))
                .when(equals(WINDOW, begin.clone()));
            if let Applied::Done(stored) = self.apply("count requests of API key", further).await? {
                return stored.parse(REQUESTS);
            }
            let first = change()
                .set(REQUESTS, number(requests))
                .set(WINDOW, begin.clone())
                .when(absent(WINDOW).or(below(WINDOW, begin.clone())));
            match self.apply("begin window of API key", first).await? {
                Applied::Done(_) => return Ok(u64::from(requests)),
                // Another instance started the same window between the two writes, or its clock is ahead.
                Applied::Refused(Some(stored)) if stored.parse::<i64>(WINDOW)? > window.as_second() => return Ok(0),
                Applied::Refused(_) => {}
            }
        }
        Err(StoreError::Contended {
            operation: "count requests of API key",
            attempts: ATTEMPTS,
        })
    }

    /// The last use of the company's keys: any use, and those of the last 400 days that issued a receipt in this
    /// environment.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn key_uses(&self, scope: &Scope, now: Timestamp) -> Result<KeyUses, StoreError> {
        let day_of = |at| keys::day(keys::fiscal_day(at));
        let days = Query {
            sort: Sort::Between(SK, day_of(now - SignedDuration::from_hours(24 * DAYS)), day_of(now)),
            ..Query::of(keys::counters_partition(scope))
        };
        let noted = Query::of(keys::key_uses_partition(&scope.company));
        let (days, noted) = tokio::try_join!(
            self.query("read counters", days),
            self.query("list uses of API keys", noted)
        )?;
        let mut uses = KeyUses::default();
        for stored in &noted {
            uses.see(stored.sk()?, stored.instant(USED_AT)?);
        }
        for (stored, name) in days.iter().flat_map(|day| day.names().map(move |name| (day, name))) {
            if let Some(key) = name.strip_prefix(ISSUED_BY) {
                uses.see(key, stored.instant_named(name, ISSUED_BY)?);
            }
        }
        Ok(uses)
    }
}
