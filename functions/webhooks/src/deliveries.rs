//! `GET /api/v1/client/webhooks/{id}/deliveries`.

use axum::Json;
use axum::extract::State;
use ecf_api::{
    ApiError, Caller, CodedError, Fields, FromFields, Instant, ListView, Page, PathId, Spoken, ValidQuery,
    ValidationError,
};
use ecf_store::{ReceiptId, Subject, WebhookId, deliveries::Delivery};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;

/// Which attempts are asked for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeliveriesQuery {
    /// Only attempts for this receipt.
    #[param(value_type = Option<String>, pattern = "^[0-9a-hjkmnp-tv-z]{32}$")]
    public_id: Option<ReceiptId>,
    #[param(ignore)]
    page: Page,
}

impl FromFields for DeliveriesQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            public_id: fields.parsed("public_id").optional(),
            page: Page::read(fields)?,
        })
    }
}

/// One attempt at delivering an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliveryView {
    /// An integer below 2^53, so that every JSON reader represents it exactly.
    id: u64,
    event: String,
    /// The `public_id` of the event: the receipt's, or that of the announcement; `null` for a dry run.
    public_id: Option<String>,
    /// The number of the receipt; `null` for events without one, and for attempts of before 2026-12.
    encf: Option<String>,
    attempt: u32,
    /// What the receiver answered with; absent when it did not answer.
    status_code: Option<u16>,
    #[schema(value_type = Option<String>)]
    response_excerpt: Option<Spoken>,
    succeeded: bool,
    sent_at: Instant,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.id.as_u64(),
            event: delivery.event,
            public_id: delivery.subject.map(|subject| match subject {
                Subject::Receipt(id) => id.to_string(),
                Subject::Announcement(id) => id.to_string(),
            }),
            encf: delivery.encf,
            attempt: delivery.attempt,
            status_code: delivery.status_code,
            response_excerpt: delivery.response_excerpt.map(Into::into),
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
        DeliveriesQuery,
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
    ValidQuery(DeliveriesQuery { public_id, page }): ValidQuery<DeliveriesQuery>,
) -> Result<Json<ListView<DeliveryView>>, ApiError> {
    app.table
        .webhook(&caller.scope, &id)
        .await?
        .ok_or_else(ApiError::not_found)?;
    let part = (page.limit as usize, usize::try_from(page.offset).unwrap_or(usize::MAX));
    let (items, total) = app
        .table
        .deliveries(
            &caller.scope,
            &id,
            public_id.map(Subject::Receipt),
            part,
            app.clock.now(),
        )
        .await?;
    let items = items.into_iter().map(DeliveryView::from).collect();
    Ok(Json(ListView::new(items, total as u64, page)))
}
