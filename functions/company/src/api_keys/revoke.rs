//! `DELETE /api/v1/client/api-keys/{id}`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, PathId, ValidQuery, ValidationError};
use ecf_language::say;
use ecf_store::{ApiKeyId, api_keys::ListedApiKey};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;

/// What a revocation takes along, and whether a key means itself.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RevokeQuery {
    /// `true` lets a key revoke itself.
    #[param(required = false, default = false)]
    allow_self: bool,
    /// `true` also revokes the keys that this key created, those that they created, and so on: what to do with a stolen key.
    #[param(required = false, default = false)]
    descendants: bool,
}

impl FromFields for RevokeQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let allow_self = fields.boolean("allow_self").or(false);
        let descendants = fields.boolean("descendants").or(false);
        Some(Self {
            allow_self,
            descendants,
        })
    }
}

/// What became of the keys that descend from a revoked one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RevokedView {
    /// The keys that this request revoked besides the one that it names.
    revoked_descendants: Vec<DescendantView>,
    /// The keys that still work: `?descendants=true` revokes them too.
    living_descendants: Vec<DescendantView>,
}

/// A key that was created by another one, itself or through further keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DescendantView {
    public_id: String,
    prefix: String,
    name: Option<String>,
    created_by: Option<String>,
}

impl From<ListedApiKey> for DescendantView {
    fn from(key: ListedApiKey) -> Self {
        Self {
            public_id: key.id.to_string(),
            prefix: key.prefix,
            name: key.name,
            created_by: key.created_by.map(|key| key.to_string()),
        }
    }
}

/// Revocar una clave de API
///
/// Revokes a key of the same environment for good; running instances refuse it within a minute. A revoked key stays in the list,
/// and revoking it again changes nothing. The answer lists the working keys that descend from it, if there are any: keys that
/// were made with a stolen key outlive it unless `descendants=true`.
#[utoipa::path(
    delete,
    path = "/api/v1/client/api-keys/{public_id}",
    operation_id = "revoke_api_key",
    tag = "Empresa",
    params(
        ("public_id" = String, Path, description = "The key's id, not the key"),
        RevokeQuery,
    ),
    responses(
        (status = 200, description = "Revoked; working keys descended from it, and what became of them", body = RevokedView),
        (status = 204, description = "Revoked; no working key descended from it"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "The key of the request itself would be revoked; that needs `allow_self=true`", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ApiKeyId>,
    ValidQuery(query): ValidQuery<RevokeQuery>,
) -> Result<Response, ApiError> {
    let (company, now) = (caller.company(), app.clock.now());
    let key = app.table.api_key(company, &id).await?;
    key.filter(|key| key.environment == caller.environment())
        .ok_or_else(ApiError::not_found)?;
    if !query.allow_self {
        let is_own = id == caller.key_id
            || query.descendants && {
                let living = app.table.living_descendants(company, &id, now).await?;
                living.iter().any(|key| key.id == caller.key_id)
            };
        if is_own {
            return Err(ApiError::conflict(
                "own_api_key",
                say!(
                    "this would revoke the key that asks: use another key, or allow_self=true",
                    "esto revocaría la clave con la que se llama: use otra clave, o allow_self=true"
                ),
            ));
        }
    }
    let (revoked, living) = if query.descendants {
        let revoked = app.table.revoke_with_descendants(company, &id, now).await?;
        (revoked.unwrap_or_default(), Vec::new())
    } else {
        app.table.revoke_api_key(company, &id, now).await?;
        (Vec::new(), app.table.living_descendants(company, &id, now).await?)
    };
    if revoked.is_empty() && living.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let views = |keys: Vec<ListedApiKey>| keys.into_iter().map(DescendantView::from).collect();
    let view = RevokedView {
        revoked_descendants: views(revoked),
        living_descendants: views(living),
    };
    Ok(Json(view).into_response())
}
