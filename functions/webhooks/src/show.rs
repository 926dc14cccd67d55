//! `GET /api/v1/client/webhooks/{id}`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, PathId, ValidationError};
use ecf_store::WebhookId;

use crate::App;
use crate::list::WebhookView;

/// Consultar un webhook
///
/// One subscription.
#[utoipa::path(
    get,
    path = "/api/v1/client/webhooks/{public_id}",
    operation_id = "show_webhook",
    tag = "Webhooks",
    params(("public_id" = String, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "The subscription", body = WebhookView),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<WebhookView>, ApiError> {
    let webhook = app.table.webhook(&caller.scope, &id).await?;
    webhook
        .map(|webhook| Json(webhook.into()))
        .ok_or_else(ApiError::not_found)
}
