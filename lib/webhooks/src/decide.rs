//! What happens next to an event at one webhook, and to the webhook: the whole machine, without AWS and without a clock.
//!
//! | the event | what happened | next |
//! |---|---|---|
//! | queued or parked | its turn; the webhook is switched off | [`Step::Park`] |
//! | queued | its turn; the webhook has failed for [`DEAD_AFTER`] | [`Step::Park`] |
//! | queued or parked | its turn; its [`WINDOW`] is over | [`Step::GiveUp`] |
//! | queued or parked | its turn, otherwise | [`Step::Deliver`] |
//! | queued or parked | the receiver took it | [`Step::Done`] |
//! | queued or parked | the webhook cannot sign | [`Step::GiveUp`] |
//! | queued | it was not taken; the window has room for another attempt | [`Step::Retry`] |
//! | parked | it was not taken; the window has room for another attempt | [`Step::Park`], and the next probe after that wait |
//! | queued or parked | it was not taken; the window has no room | [`Step::GiveUp`] |
//!
//! A worker carries the step out, and the change of the webhook's health with it.

use std::fmt;
use std::time::Duration;

use ecf_language::{Bilingual, Say};
use ecf_store::{undelivered::Undelivered, webhooks::Webhook};
use jiff::Timestamp;

use crate::backoff::{DEAD_AFTER, PAUSE_AFTER, WINDOW, backoff};

/// `410 Gone`: the receiver will never answer again.
const GONE: u16 = 410;

/// An event that one webhook has not taken yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// What brings its next attempt.
    pub place: Place,
    /// Attempts made so far.
    pub attempts: u32,
    /// When its window began: the first attempt, or the parking in its place.
    pub since: Timestamp,
}

impl Pending {
    /// The event of a record.
    #[must_use]
    pub fn of(record: &Undelivered, place: Place) -> Self {
        Self {
            place,
            attempts: record.attempts,
            since: record.since,
        }
    }
}

/// What brings the next attempt of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A message or a due time of its own.
    Queued,
    /// The webhook's probe, which tries the oldest of all parked events.
    Parked,
}

/// Whether a webhook works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Neither its owner nor the service switched it off.
    pub is_active: bool,
    /// When it failed first since it last took something; `None` while it works.
    pub failing_since: Option<Timestamp>,
}

impl Health {
    /// Whether it has failed for so long that its events are no longer tried one by one.
    #[must_use]
    pub fn is_dead(&self, now: Timestamp) -> bool {
        self.failing_since.is_some_and(|since| age(since, now) >= DEAD_AFTER)
    }
}

impl From<&Webhook> for Health {
    fn from(webhook: &Webhook) -> Self {
        Self {
            is_active: webhook.is_active,
            failing_since: webhook.failing_since,
        }
    }
}

/// What happened to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// Its turn came.
    Due,
    /// An attempt was made.
    Attempted(Answer),
}

/// What an attempt showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A 2xx status.
    Taken,
    /// Another status, or no answer.
    Refused {
        /// The status, if there was an answer.
        status_code: Option<u16>,
        /// The wait that the receiver asked for.
        retry_after: Option<Duration>,
        /// Any random number; spreads the retries of one outage.
        jitter: u16,
    },
    /// Nothing was sent: the webhook's secret does not open, so that no attempt can succeed.
    Unsigned,
}

/// What is done next with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Make the next attempt.
    Deliver,
    /// Make the next attempt after this wait.
    Retry(Duration),
    /// Store it without an attempt of its own.
    Park {
        /// The wait before the webhook's next probe; `None` leaves the probe as it is.
        probe_after: Option<Duration>,
    },
    /// Nothing: it was taken.
    Done,
    /// Nothing: it is never delivered.
    GiveUp(GiveUp),
}

/// Why an event is never delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUp {
    /// Its window is over.
    Expired,
    /// The webhook cannot sign.
    Unsigned,
    /// Its record names no event of this version; the worker finds out when it reads the record.
    UnknownEvent,
}

impl fmt::Display for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "it was not taken within 24 hours",
            Self::Unsigned => "the webhook's secret does not open",
            Self::UnknownEvent => "its record names no event",
        })
    }
}

/// How a webhook's health changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthChange {
    /// It failed, and now took something.
    Recovers,
    /// It fails for the first time since it took something.
    Fails,
    /// It is switched off.
    Disable {
        /// Since when it has failed.
        failing_since: Timestamp,
        /// Why.
        reason: Disabled,
    },
}

/// Why a webhook is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disabled {
    /// Its receiver answered `410 Gone`.
    Gone,
    /// It took nothing for [`PAUSE_AFTER`].
    Silent {
        /// Since then.
        since: Timestamp,
    },
}

impl fmt::Display for Disabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("its receiver answered 410 Gone"),
            Self::Silent { since } => write!(f, "its receiver has taken nothing since {since:.0}"),
        }
    }
}

impl Say for Disabled {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Gone => "su receptor respondió 410 Gone".to_owned(),
            Self::Silent { since } => format!("su receptor no acepta nada desde {since:.0}"),
        };
        Bilingual::of(self, spanish)
    }
}

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// With the event.
    pub step: Step,
    /// With the webhook; `None`: its health stays as it is.
    pub health: Option<HealthChange>,
}

/// Decides what is done next with an event and its webhook.
///
/// After an attempt, `pending.attempts` counts it and `now` is when it was made.
#[must_use]
pub fn decide(pending: &Pending, health: &Health, happened: Happened, now: Timestamp) -> Decision {
    match happened {
        Happened::Due => Decision {
            step: due(pending, health, now),
            health: None,
        },
        Happened::Attempted(answer) => Decision {
            step: attempted(pending, answer, now),
            health: changed(health, answer, now),
        },
    }
}

fn due(pending: &Pending, health: &Health, now: Timestamp) -> Step {
    if !health.is_active || (pending.place == Place::Queued && health.is_dead(now)) {
        Step::Park { probe_after: None }
    } else if age(pending.since, now) > WINDOW {
        Step::GiveUp(GiveUp::Expired)
    } else {
        Step::Deliver
    }
}

fn attempted(pending: &Pending, answer: Answer, now: Timestamp) -> Step {
    let (retry_after, jitter) = match answer {
        Answer::Taken => return Step::Done,
        Answer::Unsigned => return Step::GiveUp(GiveUp::Unsigned),
        Answer::Refused {
            retry_after, jitter, ..
        } => (retry_after, jitter),
    };
    let wait = backoff(pending.attempts, age(pending.since, now), jitter, retry_after);
    match (wait, pending.place) {
        (None, _) => Step::GiveUp(GiveUp::Expired),
        (Some(wait), Place::Queued) => Step::Retry(wait),
        (wait, Place::Parked) => Step::Park { probe_after: wait },
    }
}

fn changed(health: &Health, answer: Answer, now: Timestamp) -> Option<HealthChange> {
    let status_code = match answer {
        Answer::Taken => return health.failing_since.map(|_| HealthChange::Recovers),
        Answer::Unsigned => None,
        Answer::Refused { status_code, .. } => status_code,
    };
    let failing_since = health.failing_since.unwrap_or(now);
    let reason = if status_code == Some(GONE) {
        Disabled::Gone
    } else if age(failing_since, now) >= PAUSE_AFTER {
        Disabled::Silent { since: failing_since }
    } else {
        return health.failing_since.is_none().then_some(HealthChange::Fails);
    };
    Some(HealthChange::Disable { failing_since, reason })
}

fn age(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    const WORKS: Health = Health {
        is_active: true,
        failing_since: None,
    };
    const OFF: Health = Health {
        is_active: false,
        failing_since: None,
    };

    fn start() -> Timestamp {
        "2026-11-27T16:00:00Z".parse().unwrap()
    }

    fn after(hours: i64) -> Timestamp {
        start() + SignedDuration::from_hours(hours)
    }

    fn refused(status_code: Option<u16>) -> Answer {
        Answer::Refused {
            status_code,
            retry_after: None,
            jitter: 0,
        }
    }

    #[test]
    fn every_place_and_event_has_one_next_step() {
        use Place::{Parked, Queued};
        let failing = Health {
            failing_since: Some(start()),
            ..WORKS
        };
        let (due, taken) = (Happened::Due, Happened::Attempted(Answer::Taken));
        let unsigned = Happened::Attempted(Answer::Unsigned);
        let [error, no_answer, gone] = [Some(500), None, Some(410)].map(|status| Happened::Attempted(refused(status)));
        let stays_parked = Step::Park { probe_after: None };
        let expired = Step::GiveUp(GiveUp::Expired);
        let hour = Duration::from_hours(1);
        let probe = |wait| Step::Park {
            probe_after: Some(wait),
        };
        let disabled = |failing_since, reason| Some(HealthChange::Disable { failing_since, reason });
        let silent = disabled(start(), Disabled::Silent { since: start() });
        let fails = Some(HealthChange::Fails);
        let recovers = Some(HealthChange::Recovers);
        let unsigned_step = Step::GiveUp(GiveUp::Unsigned);
        // place, attempts, health, what happened, hours since the window began; the step, the change of health
        let table = [
            (Queued, 0, WORKS, due, 0, Step::Deliver, None),
            (Queued, 9, failing, due, 0, Step::Deliver, None),
            (Queued, 9, failing, due, 1, stays_parked, None),
            (Queued, 9, OFF, due, 0, stays_parked, None),
            (Queued, 9, WORKS, due, 24, Step::Deliver, None),
            (Queued, 9, WORKS, due, 25, expired, None),
            (Parked, 0, WORKS, due, 0, Step::Deliver, None),
            (Parked, 9, failing, due, 23, Step::Deliver, None),
            (Parked, 9, failing, due, 25, expired, None),
            (Parked, 9, OFF, due, 25, stays_parked, None),
            (Queued, 1, WORKS, taken, 0, Step::Done, None),
            (Parked, 9, failing, taken, 23, Step::Done, recovers),
            (Queued, 1, WORKS, unsigned, 0, unsigned_step, fails),
            (Parked, 9, failing, unsigned, 72, unsigned_step, silent),
            (Queued, 1, WORKS, error, 0, Step::Retry(Duration::from_secs(30)), fails),
            (
                Queued,
                2,
                failing,
                no_answer,
                0,
                Step::Retry(Duration::from_secs(60)),
                None,
            ),
            (Queued, 9, failing, error, 23, Step::Retry(hour), None),
            (Queued, 9, failing, error, 24, expired, None),
            (Parked, 1, failing, error, 1, probe(Duration::from_secs(30)), None),
            (Parked, 9, failing, no_answer, 23, probe(hour), None),
            (Parked, 9, failing, error, 24, expired, None),
            (Parked, 9, failing, error, 72, expired, silent),
            (
                Queued,
                1,
                WORKS,
                gone,
                0,
                Step::Retry(Duration::from_secs(30)),
                disabled(start(), Disabled::Gone),
            ),
            (
                Parked,
                9,
                failing,
                gone,
                23,
                probe(hour),
                disabled(start(), Disabled::Gone),
            ),
        ];
        for (place, attempts, health, happened, hours, step, change) in table {
            let pending = Pending {
                place,
                attempts,
                since: start(),
            };
            let decision = decide(&pending, &health, happened, after(hours));
            let expected = Decision { step, health: change };
            assert_eq!(
                decision, expected,
                "{pending:?} {health:?} {happened:?} after {hours} h"
            );
        }
    }

    #[test]
    fn the_receiver_may_ask_for_a_longer_wait() {
        let answer = Answer::Refused {
            status_code: Some(429),
            retry_after: Some(Duration::from_mins(5)),
            jitter: u16::MAX,
        };
        let pending = Pending {
            place: Place::Queued,
            attempts: 1,
            since: start(),
        };
        let decision = decide(&pending, &WORKS, Happened::Attempted(answer), start());
        assert_eq!(decision.step, Step::Retry(Duration::from_mins(5)));
    }

    /// A turn of the world: how late a worker comes, what the receiver answers, and when the owner switches the webhook on again.
    #[derive(Debug, Clone)]
    struct Turn {
        late: SignedDuration,
        answer: Answer,
        off: SignedDuration,
    }

    fn turns() -> impl Strategy<Value = Vec<Turn>> {
        let status = prop_oneof![
            8 => Just(Some(500)),
            4 => Just(None),
            2 => Just(Some(410)),
        ];
        let asked = proptest::option::of((0_u64..100_000).prop_map(Duration::from_secs));
        let refused = (status, asked, any::<u16>()).prop_map(|(status_code, retry_after, jitter)| Answer::Refused {
            status_code,
            retry_after,
            jitter,
        });
        let answer = prop_oneof![30 => refused, 1 => Just(Answer::Taken), 1 => Just(Answer::Unsigned)];
        let turn = (0_i64..900, answer, 0_i64..40).prop_map(|(late, answer, off)| Turn {
            late: SignedDuration::from_secs(late),
            answer,
            off: SignedDuration::from_hours(off),
        });
        proptest::collection::vec(turn, 0..200)
    }

    /// What comes after the random turns: a receiver that never answers.
    fn silence() -> Turn {
        Turn {
            late: SignedDuration::ZERO,
            answer: refused(None),
            off: SignedDuration::ZERO,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        /// Plays a worker: carries out what is decided until the event has ended.
        #[test]
        fn an_event_always_ends_within_its_window_and_never_comes_after_its_end(
            turns in turns(),
            failing_for in proptest::option::of(0_i64..80),
        ) {
            let mut turns = turns.into_iter().chain(std::iter::repeat_with(silence));
            let failing_since = failing_for.map(|hours| after(-hours));
            let mut health = Health { failing_since, ..WORKS };
            let mut pending = Pending { place: Place::Queued, attempts: 0, since: start() };
            // When its turn comes: by its own message, or by the webhook's probe.
            let mut turn_at = start();
            let (mut has_ended, mut rounds) = (false, 0);
            while !has_ended {
                rounds += 1;
                prop_assert!(rounds < 1_000, "it goes on for ever");
                let turn = turns.next().expect("silence has no end");
                let now = turn_at + turn.late;
                let decision = decide(&pending, &health, Happened::Due, now);
                prop_assert_eq!(decision.health, None);
                match decision.step {
                    Step::Deliver => {}
                    Step::Park { probe_after } => {
                        prop_assert_eq!(probe_after, None);
                        prop_assert!(!health.is_active || health.is_dead(now));
                        pending.place = Place::Parked;
                        turn_at = now;
                        if !health.is_active {
                            // Its owner switches it on.
                            health = WORKS;
                            turn_at = now + turn.off;
                        }
                        continue;
                    }
                    Step::GiveUp(why) => {
                        prop_assert_eq!(why, GiveUp::Expired);
                        prop_assert!(age(pending.since, now) > WINDOW);
                        has_ended = true;
                        continue;
                    }
                    step => return Err(TestCaseError::fail(format!("{step:?} before an attempt"))),
                }
                prop_assert!(health.is_active);
                prop_assert!(age(pending.since, now) <= WINDOW, "an attempt after the window");
                pending.attempts += 1;
                let decision = decide(&pending, &health, Happened::Attempted(turn.answer), now);
                match decision.health {
                    None => prop_assert_eq!(health.failing_since.is_none(), turn.answer == Answer::Taken),
                    Some(HealthChange::Recovers) => health.failing_since = None,
                    Some(HealthChange::Fails) => health.failing_since = Some(now),
                    Some(HealthChange::Disable { failing_since, .. }) => {
                        health = Health { is_active: false, failing_since: Some(failing_since) };
                    }
                }
                match decision.step {
                    Step::Done => {
                        prop_assert_eq!(turn.answer, Answer::Taken);
                        has_ended = true;
                    }
                    Step::GiveUp(_) => has_ended = true,
                    Step::Retry(wait) => {
                        prop_assert_eq!(pending.place, Place::Queued);
                        turn_at = now + wait;
                        prop_assert!(age(pending.since, turn_at) <= WINDOW);
                    }
                    Step::Park { probe_after } => {
                        prop_assert_eq!(pending.place, Place::Parked);
                        // It comes back: a parked event behind a webhook that is on always has a probe to come.
                        turn_at = now + probe_after.expect("a probe that failed is followed by another");
                        prop_assert!(age(pending.since, turn_at) <= WINDOW);
                    }
                    Step::Deliver => return Err(TestCaseError::fail("an attempt follows another at once")),
                }
            }
        }
    }
}
