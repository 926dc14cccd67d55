//! The HTTP layer: one request, one reply, and what a failure proves.

use std::time::Duration;

use ecf::Environment;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, DATE, RETRY_AFTER};
use reqwest::multipart::{Form, Part};
use reqwest::{RequestBuilder, Response, StatusCode, redirect, tls};

use crate::answer::{Answer, Shape};
use crate::body::Body;
use crate::endpoints::{Endpoints, Service};
use crate::error::{Lost, TaxAuthError};
use crate::token::Token;
use crate::upload::Upload;

/// Upper bound of the bytes that are read of an answer.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Upper bound of the wait that a `Retry-After` may request.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// Time-outs of a call.
#[derive(Debug, Clone, Copy)]
pub struct TimeOuts {
    /// Until the connection is established.
    pub connect: Duration,
    /// Until the answer is complete.
    pub total: Duration,
}

impl TimeOuts {
    /// For the status service: a check must not delay other work.
    #[must_use]
    pub fn of_status() -> Self {
        Self {
            connect: Duration::from_secs(3),
            total: Duration::from_secs(8),
        }
    }

    /// For a look-up whose caller waits. With seed and token before it, it must end before the gateway's time-out.
    #[must_use]
    pub fn of_look_up() -> Self {
        Self {
            connect: Duration::from_secs(3),
            total: Duration::from_secs(6),
        }
    }
}

impl Default for TimeOuts {
    /// For uploads and background work: the reception took 13 to 14 seconds in August 2026.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            total: Duration::from_secs(30),
        }
    }
}

/// The HTTP client of the authority's services. Clones share their connections.
#[derive(Debug, Clone)]
pub struct TaxAuth {
    endpoints: Endpoints,
    http: reqwest::Client,
}

/// What a call may change on the authority's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Submits a document: without a definite answer, the document may have been taken.
    Submits,
    /// Nothing: the call is safe to retry.
    None,
}

/// A reply with a success status.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn body(&self) -> Body {
        Body::read(&self.bytes)
    }

    pub(crate) fn answer(&self) -> Answer {
        Answer::read(&self.bytes)
    }

    /// Sends a request. The inner error is the status, when it is not a success.
    pub(crate) async fn of(request: RequestBuilder) -> Result<Result<Self, u16>, reqwest::Error> {
        let mut response = request.send().await?;
        let status = response.status();
        let (bytes, read) = read_bounded(&mut response).await;
        if !status.is_success() {
            return Ok(Err(status.as_u16()));
        }
        read.map(|()| Ok(Self { bytes }))
    }
}

impl TaxAuth {
    /// A client for these endpoints.
    ///
    /// # Errors
    /// When the TLS backend cannot be set up.
    pub fn new(endpoints: Endpoints, time_outs: TimeOuts) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(time_outs.connect)
            .timeout(time_outs.total)
            .redirect(redirect::Policy::none())
            .tls_version_min(tls::Version::TLS_1_2)
            // The destination of requests is configuration of ours, not of the process's environment.
            .no_proxy()
            // The HTTP client must never resend a document on its own.
            .retry(reqwest::retry::never())
            .user_agent(concat!("open-ecf/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { endpoints, http })
    }

    /// The endpoints in use.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Uploads a document as the single part `xml` of a multipart form with known length.
    pub(crate) async fn upload(
        &self,
        service: Service,
        environment: Environment,
        token: Option<&Token>,
        upload: &Upload,
        effect: Effect,
    ) -> Result<Reply, TaxAuthError> {
        let address = self.address(service, environment)?;
        // A chunked upload without length is refused ("Multipart cannot be empty"), so the part is complete in memory.
        let part = Part::bytes(upload.xml.clone())
            .file_name(upload.file_name.clone())
            .mime_str("text/xml")
            .expect("text/xml is a media type");
        let request = self.http.post(address).multipart(Form::new().part("xml", part));
        self.call(service, request, token, effect).await
    }

    /// Sends a query. Every value is percent-encoded except ASCII letters and digits, because security codes contain
    /// `+`, `/` and `=`.
    pub(crate) async fn ask(
        &self,
        service: Service,
        environment: Environment,
        token: Option<&Token>,
        query: &[(&str, &str)],
    ) -> Result<Reply, TaxAuthError> {
        let mut address = self.address(service, environment)?;
        if !query.is_empty() {
            let pairs: Vec<_> = query
                .iter()
                .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
                .collect();
            address.set_query(Some(&pairs.join("&")));
        }
        self.call(service, self.http.get(address), token, Effect::None).await
    }

    fn address(&self, service: Service, environment: Environment) -> Result<url::Url, TaxAuthError> {
        if !service.is_offered_in(environment) {
            return Err(TaxAuthError::NotOffered { service, environment });
        }
        Ok(self.endpoints.address(service, environment))
    }

    async fn call(
        &self,
        service: Service,
        request: RequestBuilder,
        token: Option<&Token>,
        effect: Effect,
    ) -> Result<Reply, TaxAuthError> {
        let accept = if service == Service::Semilla {
            "application/xml, text/xml"
        } else {
            "application/json"
        };
        let mut request = request.header(ACCEPT, accept);
        if let Some(token) = token {
            request = request.bearer_auth(token.expose());
        }
        let mut response = request.send().await.map_err(|error| sending_failed(service, error))?;
        let status = response.status();
        let retry_after = retry_after(&response);
        let (bytes, read) = read_bounded(&mut response).await;
        if status.is_success() {
            read.map_err(|error| TaxAuthError::Unknown {
                service,
                cause: broken(error),
            })?;
            return Ok(Reply { bytes });
        }
        // The status of a failure counts even if its body is incomplete.
        Err(failure(service, status, retry_after, Answer::read(&bytes), effect))
    }
}

/// What a status other than success proves.
fn failure(
    service: Service,
    status: StatusCode,
    retry_after: Option<Duration>,
    answer: Answer,
    effect: Effect,
) -> TaxAuthError {
    let answer = Box::new(answer);
    match status.as_u16() {
        401 => TaxAuthError::Unauthorized { service },
        429 => TaxAuthError::Throttled { service, retry_after },
        // 400 is how the service refuses, even when a gateway replaced the message by an empty page: that was the
        // symptom of an invalid signature. The other three statuses can only refer to this document.
        status @ (400 | 413 | 415 | 422) => TaxAuthError::Refused {
            service,
            status,
            answer,
        },
        // No service runs at that address: the document reached none, and the message does not refer to it.
        status @ (404 | 405 | 407 | 410 | 421) if effect == Effect::Submits => TaxAuthError::Unavailable {
            service,
            status,
            retry_after,
            answer,
        },
        // 408 means that the request arrived in part. Other 4xx statuses may come from a gateway.
        status @ (402..=407 | 409..=499) if answer.is_by_the_service() => TaxAuthError::Refused {
            service,
            status,
            answer,
        },
        status @ (402..=407 | 409..=499) => TaxAuthError::Unavailable {
            service,
            status,
            retry_after,
            answer,
        },
        status if effect == Effect::Submits => TaxAuthError::Unknown {
            service,
            cause: Lost::Status {
                status,
                retry_after,
                answer,
            },
        },
        status => TaxAuthError::Unavailable {
            service,
            status,
            retry_after,
            answer,
        },
    }
}

fn sending_failed(service: Service, error: reqwest::Error) -> TaxAuthError {
    // A request that could not be built, or whose connection (DNS, TCP, TLS) failed, was never sent.
    if error.is_connect() || error.is_builder() {
        TaxAuthError::NotReached {
            service,
            source: error.without_url(),
        }
    } else {
        TaxAuthError::Unknown {
            service,
            cause: broken(error),
        }
    }
}

/// URLs of queries contain security codes, so they are removed from errors.
fn broken(error: reqwest::Error) -> Lost {
    let error = error.without_url();
    if error.is_timeout() {
        Lost::TimedOut(error)
    } else {
        Lost::Broken(error)
    }
}

async fn read_bounded(response: &mut Response) -> (Vec<u8>, Result<(), reqwest::Error>) {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let left = MAX_ANSWER_BYTES - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(left)]);
                if bytes.len() == MAX_ANSWER_BYTES {
                    return (bytes, Ok(()));
                }
            }
            Ok(None) => return (bytes, Ok(())),
            Err(error) => return (bytes, Err(error)),
        }
    }
}

/// `Retry-After` in seconds, or as a date. A date is relative to the reply's own `Date`, because the clocks may differ.
fn retry_after(response: &Response) -> Option<Duration> {
    let header = |name| response.headers().get(name)?.to_str().ok().map(str::trim);
    let after = header(RETRY_AFTER)?;
    let wait = match after.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let [until, from] = [after, header(DATE)?].map(jiff::fmt::rfc2822::parse);
            let wait = until.ok()?.timestamp().duration_since(from.ok()?.timestamp());
            Duration::try_from(wait).ok()?
        }
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// Whether a refused query means "not found": the services sometimes say "no encontrado" with a 4xx status.
pub(crate) fn says_not_found(answer: &Answer) -> bool {
    const WORDS: [&str; 2] = ["noencontrado", "noencontrada"];
    matches!(answer.shape, Shape::Record | Shape::Text)
        && answer.mensajes.iter().any(|mensaje| {
            let words = crate::body::plain(&mensaje.valor);
            WORDS.iter().any(|not_found| words.contains(not_found))
        })
}
