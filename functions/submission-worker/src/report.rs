//! What a step reports: what happened, and what it learned for the steps that follow.

use ecf::sending::{self, Grounds, Judgement};
use ecf_store::{Receipt, ReceiptId, StoreError, receipts::ModifiedReceipt};
use ecf_taxauth::{Answer, Estado, Judged, Session};

/// An answer of the authority, as it came.
pub(crate) type Words = Box<Answer>;
pub(crate) type Happened = sending::Happened<Words>;
pub(crate) type FailCause = sending::FailCause<Words>;
/// What a step that learns no session gives.
pub(crate) type Reported = Result<Report<'static>, StoreError>;

#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) happened: Happened,
    pub(crate) learned: Option<Learned<'a>>,
}

#[derive(Debug)]
pub(crate) enum Learned<'a> {
    /// The receipt as it is now.
    Receipt(Box<Receipt>),
    /// The company's access to the authority.
    Session(Session<'a>),
    /// The receipt that a note modifies.
    Invoice(Box<ModifiedReceipt>),
    /// A credit note without verdict on the receipt that a note annuls.
    OpenCredit(ReceiptId),
}

impl From<Happened> for Report<'_> {
    fn from(happened: Happened) -> Self {
        Self {
            happened,
            learned: None,
        }
    }
}

impl<'a> Report<'a> {
    pub(crate) fn of(happened: Happened, learned: Learned<'a>) -> Self {
        Self {
            happened,
            learned: Some(learned),
        }
    }

    pub(crate) fn of_receipt(happened: Happened, receipt: Receipt) -> Self {
        Self::of(happened, Learned::Receipt(Box::new(receipt)))
    }
}

/// A judgement for the decision, and the answer that it was read from for the record.
pub(crate) fn judgement(judged: Judged) -> (Judgement, Words) {
    let Judged { verdict, answer } = judged;
    let judgement = match verdict {
        Estado::Accepted => Judgement::Accepted,
        Estado::ConditionallyAccepted => Judgement::ConditionallyAccepted,
        Estado::Rejected { secuencia_utilizada } => Judgement::Rejected {
            secuencia_utilizada,
            grounds: grounds(&answer),
        },
        Estado::InProcess => Judgement::InProcess,
        Estado::NotFound => Judgement::NotFound,
        Estado::Unclear => Judgement::Unclear,
    };
    (judgement, Box::new(answer))
}

fn grounds(answer: &Answer) -> Grounds {
    if answer.says_already_used() {
        Grounds::AlreadyUsed
    } else if answer.mensajes.is_empty() {
        Grounds::NotGiven
    } else {
        Grounds::Given
    }
}

/// The `error_code` of a failure: the authority's, where it gives one.
pub(crate) fn error_code(cause: &FailCause) -> &str {
    let given = cause.answer().and_then(|answer| answer.error_code());
    given.unwrap_or(cause.reason().as_str())
}
