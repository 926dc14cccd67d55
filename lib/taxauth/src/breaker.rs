//! The circuit breaker of a host, as pure transitions: a failure, a success, a probe, an answer of the status service.
//!
//! Only evidence that the host is down counts as a failure: no connection, a time-out, a server error. A refusal counts
//! as an answer. The failures of one company must not hold the calls of others, and the only company of a deployment
//! must be able to open the breaker. So it opens after failures of [`PARTIES`] parties, or after
//! [`PERSISTENT_FAILURES`] failures over at least a minute. A success clears all failures, so neither rule needs a
//! count of the callers.

use ecf_store::breaker::{Breaker, Cause, Failures, OpenBreaker};
use jiff::{SignedDuration, Timestamp};

/// Parties whose failures open the breaker, without a success in between.
const PARTIES: usize = 3;
/// Failures that open the breaker even if fewer parties failed, when they are spread over [`PERSISTENCE`].
const PERSISTENT_FAILURES: u32 = 3;
const PERSISTENCE: SignedDuration = SignedDuration::from_secs(60);
/// A failure is forgotten after this time.
const MEMORY: SignedDuration = SignedDuration::from_mins(5);
/// Failures of one party within this time count once, because the jobs of a party fail in parallel.
const ONE_FAILURE: SignedDuration = SignedDuration::from_secs(5);
/// How long calls are held before one of them may probe the host. Shorter than the minute between two runs of
/// housekeeping, so that each run has a probe: no load for the host, and what is held leaves soon after it is back.
const PROBE_SPACING: SignedDuration = SignedDuration::from_secs(50);
/// How long a probe may take before another caller may probe. Longer than a call that first gets a token.
const PROBE_LEASE: SignedDuration = SignedDuration::from_secs(90);

/// Whether a call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Yes.
    Free,
    /// Yes, as the one call that probes whether the host is back.
    Probe,
    /// No, not before this instant.
    Closed(Timestamp),
}

/// Whether a call may be made now.
pub(crate) fn passage(breaker: &Breaker, now: Timestamp) -> Passage {
    match &breaker.open {
        None => Passage::Free,
        Some(open) if open.probe_at > now => Passage::Closed(open.probe_at),
        Some(open) => match open.probing_until {
            Some(until) if until > now => Passage::Closed(until),
            _ => Passage::Probe,
        },
    }
}

/// The breaker after a failed call, or `None` if it does not change.
///
/// `probes`: the call was the probe.
pub(crate) fn after_failure(breaker: &Breaker, party: &str, probes: bool, now: Timestamp) -> Option<Breaker> {
    let mut next = breaker.clone();
    if let Some(open) = &mut next.open {
        if !probes {
            // The call began before the breaker opened.
            return None;
        }
        open.probe_at = now + PROBE_SPACING;
        open.probing_until = None;
        return Some(next);
    }
    next.failures
        .retain(|_, failures| now.duration_since(failures.last) <= MEMORY);
    let of_party = next.failures.entry(party.to_owned()).or_insert(Failures {
        first: now,
        last: Timestamp::MIN,
        count: 0,
    });
    if of_party.count > 0 && now.duration_since(of_party.last) < ONE_FAILURE {
        return None;
    }
    of_party.last = now;
    of_party.count = of_party.count.saturating_add(1);
    if next.failures.len() >= PARTIES || is_persistent(&next, now) {
        next = opened(Cause::Failures, now);
    }
    Some(next)
}

fn is_persistent(breaker: &Breaker, now: Timestamp) -> bool {
    let count: u32 = breaker.failures.values().map(|failures| failures.count).sum();
    let first = breaker.failures.values().map(|failures| failures.first).min();
    count >= PERSISTENT_FAILURES && first.is_some_and(|first| now.duration_since(first) >= PERSISTENCE)
}

/// The breaker after an answered call, or `None` if it does not change.
pub(crate) fn after_success(breaker: &Breaker) -> Option<Breaker> {
    let has_trouble = breaker.open.is_some() || !breaker.failures.is_empty();
    has_trouble.then(Breaker::default)
}

/// The breaker while a probe runs.
pub(crate) fn while_probing(breaker: &Breaker, now: Timestamp) -> Breaker {
    let mut next = breaker.clone();
    if let Some(open) = &mut next.open {
        open.probing_until = Some(now + PROBE_LEASE);
    }
    next
}

/// The breaker after an answer of the status service, or `None` if it does not change.
///
/// "Available" closes only a breaker that "not available" opened: real calls are better evidence.
pub(crate) fn after_status(breaker: &Breaker, available: bool, now: Timestamp) -> Option<Breaker> {
    match (&breaker.open, available) {
        (None, false) => Some(opened(Cause::Status, now)),
        (Some(open), true) if open.cause == Cause::Status => Some(Breaker::default()),
        _ => None,
    }
}

fn opened(cause: Cause, now: Timestamp) -> Breaker {
    Breaker {
        open: Some(OpenBreaker {
            since: now,
            cause,
            probe_at: now + PROBE_SPACING,
            probing_until: None,
        }),
        ..Breaker::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// The breaker after these failures: seconds and party.
    fn failing(breaker: Breaker, failures: &[(i64, &str)]) -> Breaker {
        failures.iter().fold(breaker, |breaker, (seconds, party)| {
            after_failure(&breaker, party, false, at(*seconds)).unwrap_or(breaker)
        })
    }

    fn is_open(failures: &[(i64, &str)]) -> bool {
        failing(Breaker::default(), failures).open.is_some()
    }

    #[test]
    fn three_parties_open_it_and_two_do_not() {
        assert!(is_open(&[(0, "a"), (1, "b"), (2, "c")]));
        assert!(!is_open(&[(0, "a"), (1, "b"), (8, "b"), (16, "a")]));
    }

    #[test]
    fn the_only_company_opens_it_by_failing_for_more_than_a_minute() {
        assert!(is_open(&[(0, "a"), (30, "a"), (60, "a")]));
        assert!(!is_open(&[(0, "a"), (30, "a"), (59, "a")]));
        assert!(!is_open(&[(0, "a"), (60, "a")]));
        // Ten jobs that fail at once count as one failure.
        assert!(!is_open(&[(0, "a"), (1, "a"), (2, "a"), (3, "a"), (4, "a"), (62, "b")]));
    }

    #[test]
    fn a_call_that_goes_well_forgets_the_failures_before_it() {
        let failed = failing(Breaker::default(), &[(0, "a"), (1, "b")]);
        let well = after_success(&failed).unwrap();
        assert_eq!(after_success(&well), None, "nothing is written by calls that go well");
        assert!(failing(well, &[(2, "c")]).open.is_none());
    }

    #[test]
    fn old_failures_are_forgotten() {
        assert!(!is_open(&[(0, "a"), (1, "b"), (302, "c")]));
        assert!(is_open(&[(0, "a"), (100, "b"), (299, "c")]));
    }

    #[test]
    fn p14_open_for_less_than_a_minute_then_one_probe_decides() {
        let open = failing(Breaker::default(), &[(0, "a"), (0, "b"), (0, "c")]);
        assert_eq!(passage(&open, at(49)), Passage::Closed(at(50)));
        assert_eq!(passage(&open, at(60)), Passage::Probe);
        let probing = while_probing(&open, at(60));
        assert_eq!(passage(&probing, at(61)), Passage::Closed(at(150)));
        assert_eq!(passage(&probing, at(150)), Passage::Probe, "who probed is dead");
        let held = after_failure(&probing, "a", true, at(70)).unwrap();
        assert_eq!(passage(&held, at(71)), Passage::Closed(at(120)));
        assert_eq!(held.open.as_ref().unwrap().since, at(0));
        let back = after_success(&while_probing(&held, at(130))).unwrap();
        assert_eq!(passage(&back, at(131)), Passage::Free);
    }

    #[test]
    fn a_call_that_began_before_changes_nothing_by_failing() {
        let open = failing(Breaker::default(), &[(0, "a"), (0, "b"), (0, "c")]);
        assert_eq!(after_failure(&open, "d", false, at(20)), None);
    }

    #[test]
    fn the_status_service_opens_it_and_closes_what_it_opened() {
        let told = after_status(&Breaker::default(), false, at(0)).unwrap();
        assert_eq!(passage(&told, at(1)), Passage::Closed(at(50)));
        assert_eq!(after_status(&told, false, at(300)), None);
        assert_eq!(after_status(&told, true, at(300)), Some(Breaker::default()));
        let failed = failing(Breaker::default(), &[(0, "a"), (0, "b"), (0, "c")]);
        assert_eq!(after_status(&failed, true, at(300)), None, "calls know better");
        assert_eq!(after_status(&Breaker::default(), true, at(0)), None);
    }
}
