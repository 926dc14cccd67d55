//! `/api/v1/taxauth/status…`: the state of the tax authority, from its status service and from our own calls.
//!
//! Everything is read from the shared table, so no request waits for the authority. Only `refresh` calls its status
//! service, at most once in [`REFRESH_SPACING`] for all callers.

mod views;

use axum::Json;
use axum::extract::{Path, State};
use ecf::Environment;
use ecf_api::{ApiError, Caller, CodedError, FieldError, ValidationError};
use ecf_language::Say;
use ecf_store::authority::AuthorityCondition;
use ecf_taxauth::Checked;
use jiff::SignedDuration;

use crate::App;
use views::Age;
pub(crate) use views::{
    EnvironmentView, ImpactListView, ImpactView, MaintenanceView, RefreshView, ServiceListView, StatusView,
};

/// Minimum interval between two refreshes.
const REFRESH_SPACING: SignedDuration = SignedDuration::from_secs(30);

/// The stored state of every environment.
struct Known {
    conditions: Vec<(Environment, AuthorityCondition)>,
    age: Age,
}

impl App {
    async fn known(&self) -> Result<Known, ApiError> {
        let mut conditions = Vec::new();
        for environment in Environment::ALL {
            conditions.push((environment, self.table.condition(environment).await?));
        }
        let check = self.table.status_check().await?;
        let now = self.clock.now();
        // The setting only explains the source of the status, so a failure to read it does not fail the response.
        let is_configured = self.status.is_configured(now).await.unwrap_or_else(|error| {
            tracing::warn!(error = %ecf_runtime::telemetry::chain(&error), "the state of the status service could not be read");
            check.is_some()
        });
        let age = Age::of(&conditions, check, is_configured, now);
        Ok(Known { conditions, age })
    }

    async fn condition(&self, environment: Environment) -> Result<AuthorityCondition, ApiError> {
        Ok(self.table.condition(environment).await?)
    }
}

/// Parses the environment in the path.
fn environment(text: &str) -> Result<Environment, ApiError> {
    text.parse().map_err(|error: ecf::UnknownEnvironment| {
        let names = Environment::ALL.map(Environment::as_str).join(", ");
        let field = FieldError::new(["path", "environment"], "enum", error.say());
        ApiError::validation(vec![
            field
                .with_input(&ecf::Node::Text(text.into()))
                .with_ctx("expected", names),
        ])
    })
}

/// Estado de la autoridad tributaria
///
/// All that is known, environment by environment.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status",
    operation_id = "show_taxauth_status",
    tag = "Autoridad tributaria",
    responses(
        (status = 200, description = "Every environment: hosts, services and maintenance", body = StatusView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn status(State(app): State<App>, _: Caller) -> Result<Json<StatusView>, ApiError> {
    let known = app.known().await?;
    Ok(Json(StatusView::of(&known.conditions, known.age, app.clock.now())))
}

/// Servicios de la autoridad tributaria
///
/// The services as the authority lists them.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status/services",
    operation_id = "list_taxauth_services",
    tag = "Autoridad tributaria",
    responses(
        (status = 200, description = "Each service of each environment, as the tax authority describes it", body = ServiceListView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn services(State(app): State<App>, _: Caller) -> Result<Json<ServiceListView>, ApiError> {
    let known = app.known().await?;
    Ok(Json(ServiceListView::of(&known.conditions, known.age)))
}

/// Ventanas de mantenimiento
///
/// The announced maintenance windows, from the cache.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status/maintenance",
    operation_id = "list_maintenance_windows",
    tag = "Autoridad tributaria",
    responses(
        (status = 200, description = "Current and announced maintenance windows; whether to issue in contingency now in the key's environment", body = MaintenanceView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn maintenance(State(app): State<App>, caller: Caller) -> Result<Json<MaintenanceView>, ApiError> {
    let known = app.known().await?;
    let of = caller.scope.environment;
    Ok(Json(MaintenanceView::of(
        &known.conditions,
        of,
        known.age,
        app.clock.now(),
    )))
}

/// Impacto en la emisión
///
/// What the authority's condition means for receipts, environment by environment.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status/impact",
    operation_id = "list_taxauth_impact",
    tag = "Autoridad tributaria",
    responses(
        (status = 200, description = "What happens to receipts now in each environment", body = ImpactListView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn impact(State(app): State<App>, _: Caller) -> Result<Json<ImpactListView>, ApiError> {
    let known = app.known().await?;
    Ok(Json(ImpactListView::of(&known.conditions, app.clock.now())))
}

/// Impacto en la emisión de un ambiente
///
/// What the authority's condition means for receipts of one environment.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status/impact/{environment}",
    operation_id = "show_taxauth_impact",
    tag = "Autoridad tributaria",
    params(("environment" = String, Path, description = "`TesteCF`, `CerteCF` or `ecf`")),
    responses(
        (status = 200, description = "What happens to receipts now", body = ImpactView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing, or the environment does not exist", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn impact_of(
    State(app): State<App>,
    _: Caller,
    Path(name): Path<String>,
) -> Result<Json<ImpactView>, ApiError> {
    let environment = environment(&name)?;
    let condition = app.condition(environment).await?;
    Ok(Json(ImpactView::of(environment, &condition, app.clock.now())))
}

/// Estado de un ambiente
///
/// All that is known of one environment.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status/environment/{environment}",
    operation_id = "show_taxauth_environment",
    tag = "Autoridad tributaria",
    params(("environment" = String, Path, description = "`TesteCF`, `CerteCF` or `ecf`")),
    responses(
        (status = 200, description = "Its hosts, services and maintenance", body = EnvironmentView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing, or the environment does not exist", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn environment_status(
    State(app): State<App>,
    _: Caller,
    Path(name): Path<String>,
) -> Result<Json<EnvironmentView>, ApiError> {
    let environment = environment(&name)?;
    let condition = app.condition(environment).await?;
    Ok(Json(EnvironmentView::of(environment, &condition, app.clock.now())))
}

/// Consultar el estado ahora
///
/// Asks the authority's status service now, unless somebody just did, and answers with what is known then.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/status/refresh",
    operation_id = "refresh_taxauth_status",
    tag = "Autoridad tributaria",
    responses(
        (status = 200, description = "As `/status`, and whether the authority was asked for it", body = RefreshView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn refresh(State(app): State<App>, _: Caller) -> Result<Json<RefreshView>, ApiError> {
    let checked = app.status.check(&app.gates, app.clock.now(), REFRESH_SPACING).await?;
    let known = app.known().await?;
    Ok(Json(RefreshView {
        refreshed: checked == Checked::Now,
        status: StatusView::of(&known.conditions, known.age, app.clock.now()),
    }))
}
