//! Tokens: one per certificate and environment, shared by all processes that send.
//!
//! A token is looked up in this process, then in the shared table, where it is stored encrypted. Only then is a seed
//! signed. The holder of a lease does that and the others wait for its result, so fifty senders that find an expired
//! token request one new token. A token belongs to a certificate (the SHA-256 of its DER bytes) and is returned only to
//! callers that hold the private key: [`Identity`] is that proof.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ecf::Environment;
use ecf_runtime::Clock;
use ecf_store::{StoreError, Table, Vault, tokens::StoredToken};
use jiff::SignedDuration;
use lru::LruCache;
use tokio::sync::Semaphore;
use xmldsig::{Identity, Limits, ProofError, SignError};

use crate::answer::Answer;
use crate::client::TaxAuth;
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::gates::{CallingParty, Gates, Held};
use crate::services::autenticacion::Odd;
use crate::session::{MAX_CALLS, Session};
use crate::token::Token;

/// Upper bound of the certificates whose tokens a process caches; the least recently used is evicted. The shared table
/// holds all tokens, and an evicted lane stays alive while calls use it.
const MAX_LANES: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// Why no token was obtained. In no case was a document sent.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The authority refuses the certificate, with a message ("… no está delegado …").
    #[error("the authority refuses the certificate")]
    Refused(Box<Answer>),
    /// The authority answered with something that is neither a seed nor a token.
    #[error("the authority answered with neither a seed nor a token")]
    Odd(Box<Answer>),
    /// The authority could not be called.
    #[error("the authority could not be asked for a token")]
    Authority(#[source] Box<TaxAuthError>),
    /// The private key does not match the certificate.
    #[error("the identity does not prove itself")]
    Identity(#[from] ProofError),
    /// The seed could not be signed.
    #[error("the seed could not be signed")]
    Seed(#[from] SignError),
    /// The shared table failed, or the token could not be encrypted or decrypted.
    #[error("the shared token could not be read or kept")]
    Store(#[from] StoreError),
    /// No token is requested because the host is held.
    #[error("no token is asked for")]
    Held(#[from] Held),
    /// The fetch that this caller waited for failed. The caller does not retry at once: when the authority does not
    /// answer, a queue of senders would time out one after the other.
    #[error("another sender of this process has just failed to fetch the token")]
    JustFailed,
    /// Another sender holds the lease for too long.
    #[error("another sender has been fetching the token for more than {waited:?}")]
    Busy {
        /// How long this caller waited.
        waited: Duration,
    },
}

/// How long to wait for a token that another sender fetches, and how long that may take.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// The time between two look-ups.
    pub pause: Duration,
    /// The number of look-ups.
    pub looks: u32,
    /// After this time another sender may claim the lease. Longer than two calls of the authority.
    pub lease: SignedDuration,
}

impl Waiting {
    /// For a call whose caller waits.
    #[must_use]
    pub fn of_look_up() -> Self {
        Self {
            looks: 10,
            ..Self::default()
        }
    }
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            pause: Duration::from_millis(300),
            looks: 50,
            lease: SignedDuration::from_secs(65),
        }
    }
}

/// The tokens of all certificates. Clones are cheap.
#[derive(Clone)]
pub struct Tokens {
    taxauth: TaxAuth,
    table: Table,
    vault: Vault,
    clock: Clock,
    waiting: Waiting,
    gates: Arc<Gates>,
    lanes: Arc<Mutex<LruCache<LaneKey, Arc<Lane>>>>,
}

/// A certificate, by its SHA-256, and an environment.
type LaneKey = ([u8; 32], Environment);

/// What the sessions of one certificate share in this process and environment.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Locked while a token is fetched, because all callers need the same one.
    held: tokio::sync::Mutex<Option<Granted>>,
    /// The number of failed fetches.
    failures: AtomicU64,
    pub(crate) calls: Semaphore,
}

/// A token and its encrypted form, by which the shared table identifies it.
#[derive(Debug, Clone)]
struct Granted {
    token: Token,
    sealed: Vec<u8>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("taxauth", &self.taxauth)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    /// Tokens that are fetched by `taxauth` and shared through `table`.
    #[must_use]
    pub fn new(taxauth: TaxAuth, table: Table, vault: Vault, clock: Clock) -> Self {
        Self {
            gates: Arc::new(Gates::new(table.clone(), clock.clone())),
            taxauth,
            table,
            vault,
            clock,
            waiting: Waiting::default(),
            lanes: Arc::new(Mutex::new(LruCache::new(MAX_LANES))),
        }
    }

    /// The same with other wait times.
    #[must_use]
    pub fn with_waiting(self, waiting: Waiting) -> Self {
        Self { waiting, ..self }
    }

    /// A certificate's access to the authority in one environment.
    #[must_use]
    pub fn session<'a>(&'a self, environment: Environment, identity: &'a Identity) -> Session<'a> {
        Session::new(self, environment, identity, self.lane(environment, identity))
    }

    /// The gates that every call passes.
    #[must_use]
    pub fn gates(&self) -> &Gates {
        &self.gates
    }

    pub(crate) fn taxauth(&self) -> &TaxAuth {
        &self.taxauth
    }

    fn lane(&self, environment: Environment, identity: &Identity) -> Arc<Lane> {
        let key = (identity.certificate().sha256_fingerprint, environment);
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            Arc::new(Lane {
                held: tokio::sync::Mutex::new(None),
                failures: AtomicU64::new(0),
                calls: Semaphore::new(MAX_CALLS),
            })
        };
        Arc::clone(lanes.get_or_insert(key, new))
    }

    /// A token that is valid for a call that starts now.
    pub(crate) async fn token(
        &self,
        lane: &Lane,
        environment: Environment,
        identity: &Identity,
        caller: &CallingParty,
    ) -> Result<Token, TokenError> {
        let failures_before = lane.failures.load(Ordering::Acquire);
        let mut held = lane.held.lock().await;
        if let Some(Granted { token, .. }) = held.as_ref()
            && token.is_good_at(self.clock.now())
        {
            return Ok(token.clone());
        }
        if lane.failures.load(Ordering::Acquire) != failures_before {
            return Err(TokenError::JustFailed);
        }
        match self.shared_or_new(lane, environment, identity, caller).await {
            Ok(fresh) => Ok(held.insert(fresh).token.clone()),
            // The authority was not called, so the next caller may try at once.
            Err(error @ TokenError::Held(_)) => Err(error),
            Err(error) => {
                lane.failures.fetch_add(1, Ordering::Release);
                Err(error)
            }
        }
    }

    /// Discards a token that the authority rejected, here and in the shared table. Any other token stays: another
    /// sender may have replaced the rejected one already.
    pub(crate) async fn forget(
        &self,
        lane: &Lane,
        environment: Environment,
        identity: &Identity,
        refused: &Token,
    ) -> Result<(), TokenError> {
        let mut held = lane.held.lock().await;
        if let Some(gone) = held.take_if(|held| held.token == *refused) {
            let certificate = &identity.certificate().sha256_fingerprint;
            self.table
                .invalidate_token(certificate, environment, &gone.sealed)
                .await?;
        }
        Ok(())
    }

    async fn shared_or_new(
        &self,
        lane: &Lane,
        environment: Environment,
        identity: &Identity,
        caller: &CallingParty,
    ) -> Result<Granted, TokenError> {
        // A caller without the private key must not get the shared token.
        identity.prove()?;
        let certificate = &identity.certificate().sha256_fingerprint;
        for _ in 0..self.waiting.looks {
            // An eventually consistent read may miss a token that was just stored; `refresh` then reads it
            // consistently.
            let stored = self
                .table
                .token_eventual(certificate, environment, self.clock.now())
                .await?;
            if let Some(held) = self.opened(certificate, environment, stored).await? {
                return Ok(held);
            }
            self.gates
                .pass(environment, Service::ValidarSemilla.host(), caller)
                .await?;
            if self
                .table
                .claim_token_refresh(certificate, environment, self.clock.now(), self.waiting.lease)
                .await?
            {
                let outcome = self.refresh(lane, environment, identity).await;
                if let Err(error) = &outcome {
                    self.give_up(certificate, environment).await;
                    if let TokenError::Authority(error) = error
                        && let Some(host) = error.outage()
                    {
                        self.gates.record_failure(environment, host, caller).await;
                    }
                }
                return outcome;
            }
            tokio::time::sleep(self.waiting.pause).await;
        }
        Err(TokenError::Busy {
            waited: self.waiting.pause * self.waiting.looks,
        })
    }

    /// Decrypts a token of the table; `None` if it is expired or cannot be decrypted.
    async fn opened(
        &self,
        certificate: &[u8; 32],
        environment: Environment,
        stored: Option<StoredToken>,
    ) -> Result<Option<Granted>, TokenError> {
        let Some(StoredToken { sealed, expires_at }) = stored else {
            return Ok(None);
        };
        let plain = match self.vault.open(&context(certificate, environment), &sealed).await {
            Ok(plain) => plain,
            Err(error) if error.is_retryable() => return Err(error.into()),
            Err(error) => {
                tracing::warn!(%environment, %error, "a shared token does not open, fetching another");
                return Ok(None);
            }
        };
        let token = Token::new(String::from_utf8_lossy(&plain).into_owned(), expires_at);
        Ok(token.is_good_at(self.clock.now()).then_some(Granted { token, sealed }))
    }

    /// Fetches a token as the holder of the lease. Storing it ends the lease.
    async fn refresh(&self, lane: &Lane, environment: Environment, identity: &Identity) -> Result<Granted, TokenError> {
        let certificate = &identity.certificate().sha256_fingerprint;
        // The previous holder may have finished between our read and our claim.
        let stored = self.table.token(certificate, environment, self.clock.now()).await?;
        if let Some(held) = self.opened(certificate, environment, stored).await? {
            self.give_up(certificate, environment).await;
            return Ok(held);
        }
        let token = self.authenticate(lane, environment, identity).await?;
        let sealed = self
            .vault
            .seal(&context(certificate, environment), token.expose().as_bytes())
            .await?;
        let stored = StoredToken {
            sealed,
            expires_at: token.expires_at(),
        };
        self.table.store_token(certificate, environment, &stored).await?;
        tracing::info!(%environment, expires_at = %stored.expires_at, "a token was granted");
        Ok(Granted {
            token,
            sealed: stored.sealed,
        })
    }

    async fn authenticate(
        &self,
        lane: &Lane,
        environment: Environment,
        identity: &Identity,
    ) -> Result<Token, TokenError> {
        // No deadlock: a call that holds a permit already has its token.
        let _permit = lane.calls.acquire().await.expect("the semaphore is never closed");
        let seed = self.taxauth.seed(environment).await.map_err(unasked)?.map_err(odd)?;
        let signed = xmldsig::sign_foreign(&seed, identity, &Limits::default())?;
        let grant = self
            .taxauth
            .validate_seed(environment, signed.xml)
            .await
            .map_err(unasked)?
            .map_err(odd)?;
        Ok(Token::granted(grant, self.clock.now()))
    }

    /// Releases the lease, so that another sender can try at once. If this fails, the lease expires.
    async fn give_up(&self, certificate: &[u8; 32], environment: Environment) {
        if let Err(error) = self.table.release_token_refresh(certificate, environment).await {
            tracing::warn!(%environment, %error, "the lease of a token's refresh was not released");
        }
    }
}

/// Binds an encrypted token to its certificate and environment: it cannot be decrypted for another.
fn context(certificate: &[u8; 32], environment: Environment) -> Vec<u8> {
    format!("taxauth-token/{environment}/{}", hex::encode(certificate)).into_bytes()
}

fn unasked(error: TaxAuthError) -> TokenError {
    match error {
        TaxAuthError::Refused { answer, .. } => TokenError::Refused(answer),
        other => TokenError::Authority(Box::new(other)),
    }
}

fn odd(Odd(answer): Odd) -> TokenError {
    TokenError::Odd(answer)
}
