//! `PATCH /api/v1/client/webhooks/{id}`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, PathId, ValidJson, ValidationError};
use ecf_store::{
    Scope, WebhookId,
    webhooks::{Webhook, WebhookChanges},
};
use utoipa::ToSchema;

use crate::App;
use crate::create::{checked_events, checked_url};
use crate::list::WebhookView;

/// What changes; what is left out stays.
#[derive(ToSchema)]
pub(crate) struct UpdateWebhookRequest {
    /// Where deliveries are posted from the next attempt on, retries included.
    #[schema(format = "uri")]
    url: Option<String>,
    /// Event names, all of them: they replace the former ones.
    #[schema(min_items = 1)]
    events: Option<Vec<String>>,
    /// `false` ends deliveries; `true` resumes them, with what waits and is not older than a day.
    is_active: Option<bool>,
}

impl FromFields for UpdateWebhookRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            url: fields.text("url").optional(),
            events: fields.texts("events").optional(),
            is_active: fields.boolean("is_active").optional(),
        })
    }
}

/// Cambiar un webhook
///
/// Changes a subscription.
#[utoipa::path(
    patch,
    path = "/api/v1/client/webhooks/{public_id}",
    operation_id = "update_webhook",
    tag = "Webhooks",
    params(("public_id" = String, Path, description = "The webhook's id")),
    request_body = UpdateWebhookRequest,
    responses(
        (status = 200, description = "The subscription as it is now", body = WebhookView),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<WebhookId>,
    ValidJson(request): ValidJson<UpdateWebhookRequest>,
) -> Result<Json<WebhookView>, ApiError> {
    let changes = checked(&app, request)?;
    let webhook = app
        .table
        .update_webhook(&caller.scope, &id, changes, app.clock.now())
        .await?
        .ok_or_else(ApiError::not_found)?;
    release(&app, &caller.scope, &webhook).await;
    Ok(Json(webhook.into()))
}

/// Enqueues the parked events of a webhook that is on and may work again.
pub(crate) async fn release(app: &App, scope: &Scope, webhook: &Webhook) {
    if webhook.is_active && webhook.failing_since.is_none() && webhook.probe_at.is_some() {
        app.unpark(scope, &webhook.id).await;
    }
}

fn checked(app: &App, request: UpdateWebhookRequest) -> Result<WebhookChanges, ApiError> {
    let mut errors = Vec::new();
    if let Some(url) = &request.url {
        checked_url(app, url, &mut errors);
    }
    let events = request.events.and_then(|events| checked_events(&events, &mut errors));
    if !errors.is_empty() {
        return Err(ApiError::validation(errors));
    }
    Ok(WebhookChanges {
        url: request.url,
        events,
        is_active: request.is_active,
        sealed_secret: None,
    })
}
