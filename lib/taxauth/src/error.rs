//! How a call can fail, sorted by the one question that matters for an upload: may the authority have taken it?

use std::time::Duration;

use ecf::Environment;
use ecf_language::{Bilingual, Say};
use ecf_store::breaker::Host;

use crate::answer::Answer;
use crate::endpoints::Service;
use crate::gates::Held;
use crate::tokens::TokenError;

/// Why the outcome of an upload is unknown.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// No answer came in time.
    #[error("no answer came in time")]
    TimedOut(#[source] reqwest::Error),
    /// The connection broke after sending began.
    #[error("the connection broke before the answer was whole")]
    Broken(#[source] reqwest::Error),
    /// A server error or a gateway's error. A gateway may have forwarded the document before it failed.
    #[error("answered with status {status}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The wait that the authority requests.
        retry_after: Option<Duration>,
        /// The answer's content.
        answer: Box<Answer>,
    },
    /// A success whose content says neither what became of the document nor why it was refused.
    #[error("answered with success and nothing that can be understood")]
    Odd(Box<Answer>),
    /// An answer about another receipt, taxpayer or submission.
    #[error("answered about another: {member} {given}")]
    Another {
        /// The member of the answer that names it.
        member: &'static str,
        /// The identifier in that member.
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
        /// The failure.
        #[source]
        source: reqwest::Error,
    },
    /// Sent, but the outcome is unknown: look the number up before any resend.
    #[error("the outcome of a call to {service} is unknown")]
    Unknown {
        /// The service called.
        service: Service,
        /// The cause.
        #[source]
        cause: Lost,
    },
    /// 401: the token is invalid or expired. Nothing was taken.
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
        /// The wait that the authority requests, if any.
        retry_after: Option<Duration>,
    },
    /// The service is not available: a query failed on the authority's side, or an upload reached no service. The
    /// answer does not refer to the document.
    #[error("{service} is not available, status {status}")]
    Unavailable {
        /// The service called.
        service: Service,
        /// The HTTP status.
        status: u16,
        /// The wait that the authority requests, if any.
        retry_after: Option<Duration>,
        /// The answer's content.
        answer: Box<Answer>,
    },
    /// The service refused the request (4xx), with a message.
    #[error("{service} refuses, status {status}")]
    Refused {
        /// The service called.
        service: Service,
        /// The HTTP status.
        status: u16,
        /// The answer's content.
        answer: Box<Answer>,
    },
    /// The authority does not offer the service in this environment.
    #[error("{service} is not offered in {environment}")]
    NotOffered {
        /// The service.
        service: Service,
        /// The environment.
        environment: Environment,
    },
    /// Too many calls with this certificate are in progress. Nothing was sent.
    #[error("other calls of the certificate took more than {waited:?}")]
    Crowded {
        /// How long the call waited.
        waited: Duration,
    },
    /// Calls to the host are held. Nothing was sent.
    #[error("the call is held")]
    Held(#[from] Held),
    /// No token could be obtained. Nothing was sent.
    #[error("no token for the call")]
    NoToken(#[from] TokenError),
}

impl Say for TaxAuthError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::NotReached { service, .. } => format!("no se puede conectar con {service}"),
            Self::Unknown { service, .. } => format!("se desconoce el resultado de una llamada a {service}"),
            Self::Unauthorized { service } => format!("{service} no acepta el token"),
            Self::Throttled { service, .. } => format!("{service} pide menos llamadas"),
            Self::Unavailable { service, status, .. } => format!("{service} no está disponible, código HTTP {status}"),
            Self::Refused { service, status, .. } => format!("{service} rechaza la llamada, código HTTP {status}"),
            Self::NotOffered { service, environment } => format!("{service} no se ofrece en {environment}"),
            Self::Crowded { waited } => format!("otras llamadas con el certificado tardaron más de {waited:?}"),
            Self::Held(_) => "la llamada está retenida".to_owned(),
            Self::NoToken(_) => "no hay token para la llamada".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

impl TaxAuthError {
    /// Whether the error proves that the authority did not take the upload, so that it may be sent again.
    ///
    /// A server error, a time-out and an unexpected success prove nothing: the document may have been taken before. A
    /// refusal that says "already used" (see [`Answer::says_already_used`]) refers to an earlier copy, not to this one.
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

    /// The host that the error shows to be down: no connection, no answer or a server error. Refusals never do.
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

    /// Whether the error is an answer of the host, which proves that the host is up.
    pub(crate) fn is_answer(&self) -> bool {
        match self {
            Self::Unauthorized { .. } | Self::Throttled { .. } | Self::Refused { .. } => true,
            Self::Unavailable { status, .. } => *status < 500,
            _ => false,
        }
    }

    /// The wait that the authority requests.
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

    /// The authority's answer, if there was one.
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
