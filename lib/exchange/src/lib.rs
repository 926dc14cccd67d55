//! The exchange of messages with other issuers: the client of their services, and the delivery of approvals and
//! annulments.
//!
//! - [`Peers`]: the client of the services that every electronic taxpayer runs, behind the guarded client;
//! - [`acknowledgement`]: reads a buyer's ARECF;
//! - [`answer`]: reads a buyer's ACECF and compares it with the receipt that it names;
//! - [`Exchange`]: sends an approval to the issuer and the authority, and an annulment to the authority. One call is
//!   one attempt; the waits between them are [`EXCHANGE`](ecf_store::waits::EXCHANGE).
//!
//! Two functions use it: `approvals` makes the first attempt while the caller waits, `exchange-worker` makes all later
//! ones.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod acknowledgement;
mod annulment;
pub mod answer;
mod approval;
mod peer;

use std::sync::Arc;
use std::time::Duration;

use ecf_certificates::{CannotSign, Judge, signing_identity};
use ecf_language::{Bilingual, say};
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Metrics};
use ecf_store::{
    Artifacts, Clients, CompanyId, ExchangeJob, Identities, LONGEST_DELAY, QueueUrls, Queues, StoreError, Table, Vault,
};
use ecf_taxauth::{Directory, Endpoints, TaxAuth, Tokens, Waiting};
use ecf_webhooks::{Guard, GuardedClient, Reach};
use jiff::Timestamp;
use xmldsig::Identity;

pub use peer::{Addressee, PeerDocument, PeerError, PeerService, Peers};

/// Why nothing is sent.
pub fn no_certificate() -> Bilingual {
    say!(
        "the company has no certificate that is valid now",
        "la empresa no tiene un certificado vigente"
    )
}

pub(crate) fn no_answer() -> Bilingual {
    say!("no answer in time", "no respondió a tiempo")
}

/// The clients that both functions need to deliver messages.
#[derive(Clone)]
pub struct Exchange {
    pub table: Table,
    pub artifacts: Artifacts,
    pub identities: Identities,
    pub queues: Queues,
    pub tokens: Arc<Tokens>,
    pub directory: Directory,
    pub peers: Peers,
    pub judge: Judge,
    pub clock: Clock,
}

/// Time-outs for each recipient.
#[derive(Debug, Clone, Copy)]
pub struct RecipientTimeOuts {
    /// One call of the tax authority.
    pub authority: ecf_taxauth::TimeOuts,
    /// One call of another issuer.
    pub peer: ecf_webhooks::TimeOuts,
}

impl RecipientTimeOuts {
    /// Short time-outs, for a request whose caller waits.
    #[must_use]
    pub fn of_request() -> Self {
        Self {
            authority: ecf_taxauth::TimeOuts::of_look_up(),
            peer: ecf_webhooks::TimeOuts {
                connect: Duration::from_secs(3),
                total: Duration::from_secs(8),
            },
        }
    }

    /// Long time-outs, for a queue worker.
    #[must_use]
    pub fn of_worker() -> Self {
        Self {
            authority: ecf_taxauth::TimeOuts::default(),
            peer: ecf_webhooks::TimeOuts {
                connect: Duration::from_secs(5),
                total: Duration::from_secs(20),
            },
        }
    }
}

impl Exchange {
    /// Builds the clients from a function's environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`,
    /// `EXCHANGE_QUEUE_URL`, `TAXAUTH_ECF_URL`, `TAXAUTH_FC_URL`, `TAXAUTH_STATUS_URL`, `RECEPTION_TRUST` (`confirm` or
    /// `chain`) and optionally `ALLOW_LOOPBACK_TARGETS`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(
        env: &Env,
        clients: &Clients,
        clock: Clock,
        time_outs: RecipientTimeOuts,
        waiting: Option<Waiting>,
    ) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        let endpoints = Endpoints::from_bases(
            &env.required("TAXAUTH_ECF_URL")?,
            &env.required("TAXAUTH_FC_URL")?,
            &env.required("TAXAUTH_STATUS_URL")?,
        )?;
        let taxauth = TaxAuth::new(endpoints, time_outs.authority)?;
        let tokens = Tokens::new(taxauth, table.clone(), vault.clone(), clock.clone());
        let reach = if env.parsed("ALLOW_LOOPBACK_TARGETS")?.unwrap_or(false) {
            Reach::PublicAndLoopback
        } else {
            Reach::Public
        };
        Ok(Self {
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            judge: Judge::new(vault.clone(), env.required_as("RECEPTION_TRUST")?),
            identities: Identities::new(vault),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            tokens: Arc::new(match waiting {
                Some(waiting) => tokens.with_waiting(waiting),
                None => tokens,
            }),
            directory: Directory::new(table.clone()),
            peers: Peers::new(
                GuardedClient::new(Guard::new(reach), time_outs.peer)?,
                Metrics::from_env(env)?,
            ),
            table,
            clock,
        })
    }

    /// The company's certificate, if one is registered and valid now. A certificate that cannot be opened counts as
    /// missing and is logged.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn identity(&self, company: &CompanyId, now: Timestamp) -> Result<Option<Arc<Identity>>, StoreError> {
        match signing_identity(&self.identities, company, now).await {
            Ok(identity) => Ok(Some(identity)),
            Err(CannotSign::Missing | CannotSign::NotValid { .. }) => Ok(None),
            Err(CannotSign::Unusable(error)) => {
                tracing::error!(company.id = %company, error = %ecf_runtime::telemetry::chain(&error), "the company's certificate does not open");
                Ok(None)
            }
            Err(CannotSign::Vault(error)) => Err(error),
        }
    }

    /// Enqueues the next attempt, unless the wait exceeds the longest delay of a queue. The due index finds an attempt
    /// whose message is lost.
    pub async fn queue_next(&self, job: &ExchangeJob, wait: Duration) {
        if wait > LONGEST_DELAY {
            return;
        }
        if let Err(error) = self.queues.send_exchange(job, wait).await {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(%error, "the next attempt was not enqueued; housekeeping enqueues it");
        }
    }
}
