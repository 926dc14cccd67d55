//! `GET /api/v1/client/api-keys`.

use axum::Json;
use axum::extract::State;
use ecf::Environment;
use ecf_api::{ApiError, Caller, CodedError, Instant, ValidationError};
use ecf_store::{
    ApiKeyId,
    api_keys::{KeyScope, ListedApiKey},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// A key without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedApiKeyView {
    public_id: String,
    /// The beginning of the key, to know it by.
    prefix: String,
    name: Option<String>,
    #[schema(value_type = String, example = "TesteCF")]
    environment: Environment,
    /// Whether it opens anything now.
    is_active: bool,
    /// Whether the request uses this key.
    is_current: bool,
    created_at: Instant,
    expires_at: Option<Instant>,
    revoked_at: Option<Instant>,
    /// What it may do: `read`; `issue`: also issue, withdraw, annul, acknowledge and answer; `full`: everything.
    #[schema(value_type = String, example = "full")]
    scope: KeyScope,
    /// The key that created it; `null` for the first key, and for those that the operator issued.
    created_by: Option<String>,
    /// Its own rate limit; `null`: the deployment's.
    requests_per_second: Option<u32>,
    /// When it was used last, exact to an hour; `null`: never, or only to issue and not within 400 days.
    last_used_at: Option<Instant>,
}

impl ListedApiKeyView {
    pub(super) fn of(key: ListedApiKey, last_used_at: Option<Timestamp>, current: ApiKeyId, now: Timestamp) -> Self {
        Self {
            is_active: key.is_active(now),
            is_current: key.id == current,
            public_id: key.id.to_string(),
            prefix: key.prefix,
            name: key.name,
            environment: key.environment,
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(Instant),
            revoked_at: key.revoked_at.map(Instant),
            scope: key.scope,
            created_by: key.created_by.map(|key| key.to_string()),
            requests_per_second: key.requests_per_second,
            last_used_at: last_used_at.map(Instant),
        }
    }
}

/// Listar claves de API
///
/// The keys of the environment, oldest first, expired and revoked ones included.
#[utoipa::path(
    get,
    path = "/api/v1/client/api-keys",
    operation_id = "list_api_keys",
    tag = "Empresa",
    responses(
        (status = 200, description = "The environment's keys, oldest first", body = Vec<ListedApiKeyView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<Vec<ListedApiKeyView>>, ApiError> {
    let now = app.clock.now();
    let (keys, uses) = tokio::try_join!(own(&app, &caller), async {
        app.table.key_uses(&caller.scope, now).await.map_err(ApiError::from)
    })?;
    let view = |key: ListedApiKey| {
        let last_used_at = uses.last(&key.id);
        ListedApiKeyView::of(key, last_used_at, caller.key_id, now)
    };
    Ok(Json(keys.into_iter().map(view).collect()))
}

/// The company's keys of the caller's environment, oldest first.
pub(super) async fn own(app: &App, caller: &Caller) -> Result<Vec<ListedApiKey>, ApiError> {
    let mut keys = app.table.api_keys(caller.company()).await?;
    keys.retain(|key| key.environment == caller.environment());
    keys.sort_by_key(|key| (key.created_at, key.id));
    Ok(keys)
}
