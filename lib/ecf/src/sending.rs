//! What happens next to a receipt on its way to the tax authority: the whole machine, without its calls.
//!
//! [`decide`] gets what is known of the receipt and what has just happened, and names the next step. It reads and calls nothing.
//! The submission worker carries the step out and reports what happened, until a step ends the job.
//! `A` is an answer of the tax authority: it comes with an event, goes out with the step that records it, and is never read here.
//!
//! Only [`Step::Submit`] sends, and it follows a claim. [`Claim::First`] and [`Claim::Cleared`] are granted while no send of the
//! receipt may have arrived; [`Claim::Resend`] is granted after two look-ups that found nothing.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::waits::{LONGEST_DELAY, LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, NOT_FOUND_WINDOW, SEND_LEASE, STEP, VERDICT};
use crate::{Environment, ReceiptState};

mod fail_cause;
mod happened;
mod step;

pub(crate) use fail_cause::{CERTIFICATE_REFUSED, REFUSED, WRONG_KIND};
pub use fail_cause::{FailCause, NotAccepted};
pub use happened::{Call, Finding, Grounds, Happened, Invoice, Judgement, NotClaimed};
pub use step::{Awaited, Before, Claim, Effect, FinalVerdict, LookUp, Lost, Purpose, Said, Step, Then};

/// How many refusals of a certificate are retried: a seed can be late, a delegation new.
const REFUSED_TOKENS: u32 = 3;
/// How often a note looks whether a rejected receipt has a successor.
const NEXT_LOOK: SignedDuration = SignedDuration::from_mins(30);
/// How often a job reads a note's invoice when it changes in between.
const INVOICE_READS: u32 = 4;

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Send a signed receipt.
    Send,
    /// Ask for the verdict of a submitted one.
    Poll,
}

/// What is known of the receipt, as it was last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its state.
    pub state: ReceiptState,
    /// The authority's environment.
    pub environment: Environment,
    /// Whether the authority offers a look-up by number for it.
    pub has_look_up: bool,
    /// How often a send was begun.
    pub sends: u32,
    /// Until when a worker holds it. Past and still there: a send may have arrived.
    pub lease_until: Option<Timestamp>,
    /// How many look-ups since then found nothing.
    pub negatives: u32,
    /// Whether it has a track id.
    pub has_track_id: bool,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When it was sent again for the first time, after a send whose outcome was lost.
    pub resent_at: Option<Timestamp>,
    /// How often this job read the invoice that it modifies.
    pub invoice_reads: u32,
}

impl Standing {
    /// A receipt that the job has not read yet. No decision needs more of it than its environment.
    pub const fn unread(environment: Environment, now: Timestamp) -> Self {
        Self {
            state: ReceiptState::Signed,
            environment,
            has_look_up: false,
            sends: 0,
            lease_until: None,
            negatives: 0,
            has_track_id: false,
            submitted_at: now,
            resent_at: None,
            invoice_reads: 0,
        }
    }

    const fn awaits_send(&self) -> bool {
        matches!(self.state, ReceiptState::Signed | ReceiptState::Contingency)
    }

    /// Whether an earlier copy may have arrived that the authority does not list yet.
    fn may_still_appear(&self, now: Timestamp) -> bool {
        self.resent_at.is_some_and(|resent| now < resent + NOT_FOUND_WINDOW)
    }

    const fn may_be_resent(&self) -> bool {
        self.negatives >= LOOKUPS_BEFORE_RESEND
    }
}

/// The next step. `attempt`: how many attempts of the job came before.
pub fn decide<A>(task: Task, attempt: u32, seen: &Standing, happened: Happened<A>, now: Timestamp) -> Step<A> {
    match happened {
        // Every job begins at the gates: while the authority is out of reach nothing is claimed, sent or asked.
        Happened::Came => Step::CheckGates(Before::Job),
        Happened::GatesOpen(Before::Job) => match task {
            Task::Send if seen.environment == Environment::CerteCF => Step::Load(Purpose::Attempt),
            Task::Send => Step::Authenticate,
            Task::Poll => Step::Load(Purpose::Poll),
        },
        Happened::GatesOpen(Before::Retry(asked)) => retry(attempt, asked, now),
        Happened::GatesOpen(Before::Question(asked)) => match (asked, VERDICT.after(attempt.saturating_add(1))) {
            (Some(asked), Some(wait)) if asked <= LONGEST_DELAY => Step::Retry(wait.max(asked)),
            (Some(asked), _) => retry(attempt, Some(asked), now),
            (None, wait) => retry_or_rest(wait),
        },
        Happened::GatesClosed(until) | Happened::Loaded(Purpose::Hold(until)) => Step::Hold(until),
        Happened::Held(Call::Token | Call::LookUp(LookUp::Lost(Lost::Document)), until) => {
            Step::Load(Purpose::Hold(until))
        }
        Happened::Held(Call::Send, until) => Step::Release(Then::Hold(until)),
        Happened::Held(Call::LookUp(LookUp::Lost(Lost::Answer)), until) => Step::RecordAnswerLost(Then::Hold(until)),
        Happened::Held(Call::LookUp(LookUp::UsedNumber(_)), _) => retry_with_claim(seen, None),

        Happened::Missing => Step::GiveUp,
        Happened::StoreFailed => retry_or_rest(STEP.after(attempt)),

        // In CerteCF the number of an earlier attempt may go to another receipt: the authority must not get it in the new attempt.
        // A receipt whose send may have arrived is looked up first.
        Happened::Loaded(Purpose::Attempt) => {
            let is_sent_next = seen
                .lease_until
                .is_none_or(|until| until <= now && seen.may_be_resent());
            if seen.awaits_send() && is_sent_next {
                Step::CheckAttempt
            } else {
                Step::Authenticate
            }
        }
        Happened::OfEarlierAttempt => Step::Fail(FailCause::AttemptAbandoned),
        Happened::OfCurrentAttempt => Step::Authenticate,

        Happened::Authenticated => Step::Claim(Claim::First),
        Happened::NoCertificate => match task {
            Task::Send => Step::Load(Purpose::Stop(FailCause::CertificateMissing)),
            Task::Poll => poll_again(attempt),
        },
        Happened::UnusableCertificate(why) => Step::Load(Purpose::Stop(FailCause::CertificateUnusable(why))),
        Happened::CertificateRefused { is_wrong_kind, answer } if is_wrong_kind || attempt >= REFUSED_TOKENS => {
            Step::Load(Purpose::Stop(FailCause::CertificateRefused { is_wrong_kind, answer }))
        }
        Happened::CertificateRefused { answer, .. } => Step::RetryRefusedCertificate(answer),
        Happened::Logged => Step::CheckGates(Before::Retry(None)),
        Happened::NoToken(asked) => Step::CheckGates(Before::Retry(asked)),
        // One whose send may have arrived goes on waiting for its look-up: a retry by a person would not know of it.
        Happened::Loaded(Purpose::Stop(cause)) => match seen.lease_until {
            _ if !seen.awaits_send() => Step::Done,
            None => Step::Fail(cause),
            Some(_) => Step::LogBlocked(cause),
        },

        Happened::Claimed(Claim::LookUp) => Step::LookUp(LookUp::Lost(Lost::Answer)),
        Happened::Claimed(Claim::First | Claim::Cleared | Claim::Resend) => Step::Submit,
        // Somebody is on it; if they die, their lease runs out.
        Happened::Leased => {
            let left = seen.lease_until.map_or(SEND_LEASE, |until| until.duration_since(now));
            let wait = Duration::try_from(left).unwrap_or_default() + Duration::from_secs(1);
            retry_or_rest(STEP.after(attempt).map(|after| after.max(wait)))
        }
        Happened::NotClaimed(Claim::LookUp | Claim::Resend, _) => Step::CheckGates(Before::Retry(None)),
        Happened::NotClaimed(Claim::First, NotClaimed::NoteAwaitsInvoice) => Step::ReadInvoice,
        Happened::NotClaimed(Claim::First | Claim::Cleared, why) => match why {
            NotClaimed::LeaseExpired if seen.may_be_resent() => Step::Claim(Claim::Resend),
            NotClaimed::LeaseExpired if seen.has_look_up => Step::Claim(Claim::LookUp),
            NotClaimed::LeaseExpired => Step::RecordOutcomeUnknown,
            // Held again: it failed in between, and waits for a person.
            NotClaimed::NoteAwaitsInvoice => Step::Done,
            // Submitted already: the question for its verdict may have been lost.
            NotClaimed::NotSendable if seen.has_track_id && !seen.state.is_final() => first_poll(),
            NotClaimed::NotSendable => Step::Done,
            NotClaimed::Missing => Step::GiveUp,
        },

        Happened::NoInvoiceNamed | Happened::NoteCleared => Step::Claim(Claim::Cleared),
        Happened::InvoiceMissing => Step::CheckGates(Before::Retry(None)),
        Happened::InvoiceRead(invoice) => of_note(&invoice, now),
        // The authority compares an annulment with what it has accepted.
        Happened::OpenCredit => Step::AwaitVerdict(Awaited::OpenCredit),
        Happened::NoOpenCredit => Step::ClearNote,
        Happened::InvoiceChanged if seen.invoice_reads < INVOICE_READS => Step::ReadInvoice,
        Happened::InvoiceChanged => Step::CheckGates(Before::Retry(None)),

        Happened::NoDocument => Step::Fail(FailCause::SignedXmlMissing),
        Happened::DocumentUnreadable => Step::Release(Then::RetryStore),
        Happened::Taken(track_id) => Step::RecordTrack(track_id),
        Happened::TrackRecorded | Happened::TrackReplaced => first_poll(),
        Happened::SummaryJudged(judgement, answer) => judged(seen, judgement, answer),
        Happened::Refused {
            is_already_used: true,
            answer,
        } => used_number(
            seen,
            Said {
                rejection: None,
                answer,
            },
        ),
        Happened::Refused { answer, .. } => Step::Fail(FailCause::Refused(answer)),
        Happened::NothingTaken(asked) => Step::Release(Then::Retry(asked)),
        Happened::OutcomeUnknown(asked) => Step::RecordAnswerLost(Then::Retry(asked)),
        Happened::Released(then) | Happened::AnswerLost(then) => match then {
            Then::Hold(until) => Step::Load(Purpose::Hold(until)),
            Then::Retry(asked) => Step::CheckGates(Before::Retry(asked)),
            Then::RetryStore => retry_or_rest(STEP.after(attempt)),
        },

        Happened::Found(LookUp::Lost(lost), finding) => of_lost(seen, attempt, lost, finding),
        Happened::Found(LookUp::UsedNumber(said), finding) => of_used_number(seen, said, finding, now),
        Happened::NegativeRecorded(Lost::Answer) if seen.may_be_resent() => {
            retry_or_rest(STEP.after(attempt).map(|_| Duration::ZERO))
        }
        Happened::NegativeRecorded(Lost::Document) if seen.may_be_resent() => Step::ReturnToSend,
        Happened::NegativeRecorded(_) => {
            let spacing = Duration::try_from(LOOKUP_SPACING).unwrap_or_default();
            retry_or_rest(STEP.after(attempt).map(|_| spacing))
        }
        Happened::NegativeNotRecorded(Lost::Answer) => Step::CheckGates(Before::Retry(None)),
        Happened::NegativeNotRecorded(Lost::Document) => Step::Done,

        Happened::Loaded(Purpose::Poll) if seen.has_track_id && !seen.state.is_final() => Step::Poll,
        Happened::Loaded(Purpose::Poll) => Step::Done,
        Happened::Polled(judgement, answer) => match judgement {
            // For some hours that is the authority's delay.
            Judgement::NotFound if seen.has_look_up && now >= seen.submitted_at + NOT_FOUND_WINDOW => {
                Step::LookUp(LookUp::Lost(Lost::Document))
            }
            Judgement::InProcess if seen.negatives > 0 => Step::ForgetNegatives,
            Judgement::NotFound | Judgement::InProcess | Judgement::Unclear => poll_again(attempt),
            _ => judged(seen, judgement, answer),
        },
        Happened::PollFailed(asked) => Step::CheckGates(Before::Question(asked)),
        Happened::NegativesForgotten | Happened::Overtaken => poll_again(attempt),
        Happened::ReturnedToSend => Step::Enqueue(Task::Send, Duration::ZERO),

        Happened::VerdictRecorded => Step::Announce(&Effect::OF_VERDICT),
        Happened::FailureRecorded => Step::Announce(&Effect::OF_FAILURE),
        Happened::Finished => Step::Done,
    }
}

/// What follows a judgement of the receipt's document.
fn judged<A>(seen: &Standing, judgement: Judgement, answer: A) -> Step<A> {
    match judgement {
        Judgement::Rejected {
            secuencia_utilizada,
            grounds: Grounds::AlreadyUsed,
        } => {
            let rejection = Some(secuencia_utilizada);
            used_number(seen, Said { rejection, answer })
        }
        _ => record(judgement, answer, None).unwrap_or(Step::RecordAnswerLost(Then::Retry(None))),
    }
}

/// "Already used" (1209) is success when the copy that the authority holds is ours. It comes when a receipt was sent again because
/// its first send was not visible for a while.
fn used_number<A>(seen: &Standing, said: Said<A>) -> Step<A> {
    // Sent once and refused for being sent: the earlier copy cannot be this receipt's.
    let was_sent_before = seen.sends > 1;
    if was_sent_before && seen.has_look_up {
        Step::LookUp(LookUp::UsedNumber(said))
    } else {
        not_ours(said)
    }
}

fn of_lost<A>(seen: &Standing, attempt: u32, lost: Lost, finding: Finding<A>) -> Step<A> {
    match (lost, finding) {
        (Lost::Answer, Finding::Track(track_id)) => Step::RecordTrack(track_id),
        (Lost::Document, Finding::Track(track_id)) => Step::ReplaceTrack(track_id),
        (_, Finding::Judged(judgement, answer, _)) => judged(seen, judgement, answer),
        (lost, Finding::Nothing | Finding::OtherBytes) => Step::RecordNegative(lost),
        (Lost::Answer, Finding::Unclear) => Step::RecordAnswerLost(Then::Retry(None)),
        (Lost::Document, Finding::Unclear) => poll_again(attempt),
        (Lost::Answer, Finding::Failed(asked)) => Step::RecordAnswerLost(Then::Retry(asked)),
        (Lost::Document, Finding::Failed(asked)) => Step::CheckGates(Before::Retry(asked)),
    }
}

fn of_used_number<A>(seen: &Standing, said: Said<A>, finding: Finding<A>, now: Timestamp) -> Step<A> {
    match finding {
        Finding::Track(track_id) if seen.has_track_id => Step::PollEarlier(said, track_id),
        Finding::Track(track_id) => Step::RecordTrack(track_id),
        // The authority says that the number is used, and lists nothing that uses it.
        Finding::Nothing if seen.may_still_appear(now) => retry_with_claim(seen, None),
        // A rejection of our earlier copy, if it gives grounds, says more than that the number is used.
        Finding::Judged(
            Judgement::Rejected {
                grounds: Grounds::AlreadyUsed | Grounds::NotGiven,
                ..
            },
            ..,
        )
        | Finding::Nothing
        | Finding::OtherBytes => not_ours(said),
        Finding::Judged(judgement, answer, track_id) => {
            record(judgement, answer, track_id).unwrap_or_else(|| retry_with_claim(seen, None))
        }
        Finding::Unclear => retry_with_claim(seen, None),
        Finding::Failed(asked) => retry_with_claim(seen, asked),
    }
}

/// Somebody else's bytes have the number: what the authority said stands.
fn not_ours<A>(said: Said<A>) -> Step<A> {
    match said.rejection {
        Some(secuencia_utilizada) => Step::RecordVerdict(FinalVerdict {
            state: ReceiptState::Rejected,
            secuencia_utilizada: secuencia_utilizada.or(Some(true)),
            answer: said.answer,
            track_id: None,
        }),
        None => Step::Fail(FailCause::Refused(said.answer)),
    }
}

/// Records a judgement that is a verdict.
fn record<A>(judgement: Judgement, answer: A, track_id: Option<String>) -> Option<Step<A>> {
    let (state, secuencia_utilizada) = match judgement {
        Judgement::Accepted => (ReceiptState::Accepted, None),
        Judgement::ConditionallyAccepted => (ReceiptState::ConditionallyAccepted, None),
        Judgement::Rejected {
            secuencia_utilizada, ..
        } => (ReceiptState::Rejected, secuencia_utilizada),
        Judgement::InProcess | Judgement::NotFound | Judgement::Unclear => return None,
    };
    Some(Step::RecordVerdict(FinalVerdict {
        state,
        secuencia_utilizada,
        answer,
        track_id,
    }))
}

/// The way of a held note: the authority rejects one that comes before the verdict on its invoice (614).
fn of_note<A>(invoice: &Invoice, now: Timestamp) -> Step<A> {
    let not_accepted = |why| Step::Fail(FailCause::ModifiedReceiptNotAccepted(why));
    if let Some(await_limit) = invoice.await_limit {
        match invoice.state {
            ReceiptState::Accepted | ReceiptState::ConditionallyAccepted => {}
            ReceiptState::Rejected if invoice.secuencia_utilizada != Some(false) => {
                return not_accepted(NotAccepted::Burned);
            }
            // Another receipt may come to be valid under the number.
            ReceiptState::Rejected | ReceiptState::Failed => {
                let end = invoice.awaited_since + await_limit;
                if now >= end {
                    return not_accepted(NotAccepted::NoSuccessor);
                }
                return Step::Postpone(end.min(now + NEXT_LOOK));
            }
            ReceiptState::Cancelled | ReceiptState::Incapacity => return not_accepted(NotAccepted::Withdrawn),
            _ => return Step::AwaitVerdict(Awaited::Invoice),
        }
    }
    if !invoice.covers_note {
        Step::Fail(FailCause::ModifiedReceiptBalance)
    } else if invoice.is_annulled && invoice.await_limit.is_some() {
        Step::FindOpenCredit
    } else {
        Step::ClearNote
    }
}

/// A retry of a receipt that this worker may hold a claim on.
fn retry_with_claim<A>(seen: &Standing, asked: Option<Duration>) -> Step<A> {
    if seen.has_track_id {
        Step::CheckGates(Before::Retry(asked))
    } else {
        Step::RecordAnswerLost(Then::Retry(asked))
    }
}

/// Retries a failed step, not before the authority wants it.
fn retry<A>(attempt: u32, asked: Option<Duration>, now: Timestamp) -> Step<A> {
    let asked = asked.unwrap_or_default();
    let wait = STEP.after(attempt).map(|wait| wait.max(asked));
    match wait.filter(|wait| *wait <= LONGEST_DELAY) {
        Some(wait) => Step::Retry(wait),
        None if asked.is_zero() => Step::Done,
        // A queue does not hold a message for that long.
        None => Step::Postpone(now + SignedDuration::try_from(asked).unwrap_or(SignedDuration::from_hours(1))),
    }
}

/// The job's next attempt after this wait; without one the due index brings the receipt back, which costs nothing while it waits.
fn retry_or_rest<A>(wait: Option<Duration>) -> Step<A> {
    wait.map_or(Step::Done, Step::Retry)
}

/// The next question for a verdict, after one that brought none.
fn poll_again<A>(attempt: u32) -> Step<A> {
    retry_or_rest(VERDICT.after(attempt.saturating_add(1)))
}

/// The first question after a receipt was submitted.
fn first_poll<A>() -> Step<A> {
    Step::Enqueue(Task::Poll, VERDICT.after(0).unwrap_or_default())
}
