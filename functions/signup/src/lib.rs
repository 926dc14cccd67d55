//! Public sign-up: a company, its certificate when a P12 comes along, its first API key and open numbers to try with.
//!
//! | Route | Handler |
//! |---|---|
//! | `POST /api/v1/public/register` | [`register`] |
//!
//! Whoever signs up is *unverified* unless the certificate's owner is the taxpayer and its issuer is trusted: such a company works in
//! TesteCF only and does not reserve its RNC. Who may come at all: as often as one address may try, and, where the deployment wants it,
//! who brings an invitation of the operator.

mod register;
mod request;

use axum::Router;
use axum::routing::post;
use ecf_certificates::CertificateTrust;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Clients, QueueUrls, Queues, Table, Vault, turns::Door};
use jiff::SignedDuration;

/// What this function may touch; compare with its policies in `template.yaml`.
#[derive(Clone)]
pub struct App {
    table: Table,
    vault: Vault,
    queues: Queues,
    clock: Clock,
    settings: Settings,
}

/// What the operator decides.
#[derive(Debug, Clone)]
struct Settings {
    /// Whether a company has to be invited.
    needs_invitation: bool,
    /// How often one address may try.
    door: Door,
    /// Whether a portal is told of new companies.
    tells_portal: bool,
    /// Expiry of the numbers that every taxpayer owns in pre-certification; the authority moves it over time.
    precertification_valid_until: ecf::Fecha,
    certificate_trust: CertificateTrust,
}

impl App {
    /// Builds what the function needs from its environment: `TABLE_NAME`, `SECRET_PREFIX`, `WEBHOOK_QUEUE_URL`,
    /// `PRECERTIFICATION_VALID_UNTIL` (dd-MM-yyyy), `CERTIFICATE_TRUST` (`chain` or `any`), `SIGNUPS_PER_HOUR`, and optionally
    /// `SECRETS_KMS_KEY`, `PORTAL_URL` and `SIGNUP_NEEDS_INVITATION`.
    ///
    /// # Errors
    /// Names the first variable that is missing or wrong.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        Ok(Self {
            table: Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?),
            vault: Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?)
                .with_kms_key(env.optional("SECRETS_KMS_KEY")?),
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            clock,
            settings: Settings {
                needs_invitation: env.parsed("SIGNUP_NEEDS_INVITATION")?.unwrap_or(false),
                door: Door {
                    name: "signup",
                    most: env.required_as("SIGNUPS_PER_HOUR")?,
                    window: SignedDuration::from_hours(1),
                },
                tells_portal: env.optional("PORTAL_URL")?.is_some(),
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
