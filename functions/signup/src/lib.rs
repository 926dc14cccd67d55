//! Public sign-up: creates a company, its first API key, numbers for testing, and its certificate if the request has a
//! P12.
//!
//! | Route | Handler |
//! |---|---|
//! | `POST /api/v1/public/register` | [`register`] |
//!
//! A company is *unverified* unless its certificate belongs to the taxpayer and has a trusted issuer. An unverified
//! company works in TesteCF only and does not reserve its RNC. Attempts are limited per client address; a deployment
//! may also require an invitation of the operator.

mod register;
mod request;

use axum::Router;
use axum::routing::post;
use ecf_certificates::CertificateTrust;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Clients, QueueUrls, Queues, Table, Vault, rate_limits::RateLimit};
use jiff::SignedDuration;

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    table: Table,
    vault: Vault,
    queues: Queues,
    clock: Clock,
    settings: Settings,
}

/// The operator's settings.
#[derive(Debug, Clone)]
struct Settings {
    /// Whether a sign-up requires an invitation.
    needs_invitation: bool,
    /// The rate limit per client address.
    rate_limit: RateLimit,
    /// Whether a portal is notified of new companies.
    has_portal: bool,
    /// Expiry of the numbers that every taxpayer has in pre-certification. The authority postpones it from time to
    /// time.
    precertification_valid_until: ecf::Fecha,
    certificate_trust: CertificateTrust,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `SECRET_PREFIX`, `WEBHOOK_QUEUE_URL`,
    /// `PRECERTIFICATION_VALID_UNTIL` (dd-MM-yyyy), `CERTIFICATE_TRUST` (`chain` or `any`), `SIGNUPS_PER_HOUR`, and
    /// optionally `SECRETS_KMS_KEY`, `PORTAL_URL` and `SIGNUP_NEEDS_INVITATION`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
            vault: Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?)
                .with_kms_key(env.optional("SECRETS_KMS_KEY")?),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            clock,
            settings: Settings {
                needs_invitation: env.parsed("SIGNUP_NEEDS_INVITATION")?.unwrap_or(false),
                rate_limit: RateLimit {
                    name: "signup",
                    max_requests: env.required_as("SIGNUPS_PER_HOUR")?,
                    window: SignedDuration::from_hours(1),
                },
                has_portal: env.optional("PORTAL_URL")?.is_some(),
                precertification_valid_until: env.required_as("PRECERTIFICATION_VALID_UNTIL")?,
                certificate_trust: env.required_as("CERTIFICATE_TRUST")?,
            },
        })
    }
}

/// The contract of this function's routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(register::register))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    ecf_api::finish(
        Router::new()
            .route("/api/v1/public/register", post(register::register))
            .with_state(app),
    )
}
