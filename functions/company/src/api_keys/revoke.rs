//! `DELETE /api/v1/client/api-keys/{id}`.

use axum::extract::State;
use axum::http::StatusCode;
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, PathId, ValidQuery, ValidationError};
use ecf_store::ApiKeyId;
use utoipa::IntoParams;

use crate::App;

/// How a key says that it means itself.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RevokeQuery {
    /// `true` lets a key revoke itself.
    #[param(required = false, default = false)]
    allow_self: bool,
}

impl FromFields for RevokeQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let allow_self = fields.boolean("allow_self").or(false);
        Some(Self { allow_self })
    }
}

/// Revocar una clave de API
///
/// Revokes a key of the same environment for good; running instances refuse it within a minute. A revoked key stays in the list,
/// and revoking it again changes nothing.
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
        (status = 204, description = "Revoked"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "It is the very key that asks, without `allow_self=true`", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = [])),
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ApiKeyId>,
    ValidQuery(query): ValidQuery<RevokeQuery>,
) -> Result<StatusCode, ApiError> {
    let key = app.table.api_key(caller.company(), &id).await?;
    key.filter(|key| key.environment == caller.environment())
        .ok_or_else(ApiError::not_found)?;
    if id == caller.key_id && !query.allow_self {
        return Err(ApiError::conflict(
            "own_api_key",
            "this is the key that asks: revoke it with another one, or with allow_self=true",
        ));
    }
    app.table.revoke_api_key(caller.company(), &id, app.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
