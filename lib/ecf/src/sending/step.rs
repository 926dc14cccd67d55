//! What the submission worker does for a receipt.

use std::time::Duration;

use jiff::Timestamp;

use super::{FailCause, Task};
use crate::ReceiptState;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<A> {
    /// Find out whether the receipt's host may be called.
    CheckGates(Before),
    /// Read the receipt.
    Load(Purpose<A>),
    /// Find out whether a new attempt of the certification has begun.
    CheckAttempt,
    /// Open the company's certificate and get a token.
    Authenticate,
    /// Log that the certificate was refused, and do not believe it yet.
    RetryRefusedCertificate(A),
    /// Log that the receipt, whose send may have arrived, cannot be looked up for this reason.
    LogBlocked(FailCause<A>),
    /// Claim the receipt.
    Claim(Claim),
    /// Read the receipt that a held note modifies.
    ReadInvoice,
    /// Look for an earlier credit note without verdict.
    FindOpenCredit,
    /// Leave the note's id where its job is enqueued with the verdict.
    AwaitVerdict(Awaited),
    /// Let the held note go.
    ClearNote,
    /// Send the signed document.
    Submit,
    /// Give the claim back: nothing was sent.
    Release(Then),
    /// End the claim: the document may have arrived.
    RecordAnswerLost(Then),
    /// Leave the receipt to the operator: nobody can find out whether the document arrived.
    RecordOutcomeUnknown,
    /// Record the track id.
    RecordTrack(String),
    /// Look the number up.
    LookUp(LookUp<A>),
    /// Ask for the verdict on the earlier copy of this track id.
    PollEarlier(Said<A>, String),
    /// Record that a look-up found nothing.
    RecordNegative(Lost),
    /// Ask for the verdict.
    Poll,
    /// Forget look-ups that found nothing: they must not count towards a later resend.
    ForgetNegatives,
    /// Take this track id in place of the one that the authority does not find.
    ReplaceTrack(String),
    /// Return the submitted receipt to its send: the authority does not have the document.
    ReturnToSend,
    /// Record the verdict.
    RecordVerdict(FinalVerdict<A>),
    /// Stop the receipt; a person decides.
    Fail(FailCause<A>),
    /// Carry the effects out, in their order. Housekeeping makes up for one that fails.
    Announce(&'static [Effect]),
    /// Hold the receipt until the authority may be called.
    Hold(Timestamp),
    /// Let the due index bring the receipt back then.
    Postpone(Timestamp),
    /// End: enqueue the job's next attempt.
    Retry(Duration),
    /// End: enqueue a first attempt.
    Enqueue(Task, Duration),
    /// End: the receipt does not exist.
    GiveUp,
    /// End: nothing is left to do, or the due index brings the receipt back.
    Done,
}

/// What the gates are checked before. With when the authority wants the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// The first call of a job.
    Job,
    /// The retry of a step that failed. Its failure may have closed the gates.
    Retry(Option<Duration>),
    /// The next question for a verdict, after one that failed.
    Question(Option<Duration>),
}

/// What the receipt is read for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose<A> {
    /// To compare it with the attempts of the certification.
    Attempt,
    /// To ask for its verdict.
    Poll,
    /// To hold it until then.
    Hold(Timestamp),
    /// To stop it, if no send may have arrived.
    Stop(FailCause<A>),
}

/// A claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// To send what no send of which may have arrived.
    First,
    /// The same for a note that was let go.
    Cleared,
    /// To look up what may have arrived.
    LookUp,
    /// To send again what two look-ups did not find.
    Resend,
}

/// What follows the end of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The receipt is held until then.
    Hold(Timestamp),
    /// A retry, not before the authority wants it.
    Retry(Option<Duration>),
    /// A retry after a failure of the store.
    RetryStore,
}

/// What was lost, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The answer to a send.
    Answer,
    /// A document that has a track id, which the authority does not find.
    Document,
}

/// Why a number is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUp<A> {
    /// To find what was lost.
    Lost(Lost),
    /// To find out whose copy used the number.
    UsedNumber(Said<A>),
}

/// The answer that says that the number was used before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<A> {
    /// Of a rejection: whether it burned the number, if it says so. `None`: the document was refused without a verdict.
    pub rejection: Option<Option<bool>>,
    /// The answer.
    pub answer: A,
}

/// A verdict to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalVerdict<A> {
    /// The state that it makes final.
    pub state: ReceiptState,
    /// Whether a rejection burned the number.
    pub secuencia_utilizada: Option<bool>,
    /// The authority's answer.
    pub answer: A,
    /// The track id of the copy that was judged, when the receipt has another or none.
    pub track_id: Option<String>,
}

/// Whose verdict a note awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// That of the invoice.
    Invoice,
    /// That of an earlier credit note.
    OpenCredit,
}

/// What follows the end of a receipt's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The webhook event is enqueued.
    Event,
    /// The delivery to the buyer is enqueued, if the outbox asks for it.
    Delivery,
    /// The notes that await the verdict are enqueued.
    Notes,
    /// The verdict is counted.
    Count,
    /// A number that the rejection left is freed, if the outbox asks for it.
    Number,
}

impl Effect {
    /// Those of a verdict.
    pub const OF_VERDICT: [Self; 5] = [Self::Event, Self::Delivery, Self::Notes, Self::Count, Self::Number];
    /// Those of a failure.
    pub const OF_FAILURE: [Self; 1] = [Self::Notes];
}
