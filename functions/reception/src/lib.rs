//! The services that every electronic taxpayer offers to other issuers, in the tax authority's format (Descripción
//! técnica, emisor-receptor).
//!
//! | Address below `/{rnc}`, `/{rnc}/{environment}` or no prefix, also after `/api` | Handler |
//! |---|---|
//! | `GET /fe/autenticacion/api/semilla` | [`authenticate`]: answers a fresh seed |
//! | `POST /fe/autenticacion/api/validacioncertificado` | [`authenticate`]: exchanges a signed seed for a token, once |
//! | `POST /fe/recepcion/api/ecf` | [`receive`]: stores a receipt in the inbox and acknowledges it with a signed ARECF |
//! | `POST /fe/aprobacioncomercial/api/ecf` | [`approve`]: a buyer approves or rejects a receipt of ours |
//!
//! The function serves every path that no other function has, in any letter case. Callers are strangers: their requests
//! are limited in size, verified before use, and stored only when they are a valid receipt for a verified company. A
//! receipt is stored before it is acknowledged as received.

mod address;
mod approve;
mod authenticate;
mod judge;
mod receive;
mod seal;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use ecf::{Environment, Rnc};
use ecf_api::{ApiError, Visitor};
use ecf_certificates::{CannotSign, Judge, usable_identity};
use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{
    AnnouncementId, Artifacts, Clients, ExchangeJob, Identities, InboxId, Profiles, QueueUrls, Queues, Scope, Table,
    Vault, companies::Company, rate_limits::RateLimit,
};
use http::header::{ALLOW, AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use xmldsig::{Identity, Limits};

use address::{Address, Service};
use ecf_language::say;

/// Delay of the first question to the authority. Issuers send accepted receipts, so its answer is usually available.
const FIRST_QUESTION: Duration = Duration::from_secs(2);
/// `Retry-After` for a sender whose receipt the company cannot acknowledge now.
const CANNOT_SIGN: Duration = Duration::from_secs(600);

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    table: Table,
    profiles: Profiles,
    artifacts: Artifacts,
    vault: Vault,
    judge: Judge,
    identities: Identities,
    queues: Queues,
    /// The rate limit per client address and minute, for seeds, receipts and approvals separately. Trusted signers are
    /// exempt.
    per_minute: u32,
    clock: Clock,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`, `WEBHOOK_QUEUE_URL`,
    /// `EXCHANGE_QUEUE_URL`, `RECEPTION_TRUST` (`confirm` or `chain`) and `RECEPTION_PER_MINUTE`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, ecf_runtime::Error> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?);
        Ok(Self {
            profiles: Profiles::new(table.clone()),
            artifacts: Artifacts::new(clients.s3.clone(), env.required("BUCKET_NAME")?),
            identities: Identities::new(vault.clone()),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            judge: Judge::new(vault.clone(), env.required_as("RECEPTION_TRUST")?),
            per_minute: env.required_as("RECEPTION_PER_MINUTE")?,
            vault,
            table,
            clock,
        })
    }

    /// Counts a request against the rate limit.
    async fn limit(&self, visitor: Visitor, service: &'static str, now: Timestamp) -> Result<(), ApiError> {
        let limit = RateLimit {
            name: service,
            max_requests: self.per_minute,
            window: SignedDuration::from_mins(1),
        };
        visitor.check_rate_limit(&self.table, limit, now).await
    }

    /// The verified company with this RNC, in the requested environment or in its default one.
    async fn recipient(
        &self,
        rnc: &Rnc,
        environment: Option<Environment>,
        now: Timestamp,
    ) -> Result<Option<Recipient>, ApiError> {
        let Some(id) = self.table.company_by_rnc(rnc).await? else {
            return Ok(None);
        };
        let company = self.profiles.of(&id, now).await?;
        let company = company.filter(|company| company.is_active() && company.verified);
        Ok(company.map(|company| Recipient {
            scope: Scope {
                company: id,
                environment: environment.unwrap_or(company.default_environment),
            },
            caller: None,
            company,
        }))
    }

    /// Whether the company has an inbox here. In production it has one from its first key on, because before that
    /// nobody reads it.
    async fn has_inbox(&self, scope: &Scope) -> Result<bool, ApiError> {
        let environment = scope.environment;
        Ok(environment != Environment::Ecf || self.table.has_had_key(&scope.company, environment).await?)
    }

    /// The company in the address, after authorization; `None` when the address does not name one.
    async fn published(&self, call: &Call, now: Timestamp) -> Result<Option<Recipient>, ApiError> {
        let Some(rnc) = &call.address.rnc else {
            return Ok(None);
        };
        let recipient = self.recipient(rnc, call.address.environment, now).await?;
        let mut recipient = recipient.ok_or_else(ApiError::not_found)?;
        self.authorize(&mut recipient, call, now).await?;
        Ok(Some(recipient))
    }

    /// The company that a document names, for an address without a company.
    async fn named(&self, call: &Call, rnc: Option<&Rnc>, now: Timestamp) -> Result<Option<Recipient>, ApiError> {
        let Some(rnc) = rnc else {
            return Ok(None);
        };
        let mut recipient = self.recipient(rnc, None, now).await?;
        if let Some(recipient) = &mut recipient {
            self.authorize(recipient, call, now).await?;
        }
        Ok(recipient)
    }

    /// A company can require a token from its senders. A token that is sent without being required is recorded too.
    async fn authorize(&self, recipient: &mut Recipient, call: &Call, now: Timestamp) -> Result<(), ApiError> {
        let is_demanded = recipient.company.settings.reception_token;
        if is_demanded || call.headers.contains_key(AUTHORIZATION) {
            match authenticate::check_token(self, recipient, call, now).await {
                Ok(caller) => recipient.caller = Some(caller),
                Err(error) if is_demanded => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Enqueues the first question to the authority about a stored receipt. The due index recovers a lost message.
    async fn ask_authority(&self, scope: &Scope, id: &InboxId) {
        let job = ExchangeJob::Confirm {
            scope: *scope,
            inbox: *id,
            attempt: 0,
        };
        if let Err(error) = self.queues.send_exchange(&job, FIRST_QUESTION).await {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(inbox.id = %id, %error, "the confirmation of a received receipt was not enqueued; housekeeping enqueues it");
        }
    }

    /// Enqueues an announcement that is already stored.
    async fn enqueue_announcement(&self, scope: &Scope, news: &AnnouncementId) {
        if let Err(error) = ecf_webhooks::enqueue_announcement(&self.queues, scope, news).await {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(%error, "an event was not enqueued; housekeeping enqueues it");
        }
    }

    /// The company's signing identity. Without a certificate it cannot receive now, and the sender must retry.
    async fn signer(&self, recipient: &Recipient, now: Timestamp) -> Result<Arc<Identity>, ApiError> {
        let found = self.identities.of_company(&recipient.company, now).await;
        usable_identity(found, now).map_err(|error| match error {
            CannotSign::Vault(error) | CannotSign::Unusable(error) => error.into(),
            CannotSign::Missing | CannotSign::NotValid { .. } => {
                let cause = format!("company {} has no certificate that is valid now", recipient.company.id);
                ApiError::unavailable(CANNOT_SIGN).caused_by(cause)
            }
        })
    }
}

/// A company that was called.
struct Recipient {
    company: Arc<Company>,
    scope: Scope,
    /// The subject of the caller's token.
    caller: Option<String>,
}

/// Upper bound of a service's body. Certificates take most of a seed and of an approval; a receipt has up to 10,000
/// lines.
const fn largest_body(service: Service) -> usize {
    match service {
        Service::Semilla => 0,
        Service::ValidacionCertificado | Service::AprobacionComercial => 128 * 1024,
        Service::Recepcion => LARGEST_RECEIPT,
    }
}

const LARGEST_RECEIPT: usize = 4 * 1024 * 1024;
/// Upper bound of the unsigned part of a document, in addition to twice its signed part: room for the signature with
/// its certificates, comments and declarations.
const MOST_UNSIGNED_BYTES: usize = 128 * 1024;

/// Limits for documents of strangers.
fn limits() -> Limits {
    Limits {
        max_bytes: LARGEST_RECEIPT,
        ..Limits::default()
    }
}

/// The services, below any path.
pub fn router(app: App) -> Router {
    let routes = Router::new().route("/{*path}", any(serve)).with_state(app);
    ecf_api::finish(routes)
}

async fn serve(State(app): State<App>, visitor: Visitor, request: Request) -> Result<Response, ApiError> {
    let address = Address::of(request.uri().path()).ok_or_else(ApiError::not_found)?;
    let (allowed, is_allowed) = match address.service {
        Service::Semilla => ("GET, HEAD", matches!(*request.method(), Method::GET | Method::HEAD)),
        _ => ("POST", request.method() == Method::POST),
    };
    if !is_allowed {
        let mut refused = ApiError::method_not_allowed().into_response();
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
        return Ok(refused);
    }
    let headers = request.headers().clone();
    let most = largest_body(address.service);
    let body = Bytes::from_request(request, &app)
        .await
        .map_err(|rejection| unread(&rejection, most))?;
    if body.len() > most && address.service != Service::Semilla {
        return Err(ApiError::payload_too_large(most));
    }
    let call = Call {
        address,
        headers,
        visitor,
    };
    match call.address.service {
        Service::Semilla => authenticate::semilla(&app, &call).await,
        Service::ValidacionCertificado => authenticate::validate(&app, &call, &body).await,
        Service::AprobacionComercial => approve::approve(&app, &call, &body).await,
        Service::Recepcion => receive::receive(&app, &call, &body).await,
    }
}

/// The called service and the caller.
struct Call {
    address: Address,
    headers: HeaderMap,
    visitor: Visitor,
}

fn unread(rejection: &axum::extract::rejection::BytesRejection, most: usize) -> ApiError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::payload_too_large(most),
        _ => ApiError::bad_request(
            "incomplete_body",
            say!("the body did not arrive whole", "el cuerpo no llegó completo"),
        ),
    }
}
