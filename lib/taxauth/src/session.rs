//! One certificate in one environment, ready to call every service.

use std::sync::Arc;
use std::time::Duration;

use ecf::{Encf, Environment, Rnc};
use ecf_store::{CompanyId, directory::DirectoryEntry};
use xmldsig::Identity;

use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::gates::CallingParty;
use crate::services::{ReceiptQuery, ResultQuery, Ruling, Sent, StateAnswer, Submissions, SummaryQuery};
use crate::token::Token;
use crate::tokens::{Lane, TokenError, Tokens};
use crate::upload::Upload;
use crate::verdict::Judged;

/// Upper bound of concurrent calls of one certificate in one environment, in this process. The authority publishes no
/// limit, but throttles callers that send too much.
pub(crate) const MAX_CALLS: usize = 4;

/// How long a call waits for a free slot. A waiting job holds its claim, so when the authority is slow the job fails
/// early and is retried later.
const LONGEST_QUEUE: Duration = Duration::from_secs(10);

/// A certificate's access to the authority in one environment.
///
/// Every method obtains a token. When the service rejects the token (401, which proves that nothing was taken), the
/// method discards it and retries once with a new one. No method calls a host that is held ([`Held`](crate::Held)). The
/// result of each call updates the shared breaker of its host.
#[derive(Debug, Clone)]
pub struct Session<'a> {
    tokens: &'a Tokens,
    environment: Environment,
    identity: &'a Identity,
    lane: Arc<Lane>,
    caller: Arc<CallingParty>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(tokens: &'a Tokens, environment: Environment, identity: &'a Identity, lane: Arc<Lane>) -> Self {
        let party = hex::encode(&identity.certificate().sha256_fingerprint[..8]);
        Self {
            tokens,
            environment,
            identity,
            lane,
            caller: Arc::new(CallingParty::new(party)),
        }
    }

    /// The same session on behalf of a company. The breaker counts failures by party, which is the certificate unless a
    /// company is named: failures of several companies are stronger evidence of an outage.
    #[must_use]
    pub fn of_company(self, company: &CompanyId) -> Self {
        Self {
            caller: Arc::new(CallingParty::new(company.to_string())),
            ..self
        }
    }

    /// The environment that it calls.
    #[must_use]
    pub fn environment(&self) -> Environment {
        self.environment
    }

    /// Obtains a token in advance, so that the next call starts without that delay.
    ///
    /// # Errors
    /// Why no token was obtained. Only the authentication service was called.
    pub async fn authenticate(&self) -> Result<(), TokenError> {
        self.token().await.map(drop)
    }

    /// Submits a receipt in full (`recepcion`).
    ///
    /// # Errors
    /// See [`TaxAuthError::nothing_was_taken`].
    pub async fn send_receipt(&self, upload: &Upload) -> Result<Sent, TaxAuthError> {
        self.call(Service::Recepcion, |token| async move {
            self.tokens
                .taxauth()
                .send_receipt(self.environment, &token, upload)
                .await
        })
        .await
    }

    /// Submits the summary of a consumer invoice (`recepcionfc`). The answer contains the verdict.
    ///
    /// # Errors
    /// See [`TaxAuthError::nothing_was_taken`].
    pub async fn send_summary(&self, upload: &Upload) -> Result<Judged, TaxAuthError> {
        self.call(Service::RecepcionFc, |token| async move {
            self.tokens
                .taxauth()
                .send_summary(self.environment, &token, upload)
                .await
        })
        .await
    }

    /// The verdict of a submission (`consultaresultado`).
    ///
    /// # Errors
    /// When the service cannot be queried; a retry is safe.
    pub async fn result(&self, submission: ResultQuery<'_>) -> Result<Judged, TaxAuthError> {
        self.call(Service::ConsultaResultado, |token| async move {
            self.tokens.taxauth().result(self.environment, &token, submission).await
        })
        .await
    }

    /// The submissions of a number (`consultatrackids`).
    ///
    /// # Errors
    /// When the service cannot be queried; a retry is safe.
    pub async fn submissions(&self, rnc_emisor: &Rnc, encf: &Encf) -> Result<Submissions, TaxAuthError> {
        self.call(Service::ConsultaTrackIds, |token| async move {
            self.tokens
                .taxauth()
                .submissions(self.environment, &token, rnc_emisor, encf)
                .await
        })
        .await
    }

    /// The state of a receipt or a summary by its number (`consultaestado`).
    ///
    /// # Errors
    /// When the service cannot be queried; a retry is safe.
    pub async fn receipt_state(&self, receipt: ReceiptQuery<'_>) -> Result<StateAnswer, TaxAuthError> {
        self.call(Service::ConsultaEstado, |token| async move {
            self.tokens
                .taxauth()
                .receipt_state(self.environment, &token, receipt)
                .await
        })
        .await
    }

    /// The state of a summary by its number (`consultarfce`).
    ///
    /// # Errors
    /// When the service cannot be queried; a retry is safe.
    pub async fn summary_state(&self, summary: SummaryQuery<'_>) -> Result<Judged, TaxAuthError> {
        self.call(Service::ConsultaRfce, |token| async move {
            self.tokens
                .taxauth()
                .summary_state(self.environment, &token, summary)
                .await
        })
        .await
    }

    /// The addresses of a taxpayer (`consultadirectorio`); `None`: it is not listed. [`Directory`](crate::Directory)
    /// caches the result.
    ///
    /// # Errors
    /// When the service cannot be queried, or its answer is unclear; a retry is safe.
    pub async fn directory_entry(&self, rnc: &Rnc) -> Result<Option<DirectoryEntry>, TaxAuthError> {
        self.call(Service::ConsultaDirectorio, |token| async move {
            self.tokens
                .taxauth()
                .directory_entry(self.environment, &token, rnc)
                .await
        })
        .await
    }

    /// Submits a buyer's approval or rejection (`aprobacioncomercial`). The answer contains the ruling.
    ///
    /// # Errors
    /// See [`TaxAuthError::nothing_was_taken`].
    pub async fn send_approval(&self, upload: &Upload) -> Result<Ruling, TaxAuthError> {
        self.rule(Service::AprobacionComercial, upload).await
    }

    /// Annuls numbers (`anulacionrangos`). The answer contains the ruling.
    ///
    /// # Errors
    /// See [`TaxAuthError::nothing_was_taken`].
    pub async fn annul(&self, upload: &Upload) -> Result<Ruling, TaxAuthError> {
        self.rule(Service::AnulacionRangos, upload).await
    }

    async fn rule(&self, service: Service, upload: &Upload) -> Result<Ruling, TaxAuthError> {
        self.call(service, |token| async move {
            let taxauth = self.tokens.taxauth();
            taxauth.rule(service, self.environment, &token, upload).await
        })
        .await
    }

    async fn call<T, F>(&self, service: Service, request: impl Fn(Token) -> F) -> Result<T, TaxAuthError>
    where
        F: Future<Output = Result<T, TaxAuthError>>,
    {
        let token = self.token().await?;
        let gates = self.tokens.gates();
        gates.pass(self.environment, service.host(), &self.caller).await?;
        match self.recorded(service, request(token.clone())).await {
            Err(TaxAuthError::Unauthorized { service }) => {
                tracing::info!(%service, environment = %self.environment, "the token was refused; another one is fetched");
                self.tokens
                    .forget(&self.lane, self.environment, self.identity, &token)
                    .await?;
                self.recorded(service, request(self.token().await?)).await
            }
            outcome => outcome,
        }
    }

    /// Makes a call and records what its result shows about the host.
    async fn recorded<T>(
        &self,
        service: Service,
        request: impl Future<Output = Result<T, TaxAuthError>>,
    ) -> Result<T, TaxAuthError> {
        let outcome = self.limited(request).await.flatten();
        let gates = self.tokens.gates();
        match &outcome {
            Ok(_) => gates.record_success(self.environment, service.host()).await,
            Err(error) if error.is_answer() => gates.record_success(self.environment, service.host()).await,
            Err(error) => {
                if let Some(host) = error.outage() {
                    gates.record_failure(self.environment, host, &self.caller).await;
                }
            }
        }
        outcome
    }

    async fn token(&self) -> Result<Token, TokenError> {
        self.tokens
            .token(&self.lane, self.environment, self.identity, &self.caller)
            .await
    }

    /// Runs a request in one of the [`MAX_CALLS`] slots. The token must be obtained before: a token fetch behind calls
    /// that wait for it would deadlock.
    ///
    /// # Errors
    /// When no slot becomes free in time. The request was not started then.
    async fn limited<T>(&self, request: impl Future<Output = T>) -> Result<T, TaxAuthError> {
        let permit = tokio::time::timeout(LONGEST_QUEUE, self.lane.calls.acquire()).await;
        let permit = permit.map_err(|_| TaxAuthError::Crowded { waited: LONGEST_QUEUE })?;
        let _permit = permit.expect("the semaphore is never closed");
        Ok(request.await)
    }
}
