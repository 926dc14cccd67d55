//! When API keys were used, and how often within the last window of their rate limit. The former helps whoever clears keys up, so it
//! may be an hour old, and no request fails for it.
//!
//! A request that issues a receipt counts it anyway: the time rides on that write. The others write an item of their own, at
//! most once an hour; it lies apart from the keys, so that who notes a use needs no right to change them.

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
/// The window of the rate limit, in seconds since the epoch, and the requests that were counted in it.
const WINDOW: &str = "rw";
const REQUESTS: &str = "rn";
/// Starts the name of a key's last use in a day's counters.
const ISSUED_BY: &str = "k:";
/// So much of an id tells a company's keys apart, and a shop with forty tills still has counters of less than a kilobyte.
const ID_PART: usize = 10;
/// How far back the days are searched for receipts that a key issued.
const DAYS: i64 = 400;

/// When the keys of a company were used last.
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

/// Whether a day's counters tell a key's use under this name.
pub(super) fn is_key_use(name: &str) -> bool {
    name.starts_with(ISSUED_BY)
}

/// Adds to a write of the day's counters that this key issued something.
pub(super) fn issued(change: Change, key: &ApiKeyId, at: Timestamp) -> Change {
    change.set(&format!("{ISSUED_BY}{}", part(&key.to_string())), instant(at))
}

impl Table {
    /// Notes that a key opened something. The latest time stays, whoever comes late.
    pub async fn note_key_use(&self, company: &CompanyId, id: &ApiKeyId, at: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(keys::key_use(company, id))
            .set(USED_AT, instant(at))
            .when(absent(USED_AT).or(below(USED_AT, instant(at))));
        self.apply("note use of API key", change).await.map(|_| ())
    }

    /// Adds requests of a key to the window of its rate limit that begins then, and gives how many all instances counted in it. A
    /// window that another instance has left already counts nothing any more.
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
                // Another instance began the same window between the two, or its clock is ahead.
                Applied::Refused(Some(stored)) if stored.parse::<i64>(WINDOW)? > window.as_second() => return Ok(0),
                Applied::Refused(_) => {}
            }
        }
        Err(StoreError::Contended {
            operation: "count requests of API key",
            attempts: ATTEMPTS,
        })
    }

    /// When the company's keys were used last: whatever for, or within the last 400 days to issue in this environment.
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
