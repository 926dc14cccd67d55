//! The services of the authority's standard that every electronic taxpayer has, from the caller's side.
//!
//! Their addresses come from the directory or from a caller of ours, so every call goes through the guarded client. Who has an
//! authentication service gets a signed seed first; tokens are remembered until shortly before they end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ecf::messages::Semilla;
use ecf_taxauth::read_grant;
use ecf_webhooks::{DeliveryError, GuardedClient, Reply};
use jiff::{SignedDuration, Timestamp};
use xmldsig::{Identity, Limits};

/// How long a token is believed whose end is not told; an hour is usual.
const TOKEN_KEPT: SignedDuration = SignedDuration::from_mins(50);
/// A token is not used in its last moments.
const TOKEN_MARGIN: SignedDuration = SignedDuration::from_mins(1);
/// As many tokens as are remembered.
const MOST_TOKENS: usize = 1_000;
/// As much of an answer as is told.
const EXCERPT_CHARS: usize = 300;

/// A service that takes documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerService {
    /// Receipts.
    Recepcion,
    /// What a buyer says of a receipt.
    AprobacionComercial,
}

impl PeerService {
    fn path(self) -> &'static str {
        match self {
            Self::Recepcion => "/fe/recepcion/api/ecf",
            Self::AprobacionComercial => "/fe/aprobacioncomercial/api/ecf",
        }
    }
}

/// Where somebody receives.
#[derive(Debug, Clone)]
pub struct Addressee {
    /// The prefix of the service.
    pub base: String,
    /// The prefix of its authentication; `None`: it is asked for a token only when it demands one.
    pub authentication: Option<String>,
}

/// Why an issuer gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// There was no answer.
    #[error("{0}")]
    NoAnswer(#[from] DeliveryError),
    /// It gave no token.
    #[error("its authentication failed: {0}")]
    Authentication(String),
    /// Our own signature could not be made.
    #[error("the seed could not be signed")]
    Signing(#[from] xmldsig::SignError),
}

/// The clients of other issuers. Clones share connections and tokens.
#[derive(Debug, Clone)]
pub struct Peers {
    client: GuardedClient,
    tokens: Arc<Mutex<HashMap<TokenKey, KeptToken>>>,
}

/// Who is asked, and by which certificate.
type TokenKey = (String, [u8; 32]);

#[derive(Clone)]
struct KeptToken {
    token: String,
    until: Timestamp,
}

impl std::fmt::Debug for KeptToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptToken")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

impl Peers {
    /// Calls through this client.
    #[must_use]
    pub fn new(client: GuardedClient) -> Self {
        Self {
            client,
            tokens: Arc::default(),
        }
    }

    /// The guard in front of it.
    #[must_use]
    pub fn guard(&self) -> &ecf_webhooks::Guard {
        self.client.guard()
    }

    /// Hands a document over. A token that is not accepted is taken anew, once.
    ///
    /// # Errors
    /// Why there is no answer of the service.
    pub async fn send(
        &self,
        service: PeerService,
        to: &Addressee,
        identity: &Identity,
        (file_name, xml): (&str, &[u8]),
        now: Timestamp,
    ) -> Result<Reply, PeerError> {
        let address = format!("{}{}", prefix(&to.base), service.path());
        let token = match &to.authentication {
            Some(base) => Some(self.token(base, identity, now).await?),
            None => None,
        };
        let post = |token: Option<String>| {
            let (client, address) = (&self.client, &address);
            async move {
                client
                    .post_document(address, token.as_deref(), file_name, xml.to_vec())
                    .await
            }
        };
        let reply = post(token.clone()).await?;
        if reply.status != 401 {
            return Ok(reply);
        }
        // The token ended early, or the directory does not say that one is wanted.
        let base = to.authentication.as_ref().unwrap_or(&to.base);
        self.forget(base, identity, token.as_deref());
        let token = self.token(base, identity, now).await?;
        Ok(post(Some(token)).await?)
    }

    async fn token(&self, base: &str, identity: &Identity, now: Timestamp) -> Result<String, PeerError> {
        let key = key(base, identity);
        if let Some(kept) = self.lock().get(&key).filter(|kept| now < kept.until) {
            return Ok(kept.token.clone());
        }
        let (seed, validation) = authentication(base);
        let reply = self.client.get(&seed).await?;
        let seed = reply.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&reply.bytes);
        // Our signature stands for the taxpayer: nothing but a seed gets one.
        if !reply.is_success() || Semilla::from_xml(seed).is_err() {
            return Err(PeerError::Authentication(format!(
                "status {} and no seed",
                reply.status
            )));
        }
        let signed = xmldsig::sign_foreign(seed, identity, &Limits::default())?;
        let reply = self
            .client
            .post_document(&validation, None, "semilla.xml", signed.xml)
            .await?;
        let grant = reply.is_success().then(|| read_grant(&reply.bytes)).flatten();
        let Some((token, expira)) = grant else {
            return Err(PeerError::Authentication(format!(
                "status {} and no token",
                reply.status
            )));
        };
        let until = expira
            .and_then(|expira| expira.parse::<Timestamp>().ok())
            .map_or(now + TOKEN_KEPT, |expira| expira - TOKEN_MARGIN)
            .min(now + TOKEN_KEPT);
        let mut tokens = self.lock();
        if tokens.len() >= MOST_TOKENS {
            tokens.clear();
        }
        tokens.insert(
            key,
            KeptToken {
                token: token.clone(),
                until,
            },
        );
        Ok(token)
    }

    fn forget(&self, base: &str, identity: &Identity, used: Option<&str>) {
        let mut tokens = self.lock();
        let key = key(base, identity);
        // Another call may have another by now.
        if tokens.get(&key).is_some_and(|kept| Some(kept.token.as_str()) == used) {
            tokens.remove(&key);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TokenKey, KeptToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(base: &str, identity: &Identity) -> TokenKey {
    (prefix(base).to_owned(), identity.certificate().sha256_fingerprint)
}

fn prefix(base: &str) -> &str {
    base.trim_end_matches('/')
}

/// Seed and validation. In pre-certification the directory was seen to name the authority's own authentication service, whose
/// paths are other ones.
fn authentication(base: &str) -> (String, String) {
    let base = prefix(base);
    if base.to_ascii_lowercase().ends_with("/autenticacion") {
        let service = format!("{base}/api/autenticacion");
        return (format!("{service}/semilla"), format!("{service}/validarsemilla"));
    }
    let service = format!("{base}/fe/autenticacion/api");
    (format!("{service}/semilla"), format!("{service}/validacioncertificado"))
}

/// The beginning of an answer, as harmless text.
#[must_use]
pub(crate) fn excerpt(reply: &Reply) -> String {
    let text = String::from_utf8_lossy(&reply.bytes);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .take(EXCERPT_CHARS)
        .collect();
    match text.is_empty() {
        true => format!("status {}", reply.status),
        false => format!("status {}: {text}", reply.status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authoritys_own_authentication_has_its_own_paths() {
        let (seed, validation) = authentication("https://ecf.example/130000001/testecf/");
        assert_eq!(
            seed,
            "https://ecf.example/130000001/testecf/fe/autenticacion/api/semilla"
        );
        assert_eq!(
            validation,
            "https://ecf.example/130000001/testecf/fe/autenticacion/api/validacioncertificado"
        );
        let (seed, validation) = authentication("https://ecf.dgii.gov.do/testecf/Autenticacion");
        assert_eq!(
            seed,
            "https://ecf.dgii.gov.do/testecf/Autenticacion/api/autenticacion/semilla"
        );
        assert!(validation.ends_with("/api/autenticacion/validarsemilla"));
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        let reply = |text: &str| Reply {
            status: 400,
            bytes: text.as_bytes().to_vec(),
        };
        assert_eq!(excerpt(&reply("")), "status 400");
        assert_eq!(excerpt(&reply("no\r\n  va\u{7}")), "status 400: no va");
        assert_eq!(excerpt(&reply(&"x".repeat(1_000))).chars().count(), 312);
    }
}
