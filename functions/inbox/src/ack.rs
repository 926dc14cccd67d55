//! `POST /api/v1/client/inbox/{id}/ack`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Instant, PathId, ValidationError};
use ecf_store::InboxId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// An acknowledged receipt.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AckView {
    public_id: String,
    acked: bool,
    /// When it was acknowledged first.
    acked_at: Instant,
}

/// Confirmar un e-CF recibido
///
/// Notes that the caller has taken a receipt over. Doing it again answers with the first time.
#[utoipa::path(
    post,
    path = "/api/v1/client/inbox/{public_id}/ack",
    operation_id = "ack_inbox_item",
    tag = "Buzon",
    params(("public_id" = String, Path, description = "The receipt's id in the inbox")),
    responses(
        (status = 200, description = "Acknowledged, now or before", body = AckView),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn ack(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<InboxId>,
) -> Result<Json<AckView>, ApiError> {
    let now = app.clock.now();
    let item = app.table.ack_inbox_item(&caller.scope, &id, now).await?;
    let acked_at = item.and_then(|item| item.acked_at).ok_or_else(ApiError::not_found)?;
    Ok(Json(AckView {
        public_id: id.to_string(),
        acked: true,
        acked_at: acked_at.into(),
    }))
}
