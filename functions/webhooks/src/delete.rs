//! `DELETE /api/v1/client/webhooks/{id}`.

use axum::extract::State;
use axum::http::StatusCode;
use ecf_api::{ApiError, Caller, CodedError, PathId, ValidationError};
use ecf_store::WebhookId;

use crate::App;

/// Eliminar un webhook
///
/// Removes a subscription with everything that waits for it.
#[utoipa::path(
    delete,
    path = "/api/v1/client/webhooks/{public_id}",
    operation_id = "delete_webhook",
    tag = "Webhooks",
    params(("public_id" = String, Path, description = "The webhook's id")),
    responses(
        (status = 204, description = "Removed; nothing is delivered to it any more"),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<WebhookId>,
) -> Result<StatusCode, ApiError> {
    if app.table.delete_webhook(&caller.scope, &id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::not_found())
    }
}
