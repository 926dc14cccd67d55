//! One POST to an address that somebody else chose.
//!
//! What the receiver gets: the body as it is and the headers of `docs/webhooks.md`. What we take back: the status, and a short, harmless
//! excerpt of the answer. No redirect is followed, no proxy used, no wait unbounded.

use std::error::Error as _;
use std::time::Duration;

use ecf_language::{Bilingual, Say};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::multipart::{Form, Part};
use reqwest::{RequestBuilder, Response, redirect};

use crate::event::EventName;
use crate::guard::{Guard, GuardedResolver, RefusedAddress, UrlError};
use crate::secret::WebhookSecret;
use crate::signature::sign;

/// Carries the signature.
const SIGNATURE: &str = "X-ECF-Signature";

/// As much of an answer as is read.
const MAX_EXCERPT_BYTES: usize = 1_024;

/// The longest answer that is read whole.
const MAX_REPLY_BYTES: usize = 1024 * 1024;

/// How long a receiver may take.
#[derive(Debug, Clone, Copy)]
pub struct TimeOuts {
    /// Until the connection stands, name resolution included.
    pub connect: Duration,
    /// In all.
    pub total: Duration,
}

impl Default for TimeOuts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            total: Duration::from_secs(10),
        }
    }
}

/// The client for addresses that callers give us. Clones share their connections.
#[derive(Debug, Clone)]
pub struct GuardedClient {
    guard: Guard,
    http: reqwest::Client,
    /// A shorter limit for an event than the client's own.
    limit: Option<Duration>,
}

impl GuardedClient {
    /// A client behind that guard.
    ///
    /// # Errors
    /// When the TLS back end cannot be set up.
    pub fn new(guard: Guard, time_outs: TimeOuts) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(time_outs.connect)
            .timeout(time_outs.total)
            .redirect(redirect::Policy::none())
            .https_only(!guard.allows_plain_http())
            // A proxy would resolve the name by itself, unguarded.
            .no_proxy()
            .retry(reqwest::retry::never())
            .dns_resolver(GuardedResolver(guard))
            .referer(false)
            .user_agent(concat!("open-ecf-webhooks/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self {
            guard,
            http,
            limit: None,
        })
    }

    /// The same client, whose events may take this long in all.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        Self {
            limit: Some(limit),
            ..self.clone()
        }
    }

    /// Posts JSON that is not an event, signed as events are if there is a secret; anything but a 2xx status is a failure.
    ///
    /// # Errors
    /// Why there was no answer, or which status there was.
    pub async fn post_json(
        &self,
        url: &str,
        secret: Option<&WebhookSecret>,
        body: Vec<u8>,
    ) -> Result<(), DeliveryError> {
        let url = self.guard.check_url(url)?;
        let json = HeaderValue::from_static("application/json");
        let mut request = self.http.post(url).header(CONTENT_TYPE, json);
        if let Some(secret) = secret {
            request = request.header(SIGNATURE, sign(secret, &body));
        }
        let response = request.body(body).send().await.map_err(unanswered)?;
        let status = response.status();
        if status.is_success() {
            Ok(())
        } else {
            Err(DeliveryError::Status(status.as_u16()))
        }
    }

    /// Gets a document; any answer is one, whatever its status.
    ///
    /// # Errors
    /// Why there was no answer.
    pub async fn get(&self, url: &str) -> Result<Reply, DeliveryError> {
        let url = self.guard.check_url(url)?;
        let request = self.http.get(url).header(ACCEPT, "application/xml, text/xml, */*");
        Reply::of(request).await
    }

    /// Posts a document as the file `xml` of a form of known length; any answer is one, whatever its status.
    ///
    /// # Errors
    /// Why there was no answer.
    pub async fn post_document(
        &self,
        url: &str,
        token: Option<&str>,
        file_name: &str,
        xml: Vec<u8>,
    ) -> Result<Reply, DeliveryError> {
        let url = self.guard.check_url(url)?;
        let part = Part::bytes(xml).file_name(file_name.to_owned());
        let part = part.mime_str("text/xml").expect("text/xml is a media type");
        let request = self
            .http
            .post(url)
            .header(ACCEPT, "application/xml, application/json;q=0.9, */*;q=0.8");
        let request = request.multipart(Form::new().part("xml", part));
        Reply::of(match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
        .await
    }

    /// The guard in front of it.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

/// What an address answered.
#[derive(Debug)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// What came with it, up to a megabyte.
    pub bytes: Vec<u8>,
}

impl Reply {
    async fn of(request: RequestBuilder) -> Result<Self, DeliveryError> {
        let mut response = request.send().await.map_err(unanswered)?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unanswered)? {
            if bytes.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(DeliveryError::TooLong);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Self { status, bytes })
    }

    /// Whether it is a success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// One attempt at a delivery.
#[derive(Debug)]
pub struct Attempt {
    /// The receiver's status, when it answered.
    pub status_code: Option<u16>,
    /// The beginning of what it answered, as plain text.
    pub excerpt: Option<String>,
    /// Whether it answered with a 2xx status: nothing else ends the retries.
    pub succeeded: bool,
    /// How long it asked to be left alone: `Retry-After` in seconds.
    pub retry_after: Option<Duration>,
    /// Why there was no answer.
    pub error: Option<DeliveryError>,
}

/// Why a receiver gave no answer. The words are for the owner of the address: they name no inner detail.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The address itself is not called.
    #[error("the address is not called")]
    Url(#[from] UrlError),
    /// The name leads to addresses that are not called.
    #[error("the name leads to an address that is not called")]
    Refused(#[source] RefusedAddress),
    /// It took too long.
    #[error("no answer in time")]
    TimedOut(#[source] reqwest::Error),
    /// No connection: name, port or certificate.
    #[error("no connection")]
    Connection(#[source] reqwest::Error),
    /// Answered, and not with 2xx.
    #[error("answered with status {0}")]
    Status(u16),
    /// It does not stop answering.
    #[error("the answer is longer than a megabyte")]
    TooLong,
    /// The connection broke.
    #[error("the connection broke before the answer")]
    Broken(#[source] reqwest::Error),
}

impl Say for DeliveryError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Url(_) => "no se llama a esta dirección".to_owned(),
            Self::Refused(_) => "el nombre lleva a una dirección a la que no se llama".to_owned(),
            Self::TimedOut(_) => "no respondió a tiempo".to_owned(),
            Self::Connection(_) => "no hubo conexión".to_owned(),
            Self::Status(status) => format!("respondió con el código HTTP {status}"),
            Self::TooLong => "la respuesta supera un megabyte".to_owned(),
            Self::Broken(_) => "la conexión se cortó antes de la respuesta".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

/// Delivers an event: signs the bytes, posts them, and returns the attempt. Never fails: a failure is an attempt.
pub async fn deliver(
    client: &GuardedClient,
    url: &str,
    secret: &WebhookSecret,
    event: EventName,
    body: Vec<u8>,
) -> Attempt {
    match post(client, url, secret, event, body).await {
        Ok(mut response) => {
            let status = response.status();
            let retry_after = retry_after(&response);
            let excerpt = excerpt(&mut response).await;
            Attempt {
                status_code: Some(status.as_u16()),
                excerpt,
                succeeded: status.is_success(),
                retry_after,
                error: None,
            }
        }
        Err(error) => Attempt {
            status_code: None,
            excerpt: None,
            succeeded: false,
            retry_after: None,
            error: Some(error),
        },
    }
}

async fn post(
    client: &GuardedClient,
    url: &str,
    secret: &WebhookSecret,
    event: EventName,
    body: Vec<u8>,
) -> Result<Response, DeliveryError> {
    let url = client.guard.check_url(url)?;
    let signature = sign(secret, &body);
    let request = client
        .http
        .post(url)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header("X-ECF-Event", event.as_str())
        .header(SIGNATURE, signature)
        .body(body);
    let request = match client.limit {
        Some(limit) => request.timeout(limit),
        None => request,
    };
    request.send().await.map_err(unanswered)
}

fn unanswered(error: reqwest::Error) -> DeliveryError {
    // Addresses may carry a receiver's own token in their query.
    let error = error.without_url();
    if let Some(refused) = refusal(&error) {
        DeliveryError::Refused(refused)
    } else if error.is_timeout() {
        DeliveryError::TimedOut(error)
    } else if error.is_connect() {
        DeliveryError::Connection(error)
    } else {
        DeliveryError::Broken(error)
    }
}

/// The resolver's refusal, somewhere down the chain of sources.
fn refusal(error: &reqwest::Error) -> Option<RefusedAddress> {
    std::iter::successors(error.source(), |cause| (*cause).source())
        .find_map(|cause| cause.downcast_ref::<RefusedAddress>())
        .copied()
}

/// The form in seconds; the form with a date would need both clocks to agree.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response
        .headers()
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}

/// The first bytes of the answer as text without control characters. A body that breaks or stalls is cut there: the
/// status is the outcome already.
async fn excerpt(response: &mut Response) -> Option<String> {
    let mut bytes = Vec::new();
    while bytes.len() < MAX_EXCERPT_BYTES {
        let Ok(Some(chunk)) = response.chunk().await else { break };
        let left = MAX_EXCERPT_BYTES - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(left)]);
    }
    plain(&bytes)
}

fn plain(bytes: &[u8]) -> Option<String> {
    let text: String = String::from_utf8_lossy(bytes)
        .chars()
        .map(|character| {
            if character.is_control() || is_invisible(character) {
                ' '
            } else {
                character
            }
        })
        .collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Characters that reorder or hide their neighbours.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Reach;

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused_when_the_connection_is_made() {
        let client = GuardedClient::new(Guard::new(Reach::Public), TimeOuts::default()).unwrap();
        // Past the check of the text, as a name would be that changed its address since.
        let error = client
            .http
            .post("https://localhost:1/?token=x")
            .send()
            .await
            .unwrap_err();
        let error = unanswered(error);
        assert!(
            matches!(&error, DeliveryError::Refused(refused) if refused.address.is_loopback()),
            "{error:?}"
        );
        assert_eq!(error.to_string(), "the name leads to an address that is not called");
    }

    #[test]
    fn an_excerpt_is_plain_text_on_one_line() {
        let cases: [(&[u8], Option<&str>); 5] = [
            (b"ok", Some("ok")),
            (b" a\r\n\tb\x1b[31m\0 ", Some("a b [31m")),
            ("x\u{202e}y\u{feff}".as_bytes(), Some("x y")),
            (b"a\xffb", Some("a\u{fffd}b")),
            (b" \r\n", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(plain(bytes).as_deref(), expected);
        }
    }
}
