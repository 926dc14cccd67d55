//! `POST /api/v1/client/webhooks/{id}/rotate-secret`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, PathId, ValidJson, ValidationError};
use ecf_store::{
    WebhookId,
    webhooks::{WebhookChanges, webhook_context},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::create::checked_secret;

/// The new secret, unless the service makes it.
#[derive(ToSchema)]
pub(crate) struct RotateSecretRequest {
    /// Made by the service when it is left out.
    #[schema(min_length = 16, max_length = 256)]
    secret: Option<String>,
}

impl FromFields for RotateSecretRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let secret = fields.text("secret").secret().length(16..=256).optional();
        Some(Self { secret })
    }
}

/// The new secret, which is shown here and never again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SecretRotatedView {
    public_id: String,
    secret: String,
    only_shown_once: bool,
}

/// Cambiar el secreto de un webhook
///
/// Replaces the secret at once: every attempt from here on is signed with the new one, retries of earlier events included.
#[utoipa::path(
    post,
    path = "/api/v1/client/webhooks/{public_id}/rotate-secret",
    operation_id = "rotate_webhook_secret",
    tag = "Webhooks",
    params(("public_id" = String, Path, description = "The webhook's id")),
    request_body = RotateSecretRequest,
    responses(
        (status = 200, description = "The new secret, shown once; it signs every attempt from now on", body = SecretRotatedView),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn rotate(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<WebhookId>,
    ValidJson(request): ValidJson<RotateSecretRequest>,
) -> Result<Json<SecretRotatedView>, ApiError> {
    let mut errors = Vec::new();
    let secret = checked_secret(request.secret.as_deref(), &mut errors).ok_or_else(|| ApiError::validation(errors))?;
    let context = webhook_context(&caller.scope, &id);
    let changes = WebhookChanges {
        sealed_secret: Some(app.vault.seal(&context, secret.expose().as_bytes()).await?),
        ..WebhookChanges::default()
    };
    app.table
        .update_webhook(&caller.scope, &id, changes, app.clock.now())
        .await?
        .ok_or_else(ApiError::not_found)?;
    Ok(Json(SecretRotatedView {
        public_id: id.to_string(),
        secret: secret.expose().to_owned(),
        only_shown_once: true,
    }))
}
