//! `GET /api/v1/client/webhooks/{id}/deliveries`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Instant, ListView, Page, PathId, ValidQuery, ValidationError};
use ecf_store::{WebhookId, deliveries::Delivery};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// One attempt at delivering an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliveryView {
    /// An integer below 2^53, so that every JSON reader keeps it exact.
    id: u64,
    event: String,
    attempt: u32,
    /// What the receiver answered with; absent when it did not answer.
    status_code: Option<u16>,
    response_excerpt: Option<String>,
    succeeded: bool,
    sent_at: Instant,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.id.as_u64(),
            event: delivery.event,
            attempt: delivery.attempt,
            status_code: delivery.status_code,
            response_excerpt: delivery.response_excerpt,
            succeeded: delivery.succeeded,
            sent_at: delivery.sent_at.into(),
        }
    }
}

/// Entregas de un webhook
///
/// The attempts of the last 90 days, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/client/webhooks/{public_id}/deliveries",
    operation_id = "list_deliveries",
    tag = "Webhooks",
    params(
        ("public_id" = String, Path, description = "The webhook's id"),
        Page,
    ),
    responses(
        (status = 200, description = "The attempts of the last 90 days, newest first", body = ListView<DeliveryView>),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn deliveries(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<WebhookId>,
    ValidQuery(page): ValidQuery<Page>,
) -> Result<Json<ListView<DeliveryView>>, ApiError> {
    app.table
        .webhook(&caller.scope, &id)
        .await?
        .ok_or_else(ApiError::not_found)?;
    let (limit, offset) = (page.limit as usize, usize::try_from(page.offset).unwrap_or(usize::MAX));
    let (items, total) = app
        .table
        .deliveries(&caller.scope, &id, limit, offset, app.clock.now())
        .await?;
    let items = items.into_iter().map(DeliveryView::from).collect();
    Ok(Json(ListView::new(items, total as u64, page)))
}
