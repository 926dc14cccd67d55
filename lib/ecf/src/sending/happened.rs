//! What happens to a receipt on its way to the tax authority.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::step::{Before, Claim, LookUp, Lost, Purpose, Then};
use crate::ReceiptState;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened<A> {
    /// The job came.
    Came,
    /// The receipt does not exist.
    Missing,
    /// The store failed.
    StoreFailed,
    /// The receipt's host may be called.
    GatesOpen(Before),
    /// It must not be called until then.
    GatesClosed(Timestamp),
    /// One of the calls was held back because its host is out of reach until then.
    Held(Call<A>, Timestamp),
    /// The receipt was read.
    Loaded(Purpose<A>),
    /// A new attempt of the certification has begun since the receipt was created.
    OfEarlierAttempt,
    /// It has not.
    OfCurrentAttempt,
    /// There is a token to send with.
    Authenticated,
    /// The company has no certificate.
    NoCertificate,
    /// It does not open, or its key does not fit; why.
    UnusableCertificate(String),
    /// The authority refuses the certificate: for its kind, which no retry changes, or for another reason.
    CertificateRefused {
        /// Whether it is of the wrong kind.
        is_wrong_kind: bool,
        /// What the authority said.
        answer: A,
    },
    /// There is no token; when the authority wants the next attempt.
    NoToken(Option<Duration>),
    /// This worker holds the receipt.
    Claimed(Claim),
    /// Another worker holds it.
    Leased,
    /// The claim was not granted.
    NotClaimed(Claim, NotClaimed),
    /// A held note modifies no receipt that was issued here.
    NoInvoiceNamed,
    /// No receipt has the number that a held note modifies.
    InvoiceMissing,
    /// The receipt that a held note modifies.
    InvoiceRead(Invoice),
    /// An earlier credit note on it has no verdict.
    OpenCredit,
    /// All earlier credit notes on it have their verdicts.
    NoOpenCredit,
    /// The note may be sent.
    NoteCleared,
    /// The invoice changed after it was read.
    InvoiceChanged,
    /// The signed document is not in the bucket.
    NoDocument,
    /// The bucket failed.
    DocumentUnreadable,
    /// The authority took the document, under this track id.
    Taken(String),
    /// The authority judged the summary that was sent.
    SummaryJudged(Judgement, A),
    /// The authority did not take the document.
    Refused {
        /// Whether it says that the number was used before.
        is_already_used: bool,
        /// What it said.
        answer: A,
    },
    /// The document certainly did not arrive; when the authority wants the next attempt.
    NothingTaken(Option<Duration>),
    /// The document may have arrived.
    OutcomeUnknown(Option<Duration>),
    /// The track id is recorded.
    TrackRecorded,
    /// The claim was given back.
    Released(Then),
    /// The claim was ended; the next step is a look-up.
    AnswerLost(Then),
    /// A look-up by number ended.
    Found(LookUp<A>, Finding<A>),
    /// A look-up that found nothing is recorded. [`Standing::negatives`] counts it, unless it came too soon after the last.
    NegativeRecorded(Lost),
    /// It is not recorded: the receipt went on.
    NegativeNotRecorded(Lost),
    /// The authority answered the question for the verdict.
    Polled(Judgement, A),
    /// It did not; when it wants the next one.
    PollFailed(Option<Duration>),
    /// Earlier look-ups that found nothing are forgotten.
    NegativesForgotten,
    /// The track id by which the authority has the document is recorded.
    TrackReplaced,
    /// The receipt is `signed` again, as after a send whose answer was lost.
    ReturnedToSend,
    /// Another worker changed the submitted receipt in between.
    Overtaken,
    /// The verdict is recorded by this job.
    VerdictRecorded,
    /// The failure is recorded by this job.
    FailureRecorded,
    /// What blocks the look-up is logged.
    Logged,
    /// The last step left nothing to do.
    Finished,
}

/// A call to the authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call<A> {
    /// For a token.
    Token,
    /// With the document.
    Send,
    /// With the number.
    LookUp(LookUp<A>),
}

/// Why a claim was not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotClaimed {
    /// An earlier send may have arrived.
    LeaseExpired,
    /// It is a note that is held back.
    NoteAwaitsInvoice,
    /// Its state or its history does not allow it.
    NotSendable,
    /// The receipt does not exist.
    Missing,
}

/// What a look-up by number found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding<A> {
    /// Our document, by this track id.
    Track(String),
    /// Our document and its verdict; with its track id, where that was asked for.
    Judged(Judgement, A, Option<String>),
    /// No document that may be ours.
    Nothing,
    /// Other bytes have the number: ours was not the first to arrive.
    OtherBytes,
    /// Neither yet.
    Unclear,
    /// No answer; when the authority wants the next call.
    Failed(Option<Duration>),
}

/// What the authority makes of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It is fiscally valid.
    Accepted,
    /// It is valid, with observations.
    ConditionallyAccepted,
    /// It is void.
    Rejected {
        /// `secuenciaUtilizada`: whether the number is burned, if the answer says so.
        secuencia_utilizada: Option<bool>,
        /// Why.
        grounds: Grounds,
    },
    /// It is not judged yet.
    InProcess,
    /// The authority does not find it.
    NotFound,
    /// The answer says none of these.
    Unclear,
}

/// Why a document was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounds {
    /// The number was used before (1209).
    AlreadyUsed,
    /// The answer gives another reason.
    Given,
    /// The answer gives no reason.
    NotGiven,
}

/// The receipt that a held note modifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invoice {
    /// Its state.
    pub state: ReceiptState,
    /// Whether its rejection burned its number.
    pub secuencia_utilizada: Option<bool>,
    /// Since when the note awaits a successor: its creation, or the invoice's last change if that came later.
    pub awaited_since: Timestamp,
    /// How long the company's notes await a successor. `None`: the company holds no notes.
    pub await_limit: Option<SignedDuration>,
    /// Whether what is left to credit covers the note.
    pub covers_note: bool,
    /// Whether the note annuls it.
    pub is_annulled: bool,
}
