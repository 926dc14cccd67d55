//! How a call can fail, sorted by the one question that matters for an upload: may the authority have taken it?

use std::time::Duration;

use ecf::Environment;
use ecf_store::Host;

use crate::answer::Answer;
use crate::endpoints::Service;
use crate::gates::Held;
use crate::tokens::TokenError;

/// Why nothing is known of an upload that may have arrived.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// No answer came in time.
    #[error("no answer came in time")]
    TimedOut(#[source] reqwest::Error),
    /// The connection broke after sending began.
    #[error("the connection broke before the answer was whole")]
    Broken(#[source] reqwest::Error),
    /// A failure or a hop between us and the service; a gateway may have passed the document on before it failed.
    #[error("answered with status {status}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// When the authority asks to come back.
        retry_after: Option<Duration>,
        /// What came with it.
        answer: Box<Answer>,
    },
    /// A success that says neither what became of the document nor why not.
    #[error("answered with success and nothing that can be understood")]
    Odd(Box<Answer>),
    /// An answer about another receipt, taxpayer or submission.
    #[error("answered about another: {member} {given}")]
    Another {
        /// The member of the answer that names it.
        member: &'static str,
        /// What it names.
        given: String,
        /// The whole answer.
        answer: Box<Answer>,
    },
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum TaxAuthError {
    /// No connection was made: nothing was sent.
    #[error("{service} cannot be reached")]
    NotReached {
        /// The service called.
        service: Service,
        /// What failed.
        #[source]
        source: reqwest::Error,
    },
    /// Sent, and the outcome is unknown: look the number up before any resend.
    #[error("the outcome of a call to {service} is unknown")]
    Unknown {
        /// The service called.
        service: Service,
        /// Why.
        #[source]
        cause: Lost,
    },
    /// 401: the token is not (or no longer) good. Nothing was taken.
    #[error("{service} does not accept the token")]
    Unauthorized {
        /// The service called.
        service: Service,
    },
    /// 429: too many calls. Nothing was taken.
    #[error("{service} asks to slow down")]
    Throttled {
        /// The service called.
        service: Service,
        /// When to come back, if it says so.
        retry_after: Option<Duration>,
    },
    /// The service is not there: a query that failed on their side, or an upload that no service saw. The answer says
    /// nothing about the document.
    #[error("{service} is not available, status {status}")]
    Unavailable {
        /// The service called.
        service: Service,
        /// The HTTP status.
        status: u16,
        /// When to come back, if it says so.
        retry_after: Option<Duration>,
        /// What came with it.
        answer: Box<Answer>,
    },
    /// The service refused the request (4xx), with its words.
    #[error("{service} refuses, status {status}")]
    Refused {
        /// The service called.
        service: Service,
        /// The HTTP status.
        status: u16,
        /// What it says.
        answer: Box<Answer>,
    },
    /// The authority does not run that service in that environment.
    #[error("{service} is not offered in {environment}")]
    NotOffered {
        /// The service.
        service: Service,
        /// The environment.
        environment: Environment,
    },
    /// Too many calls of this certificate are under way. Nothing was sent.
    #[error("other calls of the certificate took more than {waited:?}")]
    Crowded {
        /// How long this one waited.
        waited: Duration,
    },
    /// Calls to the host are held for a while. Nothing was sent.
    #[error("the call is held")]
    Held(#[from] Held),
    /// There is no token to call with. Nothing was sent.
    #[error("no token for the call")]
    NoToken(#[from] TokenError),
}

impl TaxAuthError {
    /// Whether the error proves that the authority did not take the upload, so that it may be sent again.
    ///
    /// A server error, a time-out and an odd success prove nothing: the document may have been taken before.
    /// A refusal that says "already used" (see [`Answer::says_already_used`]) speaks of an earlier copy, not of
    /// this one.
    #[must_use]
    pub fn nothing_was_taken(&self) -> bool {
        match self {
            Self::Unknown { .. } => false,
            Self::NotReached { .. }
            | Self::Unauthorized { .. }
            | Self::Throttled { .. }
            | Self::Unavailable { .. }
            | Self::Refused { .. }
            | Self::NotOffered { .. }
            | Self::Crowded { .. }
            | Self::Held(_)
            | Self::NoToken(_) => true,
        }
    }

    /// The host that the error shows to be away: no connection, no answer or a server error. Refusals of any kind do not.
    #[must_use]
    pub fn outage(&self) -> Option<Host> {
        let (service, is_outage) = match self {
            Self::NotReached { service, .. } => (service, true),
            Self::Unknown { service, cause } => match cause {
                Lost::TimedOut(_) | Lost::Broken(_) => (service, true),
                Lost::Status { status, .. } => (service, *status >= 500),
                Lost::Odd(_) | Lost::Another { .. } => (service, false),
            },
            Self::Unavailable { service, status, .. } => (service, *status >= 500),
            Self::NoToken(TokenError::Authority(error)) => return error.outage(),
            _ => return None,
        };
        is_outage.then(|| service.host())
    }

    /// Whether the error is an answer of the host: it is there, whatever it says.
    pub(crate) fn is_answer(&self) -> bool {
        match self {
            Self::Unauthorized { .. } | Self::Throttled { .. } | Self::Refused { .. } => true,
            Self::Unavailable { status, .. } => *status < 500,
            _ => false,
        }
    }

    /// When the authority asks to come back.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after, .. }
            | Self::Unavailable { retry_after, .. }
            | Self::Unknown {
                cause: Lost::Status { retry_after, .. },
                ..
            } => *retry_after,
            Self::NoToken(TokenError::Authority(error)) => error.retry_after(),
            _ => None,
        }
    }

    /// What the authority said, when it said something.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Unknown {
                cause: Lost::Status { answer, .. } | Lost::Odd(answer) | Lost::Another { answer, .. },
                ..
            }
            | Self::Unavailable { answer, .. }
            | Self::Refused { answer, .. } => Some(answer),
            Self::NoToken(TokenError::Refused(answer) | TokenError::Odd(answer)) => Some(answer),
            Self::NoToken(TokenError::Authority(error)) => error.answer(),
            _ => None,
        }
    }
}
