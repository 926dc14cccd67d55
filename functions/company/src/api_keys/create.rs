//! `POST /api/v1/client/api-keys`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ecf::Environment;
use ecf_api::{ApiError, ApiKeySecret, Caller, CodedError, FieldError, Fields, FromFields, ValidJson, ValidationError};
use ecf_language::say;
use ecf_store::{
    ApiKeyId,
    api_keys::{ApiKeyCreated, KeyScope, ListedApiKey, NewApiKey},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::list::{ListedApiKeyView, own};
use crate::App;

/// Upper bound of the valid keys of one environment, against a faulty program. Concurrent requests may exceed it by a
/// few keys.
const WORKING_KEYS_LIMIT: usize = 20;

/// A key to make, for the environment of the key that asks.
#[derive(Debug, ToSchema)]
pub(crate) struct CreateApiKeyRequest {
    /// What its owner calls it, such as the program that uses it.
    #[schema(min_length = 1, max_length = 100)]
    name: Option<String>,
    /// May repeat the key's environment, never name another one.
    #[schema(value_type = Option<String>, example = "TesteCF")]
    environment: Option<Environment>,
    /// What it may do: `read`; `issue`: also issue, withdraw, annul, acknowledge and answer; `full`, the default: everything.
    #[schema(value_type = Option<String>, pattern = "^(full|issue|read)$", example = "issue")]
    scope: Option<KeyScope>,
    /// When it stops working; never unless given.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

impl FromFields for CreateApiKeyRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.text("name").length(1..=100).optional();
        let environment = fields.environment("environment").optional();
        let scope = fields
            .choice("scope", &KeyScope::ALL.map(|scope| (scope.as_str(), scope)))
            .optional();
        let expires_at = fields.instant("expires_at").optional();
        Some(Self {
            name,
            environment,
            scope,
            expires_at,
        })
    }
}

/// A new key, which is shown here and never again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApiKeyCreatedView {
    #[serde(flatten)]
    listed: ListedApiKeyView,
    key: String,
    only_shown_once: bool,
}

/// Crear una clave de API
///
/// Makes a key for the same company and environment. An answer that got lost leaves a key that nobody knows: it stands in the
/// list, and is revoked like any other. No key creates one that may do more than it may itself.
#[utoipa::path(
    post,
    path = "/api/v1/client/api-keys",
    operation_id = "create_api_key",
    tag = "Empresa",
    request_body = CreateApiKeyRequest,
    responses(
        (status = 201, description = "Made; the key is shown once", body = ApiKeyCreatedView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "There are as many working keys as there can be", body = CodedError),
        (status = 422, description = "Every bad or unknown field; another environment than the key's", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<CreateApiKeyRequest>,
) -> Result<(StatusCode, Json<ApiKeyCreatedView>), ApiError> {
    let environment = caller.check_environment(request.environment)?;
    let now = app.clock.now();
    check_expiry(request.expires_at, now)?;
    let working = own(&app, &caller).await?;
    if working.iter().filter(|key| key.is_active(now)).count() >= WORKING_KEYS_LIMIT {
        let message = say!(
            "{environment} has {WORKING_KEYS_LIMIT} working keys, the most there can be; revoke one first",
            "{environment} tiene {WORKING_KEYS_LIMIT} claves vigentes, el máximo posible; revoque una primero"
        );
        return Err(ApiError::conflict("api_key_limit", message));
    }
    let secret = ApiKeySecret::generate(environment, ecf_runtime::random());
    let new = NewApiKey {
        company: *caller.company(),
        environment,
        rnc: caller.rnc.clone(),
        id: ApiKeyId::from_random(ecf_runtime::random()),
        hash: secret.hash(),
        prefix: secret.prefix().to_owned(),
        name: request.name,
        created_at: now,
        expires_at: request.expires_at,
        scope: request.scope.unwrap_or_default(),
        created_by: Some(caller.key_id),
    };
    let listed = ListedApiKey {
        id: new.id,
        environment,
        prefix: new.prefix.clone(),
        name: new.name.clone(),
        created_at: now,
        expires_at: new.expires_at,
        revoked_at: None,
        scope: new.scope,
        created_by: new.created_by,
        requests_per_second: None,
    };
    match app.table.create_api_key(new).await? {
        ApiKeyCreated::New => {}
        // An instance caches a key for a minute, so a revoked key may still pass authentication. It must not create
        // another key.
        ApiKeyCreated::CreatorRevoked => return Err(ApiError::invalid_api_key()),
        ApiKeyCreated::Taken => return Err(ApiError::internal("a random API key was taken")),
    }
    let view = ApiKeyCreatedView {
        listed: ListedApiKeyView::of(listed, None, caller.key_id, now),
        key: secret.text().to_owned(),
        only_shown_once: true,
    };
    Ok((StatusCode::CREATED, Json(view)))
}

fn check_expiry(expires_at: Option<Timestamp>, now: Timestamp) -> Result<(), ApiError> {
    match expires_at {
        Some(end) if end <= now => {
            let msg = say!(
                "expires_at is {end}, which is past: it is {now:.0} now",
                "expires_at es {end}, que ya pasó: ahora es {now:.0}"
            );
            let error = FieldError::new(["body", "expires_at"], "datetime_future", msg)
                .with_input(&ecf::Node::Text(end.to_string().into()));
            Err(ApiError::validation(vec![error]))
        }
        _ => Ok(()),
    }
}
