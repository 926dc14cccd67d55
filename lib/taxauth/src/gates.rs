//! The gates before the authority's hosts: closed while a breaker is open or a maintenance window lasts.
//!
//! A process remembers an environment's condition for some seconds, so a call that goes well costs the table nothing of its
//! own. What fails is written; a call that goes well writes only what ends trouble that is known. When the table itself
//! fails, the gates are as they were: they spare the authority, and nothing depends on them.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use ecf::Environment;
use ecf_runtime::Clock;
use ecf_store::{Breaker, Condition, Host, Table, Window};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::breaker::{self, Passage};

/// How long a condition that was read is believed.
const FRESH: SignedDuration = SignedDuration::from_secs(15);
/// How often a breaker is decided about anew because another process wrote it in between.
const ROUNDS: u32 = 4;

/// A call that is not made now. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("calls to the {host} host in {environment} are held until {until}")]
pub struct Held {
    /// The host.
    pub host: Host,
    /// The environment.
    pub environment: Environment,
    /// When to come back.
    pub until: Timestamp,
}

/// What this process knows of the authority, and what all of them share.
pub struct Gates {
    table: Table,
    clock: Clock,
    known: Mutex<HashMap<Environment, Known>>,
}

struct Known {
    condition: Condition,
    read_at: Timestamp,
}

/// Who calls: a party by whose failures a breaker is judged, and the probes it is making.
#[derive(Debug)]
pub(crate) struct Caller {
    party: String,
    /// By host, the version of the breaker that says that this caller probes; zero is none.
    probes: [AtomicU64; Host::ALL.len()],
}

impl Caller {
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
    /// Gates that all processes with this table share.
    #[must_use]
    pub fn new(table: Table, clock: Clock) -> Self {
        Self {
            table,
            clock,
            known: Mutex::default(),
        }
    }

    /// Whether a call to a host may be made now. Asking claims nothing: of those who may probe, one will.
    pub async fn passage(&self, environment: Environment, host: Host) -> Passage {
        let now = self.clock.now();
        let known = self.known(environment, now).await;
        passage(&known[&environment].condition, host, now)
    }

    /// Passes a call through, as the one who probes if need be.
    pub(crate) async fn pass(&self, environment: Environment, host: Host, caller: &Caller) -> Result<(), Held> {
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
                    tracing::info!(%environment, %host, "finding out whether the authority is back");
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

    /// Notes that a call failed in a way that shows the host to be away.
    pub(crate) async fn note_failure(&self, environment: Environment, host: Host, caller: &Caller) {
        self.change(environment, host, |breaker, now| {
            breaker::after_failure(breaker, &caller.party, caller.is_probing(host, breaker), now)
        })
        .await;
    }

    /// Notes that a call was answered.
    pub(crate) async fn note_success(&self, environment: Environment, host: Host) {
        self.change(environment, host, |breaker, _| breaker::after_success(breaker))
            .await;
    }

    /// Notes what the status service says of a host.
    pub(crate) async fn note_status(&self, environment: Environment, host: Host, available: bool) {
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
                        tell(environment, host, &seen, &current);
                    }
                    *condition.breaker_mut(host) = current;
                    if is_ours {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%environment, %host, %error, "a breaker could not be written");
                    return;
                }
            }
        }
    }

    /// The conditions, that of this environment read within the last seconds. One reads for all who wait.
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
                tracing::warn!(%environment, %error, "the condition of the authority could not be read");
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

/// The announced window that lasts now; of several the one that ends last.
#[must_use]
pub fn current_window(condition: &Condition, now: Timestamp) -> Option<Window> {
    let windows = condition.windows().iter().copied();
    windows
        .filter(|window| window.start <= now && now < window.end)
        .max_by_key(|window| window.end)
}

/// Whether a call to a host may be made: by the announced windows first, then by the breaker.
#[must_use]
pub fn passage(condition: &Condition, host: Host, now: Timestamp) -> Passage {
    match current_window(condition, now) {
        Some(window) => Passage::Closed(window.end),
        None => breaker::passage(condition.breaker(host), now),
    }
}

/// Until when receipts in full and summaries are held; `None`: they go out. While one call finds out whether a host is back, the others
/// are held.
///
/// Summaries go to a host of their own with a token of the other one. A token that was had before may outlast an hour of an
/// outage; nobody may count on it, so without the other host summaries count as held.
#[must_use]
pub fn held_until(condition: &Condition, now: Timestamp) -> [Option<Timestamp>; 2] {
    let until = |host| match passage(condition, host, now) {
        Passage::Free => None,
        Passage::Probe => Some(now),
        Passage::Closed(until) => Some(until),
    };
    let receipts = until(Host::Ecf);
    [receipts, receipts.max(until(Host::Fc))]
}

fn tell(environment: Environment, host: Host, before: &Breaker, after: &Breaker) {
    match (&before.open, &after.open) {
        (None, Some(open)) => {
            tracing::error!(%environment, %host, cause = ?open.cause, until = %open.probe_at, "the authority is out of reach: calls are held");
        }
        (Some(open), None) => {
            tracing::info!(%environment, %host, since = %open.since, "the authority is back: calls are made again");
        }
        (Some(_), Some(open)) => {
            tracing::warn!(%environment, %host, until = %open.probe_at, "the authority is still out of reach");
        }
        (None, None) => {}
    }
}
