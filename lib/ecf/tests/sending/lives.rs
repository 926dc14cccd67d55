//! Whole lives of receipts: several workers, each of which may die after any step, beside an authority that loses answers and
//! documents. `decide` alone says what comes next.

use std::time::Duration;

use ecf::sending::{
    Call, Effect, Finding, Grounds, Happened, Invoice, Judgement, LookUp, Lost, Standing, Step, Task, decide,
};
use ecf::waits::LOOKUPS_BEFORE_RESEND;
use ecf::{Environment, ReceiptState};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::authority::Authority;
use crate::receipt::Receipt;

type Event = Happened<&'static str>;

/// More steps than any job takes.
const MOST_STEPS: u32 = 40;
/// More turns of a calm world than any receipt needs to its end.
const MOST_TURNS: usize = 4_000;

/// Choices of fate. Once they are used up, everything goes well.
struct Fate {
    choices: std::vec::IntoIter<u8>,
    /// How many of 256 choices are not the good way.
    harshness: u8,
}

impl Fate {
    fn new(choices: Vec<u8>, harshness: u8) -> Self {
        Self {
            choices: choices.into_iter(),
            harshness,
        }
    }

    /// One of `n` ways; 0 is the good one.
    fn pick(&mut self, n: u8) -> u8 {
        let choice = self.choices.next().filter(|choice| *choice < self.harshness);
        choice.map_or(0, |choice| choice % n)
    }
}

struct Worker {
    task: Task,
    attempt: u32,
    seen: Option<Receipt>,
    invoice_reads: u32,
    steps: u32,
    happened: Event,
    has_claim: bool,
}

struct World {
    fate: Fate,
    now: Timestamp,
    receipt: Receipt,
    authority: Authority,
    queue: Vec<(Timestamp, Task, u32)>,
    workers: Vec<Worker>,
    /// How many look-ups were counted since the last send that may have arrived. `None`: every send certainly did not.
    negatives: Option<u32>,
    announced: u32,
}

impl World {
    fn new(environment: Environment, is_summary: bool, is_note: bool, is_number_foreign: bool, fate: Fate) -> Self {
        let now = "2026-11-29T12:00:00Z".parse().unwrap();
        let receipt = Receipt {
            state: ReceiptState::Signed,
            environment,
            is_summary,
            sends: 0,
            lease_until: None,
            negatives: 0,
            looked_up_at: None,
            track_id: None,
            submitted_at: now,
            resent_at: None,
            is_held: is_note,
        };
        Self {
            fate,
            now,
            receipt,
            authority: Authority::new(is_number_foreign),
            queue: vec![(now, Task::Send, 0)],
            workers: Vec::new(),
            negatives: None,
            announced: 0,
        }
    }

    /// Lives until the receipt came to its end.
    fn live(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..MOST_TURNS {
            if self.is_over() {
                return Ok(());
            }
            match self.fate.pick(4) {
                // In a calm world one worker ends before the next begins.
                0 if !self.workers.is_empty() => self.one_step(0)?,
                0 | 1 => self.next_job(),
                2 if !self.workers.is_empty() => {
                    let worker = usize::from(self.fate.pick(3)) % self.workers.len();
                    self.one_step(worker)?;
                }
                _ => {
                    let seconds = [1, 30, 61, 600, 4 * 3_600][usize::from(self.fate.pick(5))];
                    self.pass(SignedDuration::from_secs(seconds));
                }
            }
        }
        prop_assert!(false, "no end in sight: {:?}", self.receipt);
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_left_to_operator = self.receipt.state == ReceiptState::Submitted && self.receipt.track_id.is_none();
        let waits_for_operator = is_left_to_operator || self.is_lost_without_look_up();
        let is_at_its_end = self.receipt.state.is_final() || self.receipt.state == ReceiptState::Failed;
        (is_at_its_end || waits_for_operator) && self.workers.is_empty()
    }

    /// The alarm about the age of a submitted receipt brings an operator.
    fn is_lost_without_look_up(&self) -> bool {
        let track_id = self.receipt.track_id.as_deref();
        let is_lost = track_id.is_some_and(|track_id| self.authority.has_lost(track_id));
        is_lost && !self.receipt.has_look_up()
    }

    /// A worker whose lease is over is dead: a send ends before its lease.
    fn pass(&mut self, time: SignedDuration) {
        self.now += time;
        let is_over = self.receipt.lease_until.is_none_or(|until| until <= self.now);
        self.workers.retain(|worker| !(worker.has_claim && is_over));
    }

    /// The next message comes, or the due index brings the receipt.
    fn next_job(&mut self) {
        let is_due = |(at, ..): &&(Timestamp, Task, u32)| *at <= self.now;
        let (task, attempt) = match self.queue.iter().min_by_key(|(at, ..)| *at).filter(is_due).copied() {
            Some(job) => {
                self.queue.retain(|other| *other != job);
                (job.1, job.2)
            }
            None => match self.queue.iter().map(|(at, ..)| *at).min() {
                Some(next) if self.fate.pick(2) == 0 => return self.pass(next.duration_since(self.now)),
                _ => {
                    self.pass(SignedDuration::from_mins(10));
                    let is_submitted = self.receipt.state == ReceiptState::Submitted;
                    (if is_submitted { Task::Poll } else { Task::Send }, 0)
                }
            },
        };
        self.workers.push(Worker {
            task,
            attempt,
            seen: None,
            invoice_reads: 0,
            steps: 0,
            happened: Happened::Came,
            has_claim: false,
        });
    }

    fn one_step(&mut self, place: usize) -> Result<(), TestCaseError> {
        let mut worker = self.workers.remove(place);
        worker.steps += 1;
        prop_assert!(worker.steps <= MOST_STEPS, "a job without end: {:?}", worker.happened);
        let standing = match &worker.seen {
            Some(seen) => seen.standing(worker.invoice_reads),
            None => Standing::unread(self.receipt.environment, self.now),
        };
        let happened = std::mem::replace(&mut worker.happened, Happened::Finished);
        let step = decide(worker.task, worker.attempt, &standing, happened, self.now);
        match step {
            Step::Retry(after) => self.enqueue(worker.task, worker.attempt + 1, after),
            Step::Enqueue(task, after) => self.enqueue(task, 0, after),
            Step::Done => {}
            Step::GiveUp => prop_assert!(false, "the receipt exists"),
            step => {
                worker.happened = self.carry_out(&mut worker, step)?;
                let dies = self.fate.pick(12) == 11;
                if !dies {
                    self.workers.push(worker);
                }
            }
        }
        Ok(())
    }

    fn enqueue(&mut self, task: Task, attempt: u32, after: Duration) {
        self.queue.push((self.now + after, task, attempt));
    }

    fn carry_out(&mut self, worker: &mut Worker, step: Step<&'static str>) -> Result<Event, TestCaseError> {
        let now = self.now;
        let soon = now + SignedDuration::from_mins(10);
        let asked = Some(Duration::from_secs(1_200));
        // A step that works on the receipt comes after one that read it.
        let seen = worker.seen.clone().unwrap_or_else(|| self.receipt.clone());
        Ok(match step {
            Step::CheckGates(before) => match self.fate.pick(8) {
                1 => {
                    worker.seen = Some(self.receipt.clone());
                    Happened::GatesClosed(soon)
                }
                _ => Happened::GatesOpen(before),
            },
            Step::Load(purpose) => {
                worker.seen = Some(self.receipt.clone());
                Happened::Loaded(purpose)
            }
            Step::CheckAttempt => match self.fate.pick(6) {
                1 => Happened::OfEarlierAttempt,
                _ => Happened::OfCurrentAttempt,
            },
            Step::Authenticate => match self.fate.pick(16) {
                1 => Happened::NoCertificate,
                2 => Happened::UnusableCertificate("why".to_owned()),
                3 | 4 => Happened::CertificateRefused {
                    is_wrong_kind: false,
                    answer: "refused",
                },
                5 => Happened::CertificateRefused {
                    is_wrong_kind: true,
                    answer: "refused",
                },
                6 => Happened::NoToken(None),
                7 => Happened::NoToken(asked),
                8 => Happened::Held(Call::Token, soon),
                9 => Happened::StoreFailed,
                _ => Happened::Authenticated,
            },
            Step::RetryRefusedCertificate(_) => Happened::NoToken(None),
            Step::LogBlocked(_) => Happened::Logged,
            Step::Claim(claim) => {
                let claimed = self.receipt.claim(claim, now);
                worker.seen = Some(self.receipt.clone());
                worker.has_claim = claimed.is_ok();
                match claimed {
                    Ok(()) => Happened::Claimed(claim),
                    Err(None) => Happened::Leased,
                    Err(Some(why)) => Happened::NotClaimed(claim, why),
                }
            }
            Step::ReadInvoice => {
                worker.invoice_reads += 1;
                self.invoice()
            }
            Step::FindOpenCredit => match self.fate.pick(2) {
                1 => Happened::OpenCredit,
                _ => Happened::NoOpenCredit,
            },
            Step::AwaitVerdict(_) => match self.fate.pick(2) {
                1 => Happened::InvoiceChanged,
                _ => Happened::Finished,
            },
            Step::ClearNote => match self.fate.pick(3) {
                1 => Happened::InvoiceChanged,
                _ => {
                    self.receipt.is_held = false;
                    Happened::NoteCleared
                }
            },
            Step::Submit => self.submit()?,
            Step::Release(then) => {
                self.receipt.release(&seen);
                worker.has_claim = false;
                Happened::Released(then)
            }
            Step::RecordAnswerLost(then) => {
                self.receipt.lose_answer(&seen, now);
                worker.has_claim = false;
                Happened::AnswerLost(then)
            }
            Step::RecordOutcomeUnknown => {
                prop_assert!(!seen.has_look_up());
                self.receipt.leave_to_operator(&seen, now);
                Happened::Finished
            }
            Step::RecordTrack(track_id) => {
                prop_assert!(seen.may_become(ReceiptState::Submitted, false), "{:?}", seen);
                self.receipt.submitted(track_id, now);
                worker.has_claim = false;
                Happened::TrackRecorded
            }
            Step::LookUp(why) => {
                prop_assert!(seen.has_look_up());
                match (self.fate.pick(6), &why) {
                    (1, _) => Happened::Found(why, Finding::Failed(None)),
                    (2, _) => Happened::Found(why, Finding::Unclear),
                    (3, _) => Happened::Held(Call::LookUp(why), soon),
                    (_, LookUp::Lost(Lost::Document)) => {
                        let found = self.authority.look_up_missing(&seen, now);
                        Happened::Found(why, found)
                    }
                    _ => Happened::Found(why, self.authority.look_up(&seen, now)),
                }
            }
            Step::PollEarlier(said, track_id) => {
                let finding = match self.fate.pick(4) {
                    1 => Finding::Failed(None),
                    _ => Finding::Judged(self.authority.verdict(&track_id, now), "found", Some(track_id)),
                };
                Happened::Found(LookUp::UsedNumber(said), finding)
            }
            Step::Poll => match (self.fate.pick(8), &seen.track_id) {
                (1, _) => Happened::PollFailed(None),
                (2, _) => Happened::PollFailed(asked),
                (3, _) => Happened::Polled(Judgement::Unclear, "answer"),
                (4, _) => Happened::NoCertificate,
                (5, _) => Happened::Polled(Judgement::InProcess, "answer"),
                (_, Some(track_id)) => Happened::Polled(self.authority.verdict(track_id, now), "answer"),
                (_, None) => return Err(TestCaseError::fail("asked without a track id")),
            },
            Step::RecordNegative(Lost::Answer) => {
                worker.has_claim = false;
                match self.receipt.found_nothing(&seen, now) {
                    None => Happened::NegativeNotRecorded(Lost::Answer),
                    Some(counted) => {
                        self.count(counted);
                        worker.seen = Some(self.receipt.clone());
                        Happened::NegativeRecorded(Lost::Answer)
                    }
                }
            }
            Step::RecordNegative(Lost::Document) => {
                let counted = self.receipt.not_found(&seen, now);
                self.count(counted);
                worker.seen = Some(self.receipt.clone());
                Happened::NegativeRecorded(Lost::Document)
            }
            Step::ForgetNegatives => {
                if self.receipt.is_still(&seen) {
                    self.receipt.negatives = 0;
                    self.receipt.looked_up_at = None;
                    self.negatives = Some(0);
                }
                Happened::NegativesForgotten
            }
            Step::ReplaceTrack(track_id) if self.receipt.is_still(&seen) => {
                self.receipt.track_id = Some(track_id);
                self.receipt.negatives = 0;
                self.receipt.looked_up_at = None;
                worker.seen = Some(self.receipt.clone());
                Happened::TrackReplaced
            }
            Step::ReturnToSend if self.receipt.return_to_send(&seen, now) => {
                prop_assert!(seen.may_become(ReceiptState::Signed, true), "{:?}", seen);
                Happened::ReturnedToSend
            }
            Step::ReplaceTrack(_) | Step::ReturnToSend => Happened::Overtaken,
            Step::RecordVerdict(verdict) => {
                prop_assert!(seen.may_become(verdict.state, false), "{:?} to {}", seen, verdict.state);
                worker.has_claim = false;
                if !self.receipt.may_become(verdict.state, false) {
                    return Ok(Happened::Finished);
                }
                let is_rejected = verdict.state == ReceiptState::Rejected;
                prop_assert_eq!(is_rejected, !self.authority.has_accepted(), "{:?}", verdict);
                self.receipt.state = verdict.state;
                Happened::VerdictRecorded
            }
            Step::Fail(_) => {
                prop_assert!(seen.may_become(ReceiptState::Failed, false), "{:?}", seen);
                worker.has_claim = false;
                let is_as_seen = self.receipt.lease_until == seen.lease_until && self.receipt.track_id.is_none();
                if !is_as_seen || !self.receipt.may_become(ReceiptState::Failed, false) {
                    return Ok(Happened::Finished);
                }
                self.receipt.lease_until = None;
                self.receipt.state = ReceiptState::Failed;
                Happened::FailureRecorded
            }
            Step::Announce(effects) => {
                self.announced += 1;
                prop_assert_eq!(self.announced, 1, "announced twice");
                prop_assert!(effects.contains(&Effect::Notes));
                Happened::Finished
            }
            Step::Hold(_) => {
                let is_idle = self.receipt.lease_until.is_none_or(|until| until <= now);
                if seen.state == ReceiptState::Signed && self.receipt.state == ReceiptState::Signed && is_idle {
                    self.receipt.state = ReceiptState::Contingency;
                }
                Happened::Finished
            }
            Step::Postpone(until) => {
                prop_assert!(until > now);
                Happened::Finished
            }
            Step::Retry(_) | Step::Enqueue(..) | Step::GiveUp | Step::Done => {
                return Err(TestCaseError::fail("the job ended"));
            }
        })
    }

    fn count(&mut self, counted: bool) {
        if counted && let Some(negatives) = &mut self.negatives {
            *negatives += 1;
        }
    }

    /// Nothing is sent twice without two look-ups that found nothing, or proof that nothing arrived.
    fn submit(&mut self) -> Result<Event, TestCaseError> {
        let may_send = self
            .negatives
            .is_none_or(|negatives| negatives >= LOOKUPS_BEFORE_RESEND);
        prop_assert!(may_send, "sent twice: {:?}", self.receipt);
        let visible_at = self.now + SignedDuration::from_secs([0, 30, 3_000][usize::from(self.fate.pick(3))]);
        let judgement = match self.fate.pick(4) {
            1 => Judgement::ConditionallyAccepted,
            2 => Judgement::Rejected {
                secuencia_utilizada: Some(true),
                grounds: Grounds::Given,
            },
            _ => Judgement::Accepted,
        };
        let asked = Some(Duration::from_secs(1_200));
        let nothing_arrived = match self.fate.pick(16) {
            1 | 2 => Some(Happened::NothingTaken(None)),
            3 => Some(Happened::NothingTaken(asked)),
            4 => Some(Happened::Held(Call::Send, self.now + SignedDuration::from_mins(10))),
            5 => Some(Happened::DocumentUnreadable),
            6 => Some(Happened::NoDocument),
            7 => Some(Happened::Refused {
                is_already_used: false,
                answer: "refused",
            }),
            8 if self.authority.is_number_used() => Some(Happened::Refused {
                is_already_used: true,
                answer: "1209",
            }),
            _ => None,
        };
        if let Some(happened) = nothing_arrived {
            return Ok(happened);
        }
        self.negatives = Some(0);
        match self.fate.pick(8) {
            // It did not arrive, and nobody knows.
            1 => return Ok(Happened::OutcomeUnknown(None)),
            // It arrived, and its answer did not.
            2 | 3 => {
                self.authority.take(judgement, Some(visible_at));
                return Ok(Happened::OutcomeUnknown(asked.filter(|_| self.fate.pick(2) == 1)));
            }
            // The authority loses what it gave a track id for.
            4 if !self.receipt.is_summary => {
                let (track_id, _) = self.authority.take(judgement, None);
                return Ok(Happened::Taken(track_id));
            }
            _ => {}
        }
        let (track_id, judgement) = self.authority.take(judgement, Some(visible_at));
        Ok(if self.receipt.is_summary {
            Happened::SummaryJudged(judgement, "answer")
        } else {
            Happened::Taken(track_id)
        })
    }

    fn invoice(&mut self) -> Event {
        let calm = Invoice {
            state: ReceiptState::Accepted,
            secuencia_utilizada: None,
            awaited_since: self.now,
            await_limit: Some(SignedDuration::from_hours(72)),
            covers_note: true,
            is_annulled: false,
        };
        let state = |state| Invoice { state, ..calm };
        Happened::InvoiceRead(match self.fate.pick(8) {
            1 => state(ReceiptState::Submitted),
            2 => Invoice {
                secuencia_utilizada: Some(false),
                ..state(ReceiptState::Rejected)
            },
            3 => state(ReceiptState::Cancelled),
            4 => Invoice {
                covers_note: false,
                ..calm
            },
            5 => Invoice {
                is_annulled: true,
                ..calm
            },
            6 => return Happened::InvoiceMissing,
            _ => calm,
        })
    }
}

#[test]
fn a_receipt_in_a_calm_world_is_sent_once_and_accepted() {
    let mut world = World::new(Environment::Ecf, false, false, false, Fate::new(Vec::new(), 0));
    world.live().unwrap();
    assert_eq!(world.receipt.state, ReceiptState::Accepted);
    assert_eq!((world.receipt.sends, world.announced), (1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// Whatever dies, is lost or comes twice: only steps of the table of states, no second send without its proof, the verdict
    /// that the authority gave, one announcement of it, and an end.
    #[test]
    fn every_life_ends_as_the_authority_decided(
        environment in proptest::sample::select(&Environment::ALL[..]),
        is_summary in any::<bool>(),
        is_note in any::<bool>(),
        is_number_foreign in proptest::bool::weighted(0.1),
        choices in proptest::collection::vec(any::<u8>(), 0..300),
        harshness in 20..=255_u8,
    ) {
        World::new(environment, is_summary, is_note, is_number_foreign, Fate::new(choices, harshness)).live()?;
    }
}
