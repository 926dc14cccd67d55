//! A company's certificates, and tools for signed documents.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /api/v1/client/certificates` | [`list`]: all certificates so far, newest first; one is active |
//! | `POST /api/v1/client/certificates` | [`upload`]: stores a P12 with its PIN as the active certificate |
//! | `POST /api/v1/client/tools/inspect-p12` | [`inspect_p12`]: reports the content and the problems of a P12; nothing is stored |
//! | `POST /api/v1/client/tools/verify-xml` | [`verify_xml`]: a report on any signed document of the scheme |
//! | `POST /api/v1/client/tools/sign-xml` | [`sign_xml`]: signs a form of the authority's portal |
//!
//! Only this function and `signup` write P12 secrets. No P12, PIN or document is logged or returned.

mod inspect_p12;
mod list;
mod sign_xml;
mod upload;
mod verify_xml;
mod xml_body;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::{get, post};
use ecf_api::Keys;
use ecf_certificates::CertificateTrust;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{Clients, Identities, Table, Vault, companies::CertificateOwner};

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    keys: Keys,
    table: Table,
    vault: Vault,
    identities: Identities,
    clock: Clock,
    /// The rule of the deployment. A company's own setting may be stricter.
    certificate_owner: CertificateOwner,
    certificate_trust: CertificateTrust,
}

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `SECRET_PREFIX`, `CERTIFICATE_TRUST` (`chain` or `any`), and
    /// optionally `CERTIFICATE_OWNER` (`warn` or `refuse`) and `SECRETS_KMS_KEY`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?)
            .with_kms_key(env.optional("SECRETS_KMS_KEY")?);
        Ok(Self {
            keys: Keys::from_env(env, table.clone(), clock.clone())?,
            identities: Identities::new(vault.clone()),
            vault,
            table,
            clock,
            certificate_owner: env.parsed("CERTIFICATE_OWNER")?.unwrap_or(CertificateOwner::Warn),
            certificate_trust: env.required_as("CERTIFICATE_TRUST")?,
        })
    }
}

impl FromRef<App> for Keys {
    fn from_ref(app: &App) -> Self {
        app.keys.clone()
    }
}

/// The contract of this function's routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list::list,
    upload::upload,
    inspect_p12::inspect_p12,
    verify_xml::verify_xml,
    sign_xml::sign_xml
))]
pub struct Contract;

/// The routes of this function.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/api/v1/client/certificates", get(list::list).post(upload::upload))
        .route("/api/v1/client/tools/inspect-p12", post(inspect_p12::inspect_p12))
        .route("/api/v1/client/tools/verify-xml", post(verify_xml::verify_xml))
        .route("/api/v1/client/tools/sign-xml", post(sign_xml::sign_xml))
        .with_state(app);
    ecf_api::finish(routes)
}
