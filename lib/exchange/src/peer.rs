//! The client of the services that the authority's standard requires of every electronic taxpayer.
//!
//! Their addresses come from the directory or from an API caller, so every call goes through the guarded client.
//!
//! A peer that answers 401 demands a token, which requires a signed seed. A signed seed can be exchanged for a token at
//! the service that issued the seed: a peer may hand out the tax authority's own seed and use our signature there. The
//! standard has no defence against that, so we limit the risk: seeds are signed only for addresses from the directory,
//! only after a 401, once per peer and hour, and every signature is logged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ecf::Environment;
use ecf::messages::Semilla;
use ecf_language::{Bilingual, Say, say};
use ecf_runtime::{Metric, Metrics};
use ecf_taxauth::read_grant;
use ecf_webhooks::{DeliveryError, GuardedClient, Reply};
use jiff::{SignedDuration, Timestamp};
use xmldsig::{Identity, Limits};

/// How long a token without an expiry is used; one hour is usual.
const TOKEN_KEPT: SignedDuration = SignedDuration::from_mins(50);
/// A token is not used in the last minute before its expiry.
const TOKEN_MARGIN: SignedDuration = SignedDuration::from_mins(1);
/// The time between two signed seeds for one peer: the usual lifetime of a token.
const SEED_INTERVAL: SignedDuration = TOKEN_KEPT;
/// Upper bound of the peers in the cache.
const MOST_PEERS: usize = 1_000;
/// Characters of an answer that are quoted.
const EXCERPT_CHARS: usize = 300;

/// A service that accepts documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerService {
    /// Receipts.
    Recepcion,
    /// A buyer's approval or rejection of a receipt.
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

/// The address of a peer.
#[derive(Debug, Clone)]
pub struct Addressee {
    pub environment: Environment,
    /// The prefix of the service.
    pub base: String,
    /// The prefix of its authentication where the directory names one, else it is below `base`.
    pub authentication: Option<String>,
    /// Whether the address comes from the tax authority's directory. Seeds are signed only for such addresses.
    pub is_listed: bool,
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub struct PeerDocument<'a> {
    /// The authority has a rule for it (technical description, table of names).
    pub file_name: &'a str,
    pub xml: &'a [u8],
}

/// Why a peer gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The call got no answer.
    #[error("{0}")]
    NoAnswer(#[from] DeliveryError),
    /// Its authentication service granted no token.
    #[error("its authentication failed: {}", .0.en)]
    Authentication(Bilingual),
    /// It demands a token, and no seed may be signed now.
    #[error("it demands a token, and {}", .0.en)]
    NoSeed(Bilingual),
    /// Our own signature could not be made.
    #[error("the seed could not be signed")]
    Signing(#[from] xmldsig::SignError),
}

impl Say for PeerError {
    fn say(&self) -> Bilingual {
        match self {
            Self::NoAnswer(error) => error.say(),
            Self::Authentication(why) => {
                say!(
                    [why],
                    "its authentication failed: {why}",
                    "su autenticación falló: {why}"
                )
            }
            Self::NoSeed(why) => say!([why], "it demands a token, and {why}", "exige un token, y {why}"),
            Self::Signing(_) => say!("the seed could not be signed", "no se pudo firmar la semilla"),
        }
    }
}

/// The clients of other issuers. Clones share connections and tokens.
#[derive(Debug, Clone)]
pub struct Peers {
    client: GuardedClient,
    metrics: Metrics,
    logins: Arc<Mutex<HashMap<PeerKey, Login>>>,
}

/// A peer's authentication address, and the fingerprint of our certificate.
type PeerKey = (String, [u8; 32]);

/// When a seed was signed for a peer, and the token that was granted.
#[derive(Clone)]
struct Login {
    seed_signed_at: Timestamp,
    token: Option<(String, Timestamp)>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("seed_signed_at", &self.seed_signed_at)
            .finish_non_exhaustive()
    }
}

impl Peers {
    /// Peers that are called through this client.
    #[must_use]
    pub fn new(client: GuardedClient, metrics: Metrics) -> Self {
        Self {
            client,
            metrics,
            logins: Arc::default(),
        }
    }

    /// The guard that checks addresses.
    #[must_use]
    pub fn guard(&self) -> &ecf_webhooks::Guard {
        self.client.guard()
    }

    /// Sends a document. When the peer demands a token or rejects the cached one, obtains a new token and retries once.
    ///
    /// # Errors
    /// Why the service gave no answer.
    pub async fn send(
        &self,
        service: PeerService,
        to: &Addressee,
        identity: &Identity,
        PeerDocument { file_name, xml }: PeerDocument<'_>,
        now: Timestamp,
    ) -> Result<Reply, PeerError> {
        let address = format!("{}{}", prefix(&to.base), service.path());
        let base = to.authentication.as_ref().unwrap_or(&to.base);
        let key = key(base, identity);
        let post = |token: Option<String>| {
            let (client, address) = (&self.client, &address);
            async move {
                client
                    .post_document(address, token.as_deref(), file_name, xml.to_vec())
                    .await
            }
        };
        let cached = self.cached_token(&key, now);
        let reply = post(cached).await?;
        if reply.status != 401 {
            return Ok(reply);
        }
        if !to.is_listed {
            return Err(PeerError::NoSeed(say!(
                "its address is not the directory's",
                "su dirección no es la del directorio"
            )));
        }
        if !self.may_sign_seed(&key, now) {
            return Err(PeerError::NoSeed(say!(
                "a seed was signed for it within the hour",
                "hace menos de una hora que se firmó una semilla para él"
            )));
        }
        let (token, until) = self.log_in(to.environment, base, identity, now).await?;
        if let Some(login) = self.lock().get_mut(&key) {
            login.token = Some((token.clone(), until));
        }
        Ok(post(Some(token)).await?)
    }

    fn cached_token(&self, key: &PeerKey, now: Timestamp) -> Option<String> {
        let logins = self.lock();
        let (token, until) = logins.get(key)?.token.as_ref()?;
        (now < *until).then(|| token.clone())
    }

    /// Whether a seed may be signed for this peer now. `true` counts as a signature.
    fn may_sign_seed(&self, key: &PeerKey, now: Timestamp) -> bool {
        let mut logins = self.lock();
        let is_early = |login: &Login| now.duration_since(login.seed_signed_at) < SEED_INTERVAL;
        if logins.get(key).is_some_and(is_early) {
            return false;
        }
        if logins.len() >= MOST_PEERS {
            logins.retain(|_, login| is_early(login));
        }
        let login = Login {
            seed_signed_at: now,
            token: None,
        };
        // The cache is full of peers from the last hour. A signature that cannot be counted is not made.
        let has_room = logins.len() < MOST_PEERS;
        if has_room {
            logins.insert(key.clone(), login);
        }
        has_room
    }

    /// Exchanges a signed seed for a token. Returns the token and the end of its use.
    async fn log_in(
        &self,
        environment: Environment,
        base: &str,
        identity: &Identity,
        now: Timestamp,
    ) -> Result<(String, Timestamp), PeerError> {
        let (seed, validation) = authentication(base);
        let reply = self.client.get(&seed).await?;
        let seed = reply.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&reply.bytes);
        // Our signature represents the taxpayer: only a seed is signed.
        if !reply.is_success() || Semilla::from_xml(seed).is_err() {
            return Err(PeerError::Authentication(say!(
                "status {} and no seed",
                "código HTTP {} y ninguna semilla",
                reply.status
            )));
        }
        let signed = xmldsig::sign_foreign(seed, identity, &Limits::default())?;
        tracing::info!(
            peer = base,
            certificate = identity.certificate().subject,
            "a peer's seed was signed"
        );
        self.metrics
            .emit(environment.as_str(), &[(Metric::SeedsSigned, 1)], now);
        let reply = self
            .client
            .post_document(&validation, None, "semilla.xml", signed.xml)
            .await?;
        let grant = reply.is_success().then(|| read_grant(&reply.bytes)).flatten();
        let Some((token, expira)) = grant else {
            return Err(PeerError::Authentication(say!(
                "status {} and no token",
                "código HTTP {} y ningún token",
                reply.status
            )));
        };
        Ok((token, token_end(expira.as_deref(), now)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PeerKey, Login>> {
        self.logins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a token's use. A peer may send any instant as expiry, so the arithmetic is checked.
fn token_end(expira: Option<&str>, now: Timestamp) -> Timestamp {
    let latest = now + TOKEN_KEPT;
    let expira = expira.and_then(|expira| expira.parse::<Timestamp>().ok());
    match expira {
        Some(expira) => expira.checked_sub(TOKEN_MARGIN).map_or(now, |end| end.min(latest)),
        None => latest,
    }
}

fn key(base: &str, identity: &Identity) -> PeerKey {
    (prefix(base).to_owned(), identity.certificate().sha256_fingerprint)
}

fn prefix(base: &str) -> &str {
    base.trim_end_matches('/')
}

/// Addresses of seed and validation. In pre-certification the directory names the authority's own authentication
/// service, whose paths differ.
fn authentication(base: &str) -> (String, String) {
    let base = prefix(base);
    if base.to_ascii_lowercase().ends_with("/autenticacion") {
        let service = format!("{base}/api/autenticacion");
        return (format!("{service}/semilla"), format!("{service}/validarsemilla"));
    }
    let service = format!("{base}/fe/autenticacion/api");
    (format!("{service}/semilla"), format!("{service}/validacioncertificado"))
}

/// The beginning of an answer as plain text.
#[must_use]
pub(crate) fn excerpt(reply: &Reply) -> Bilingual {
    let text = String::from_utf8_lossy(&reply.bytes);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .take(EXCERPT_CHARS)
        .collect();
    if text.is_empty() {
        say!("status {}", "código HTTP {}", reply.status)
    } else {
        say!("status {}: {text}", "código HTTP {}: {text}", reply.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_LIMIT: ecf_webhooks::TimeOuts = ecf_webhooks::TimeOuts {
        connect: std::time::Duration::from_secs(1),
        total: std::time::Duration::from_secs(1),
    };

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
    fn s9_a_peer_may_write_any_instant_as_the_end_of_its_token() {
        let now: Timestamp = "2026-11-27T16:00:00Z".parse().unwrap();
        let latest = now + TOKEN_KEPT;
        for (expira, end) in [
            (Some("-009999-01-02T01:59:59Z"), now),
            (Some("9999-12-30T22:00:00Z"), latest),
            (Some("2026-11-27T16:10:00Z"), now + SignedDuration::from_mins(9)),
            (Some("tomorrow"), latest),
            (None, latest),
        ] {
            assert_eq!(token_end(expira, now), end, "{expira:?}");
        }
    }

    #[test]
    fn s6_a_seed_is_signed_once_a_peer_and_hour() {
        let peers = Peers::new(
            GuardedClient::new(ecf_webhooks::Guard::new(ecf_webhooks::Reach::Public), TIME_LIMIT).unwrap(),
            Metrics::default(),
        );
        let key = |peer: &str| (peer.to_owned(), [1; 32]);
        let now: Timestamp = "2026-11-27T16:00:00Z".parse().unwrap();
        assert!(peers.may_sign_seed(&key("a"), now));
        assert!(peers.may_sign_seed(&key("b"), now));
        assert!(!peers.may_sign_seed(&key("a"), now + SignedDuration::from_mins(49)));
        assert!(peers.may_sign_seed(&key("a"), now + SEED_INTERVAL));
        let mut signed = 2;
        for peer in 0..MOST_PEERS {
            signed += usize::from(peers.may_sign_seed(&key(&peer.to_string()), now + SEED_INTERVAL));
        }
        assert!(signed <= MOST_PEERS + 1, "{signed}");
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        let reply = |text: &str| Reply {
            status: 400,
            bytes: text.as_bytes().to_vec(),
        };
        assert_eq!(excerpt(&reply("")).en, "status 400");
        assert_eq!(excerpt(&reply("no\r\n  va\u{7}")).en, "status 400: no va");
        assert_eq!(excerpt(&reply(&"x".repeat(1_000))).en.chars().count(), 312);
    }
}
