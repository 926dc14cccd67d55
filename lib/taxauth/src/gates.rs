//! The gates in front of the authority's hosts: closed while a breaker is open or during an announced maintenance
//! window.
//!
//! A process caches an environment's condition for 15 seconds, so a successful call usually costs no read of the table.
//! Every failure is written; a success is written only when it clears earlier failures. When the table fails, the
//! cached condition remains in force: the gates reduce load on the authority, and correctness does not depend on them.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use ecf::Environment;
use ecf_runtime::Clock;
use ecf_store::{
    Table,
    authority::{AuthorityCondition, MaintenanceWindow},
    breaker::{Breaker, Cause, Host},
    contingencies::{Outage, OutageReason},
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::breaker::{self, Passage};

/// How long a cached condition is used.
const FRESH: SignedDuration = SignedDuration::from_secs(15);
/// Attempts to update a breaker when other processes write it concurrently.
const ROUNDS: u32 = 4;

/// A call that was not made because its host is held. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("calls to the {host} host in {environment} are held until {until}")]
pub struct Held {
    /// The host.
    pub host: Host,
    /// The environment.
    pub environment: Environment,
    /// The earliest time for a retry.
    pub until: Timestamp,
}

/// The condition of the authority: a cache of this process over the shared table.
pub struct Gates {
    table: Table,
    clock: Clock,
    known: Mutex<HashMap<Environment, Known>>,
}

struct Known {
    condition: AuthorityCondition,
    read_at: Timestamp,
}

/// The caller: the party whose failures the breaker counts, and the probes that it runs.
#[derive(Debug)]
pub(crate) struct CallingParty {
    party: String,
    /// By host, the version of the breaker at which this caller became the probe; 0: it is not.
    probes: [AtomicU64; Host::ALL.len()],
}

impl CallingParty {
    pub(crate) fn new(party: String) -> Self {
        Self {
            party,
            probes: Default::default(),
        }
    }

    fn probe(&self, host: Host) -> &AtomicU64 {
        &self.probes[host as usize]
    }

    fn is_probing(&self, host: Host, breaker: &Breaker) -> bool {
        breaker.open.is_some() && self.probe(host).load(Ordering::Acquire) == breaker.version
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

impl Gates {
    /// Gates that are shared by all processes with this table.
    #[must_use]
    pub fn new(table: Table, clock: Clock) -> Self {
        Self {
            table,
            clock,
            known: Mutex::default(),
        }
    }

    /// Whether a call to a host may be made now. Does not claim the probe: of all callers that get [`Passage::Probe`],
    /// one will make it.
    pub async fn passage(&self, environment: Environment, host: Host) -> Passage {
        let now = self.clock.now();
        let known = self.known(environment, now).await;
        passage(&known[&environment].condition, host, now)
    }

    /// The outage of an environment, if calls are held.
    pub async fn outage(&self, environment: Environment) -> Option<Outage> {
        let now = self.clock.now();
        let known = self.known(environment, now).await;
        outage(&known[&environment].condition, now)
    }

    /// Admits a call, and claims the probe if the breaker asks for one.
    pub(crate) async fn pass(&self, environment: Environment, host: Host, caller: &CallingParty) -> Result<(), Held> {
        let now = self.clock.now();
        let mut known = self.known(environment, now).await;
        let condition = &mut known.get_mut(&environment).expect("it was read").condition;
        let held = |until| Held {
            host,
            environment,
            until,
        };
        match passage(condition, host, now) {
            Passage::Free => Ok(()),
            Passage::Closed(_) if caller.is_probing(host, condition.breaker(host)) => Ok(()),
            Passage::Closed(until) => Err(held(until)),
            Passage::Probe => {
                let seen = condition.breaker(host).clone();
                let next = breaker::while_probing(&seen, now);
                let (current, is_ours) = match self.table.replace_breaker(environment, host, &seen, next).await {
                    Ok(replaced) => replaced,
                    Err(error) => {
                        tracing::warn!(%environment, %host, %error, "a probe could not be claimed");
                        return Err(held(now + FRESH));
                    }
                };
                *condition.breaker_mut(host) = current;
                let current = condition.breaker(host);
                if is_ours {
                    tracing::info!(%environment, %host, "a probe call checks whether the tax authority is reachable again");
                    caller.probe(host).store(current.version, Ordering::Release);
                    return Ok(());
                }
                match breaker::passage(current, now) {
                    Passage::Free => Ok(()),
                    Passage::Closed(until) => Err(held(until)),
                    Passage::Probe => Err(held(now + FRESH)),
                }
            }
        }
    }

    /// Records a failure that shows the host to be down.
    pub(crate) async fn record_failure(&self, environment: Environment, host: Host, caller: &CallingParty) {
        self.change(environment, host, |breaker, now| {
            breaker::after_failure(breaker, &caller.party, caller.is_probing(host, breaker), now)
        })
        .await;
    }

    /// Records that a call was answered.
    pub(crate) async fn record_success(&self, environment: Environment, host: Host) {
        self.change(environment, host, |breaker, _| breaker::after_success(breaker))
            .await;
    }

    /// Records the status service's answer about a host.
    pub(crate) async fn record_status(&self, environment: Environment, host: Host, available: bool) {
        self.change(environment, host, |breaker, now| {
            breaker::after_status(breaker, available, now)
        })
        .await;
    }

    async fn change(
        &self,
        environment: Environment,
        host: Host,
        decide: impl Fn(&Breaker, Timestamp) -> Option<Breaker>,
    ) {
        let now = self.clock.now();
        let mut known = self.known(environment, now).await;
        let condition = &mut known.get_mut(&environment).expect("it was read").condition;
        for _ in 0..ROUNDS {
            let seen = condition.breaker(host).clone();
            let Some(next) = decide(&seen, now) else { return };
            match self.table.replace_breaker(environment, host, &seen, next).await {
                Ok((current, is_ours)) => {
                    if is_ours {
                        log_change(environment, host, &seen, &current);
                    }
                    *condition.breaker_mut(host) = current;
                    if is_ours {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%environment, %host, %error, "the state of a circuit breaker was not stored");
                    return;
                }
            }
        }
    }

    /// The cached conditions, after the one of this environment was refreshed if needed. Concurrent callers wait for
    /// one read.
    async fn known(
        &self,
        environment: Environment,
        now: Timestamp,
    ) -> tokio::sync::MutexGuard<'_, HashMap<Environment, Known>> {
        let mut known = self.known.lock().await;
        let is_fresh = |known: &Known| now.duration_since(known.read_at).abs() < FRESH;
        if known.get(&environment).is_some_and(is_fresh) {
            return known;
        }
        let condition = match self.table.condition(environment).await {
            Ok(condition) => Some(condition),
            Err(error) => {
                tracing::warn!(%environment, %error, "the state of the tax authority could not be read");
                None
            }
        };
        let old = known.remove(&environment).map(|known| known.condition);
        let condition = condition.or(old).unwrap_or_default();
        known.insert(
            environment,
            Known {
                condition,
                read_at: now,
            },
        );
        known
    }
}

/// The maintenance window that is active now; of several, the one that ends last.
#[must_use]
pub fn current_window(condition: &AuthorityCondition, now: Timestamp) -> Option<MaintenanceWindow> {
    let windows = condition.windows().iter().copied();
    windows
        .filter(|window| window.start <= now && now < window.end)
        .max_by_key(|window| window.end)
}

/// Whether a call to a host may be made: announced windows first, then the breaker.
#[must_use]
pub fn passage(condition: &AuthorityCondition, host: Host, now: Timestamp) -> Passage {
    match current_window(condition, now) {
        Some(window) => Passage::Closed(window.end),
        None => breaker::passage(condition.breaker(host), now),
    }
}

/// Until when full receipts and summaries are held; `None`: they are sent. During a probe, all other calls are held.
///
/// Summaries go to their own host, but with a token from the other one. A cached token may outlast an outage of an
/// hour, but this is not guaranteed, so summaries count as held when either host is.
#[must_use]
pub fn held_until(condition: &AuthorityCondition, now: Timestamp) -> [Option<Timestamp>; 2] {
    let until = |host| match passage(condition, host, now) {
        Passage::Free => None,
        Passage::Probe => Some(now),
        Passage::Closed(until) => Some(until),
    };
    let receipts = until(Host::Ecf);
    [receipts, receipts.max(until(Host::Fc))]
}

/// Why and since when calls are held: an announced window first, then the host of all receipts.
#[must_use]
pub fn outage(condition: &AuthorityCondition, now: Timestamp) -> Option<Outage> {
    if let Some(window) = current_window(condition, now) {
        return Some(Outage {
            reason: OutageReason::Maintenance,
            since: window.start,
        });
    }
    let mut hosts = Host::ALL.into_iter();
    let open = hosts.find_map(|host| condition.breaker(host).open.as_ref())?;
    Some(Outage {
        reason: match open.cause {
            Cause::Failures => OutageReason::Unreachable,
            Cause::Status => OutageReason::Reported,
        },
        since: open.since,
    })
}

fn log_change(environment: Environment, host: Host, before: &Breaker, after: &Breaker) {
    match (&before.open, &after.open) {
        (None, Some(open)) => {
            tracing::error!(%environment, %host, cause = ?open.cause, until = %open.probe_at, "a circuit breaker opened: calls to the tax authority are held");
        }
        (Some(open), None) => {
            tracing::info!(%environment, %host, since = %open.since, "a circuit breaker closed: calls to the tax authority resume");
        }
        (Some(_), Some(open)) => {
            tracing::warn!(%environment, %host, until = %open.probe_at, "the tax authority is still unreachable");
        }
        (None, None) => {}
    }
}
