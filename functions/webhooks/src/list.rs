//! `GET /api/v1/client/webhooks`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Instant, Spoken, ValidationError};
use ecf_store::webhooks::Webhook;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// A subscription. Its secret is not shown again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookView {
    pub(crate) public_id: String,
    pub(crate) url: String,
    pub(crate) events: Vec<String>,
    pub(crate) is_active: bool,
    pub(crate) created_at: Instant,
    pub(crate) updated_at: Instant,
    /// When the service deactivated it, because it failed for days or answered 410.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paused_at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(crate) paused_reason: Option<Spoken>,
    /// Since when it has failed; absent while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failing_since: Option<Instant>,
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        let (paused_at, paused_reason) = match webhook.paused {
            Some(pause) => (Some(pause.at.into()), Some(pause.reason.into())),
            None => (None, None),
        };
        Self {
            public_id: webhook.id.to_string(),
            url: webhook.url,
            events: webhook.events,
            is_active: webhook.is_active,
            created_at: webhook.created_at.into(),
            updated_at: webhook.updated_at.into(),
            paused_at,
            paused_reason,
            failing_since: webhook.failing_since.map(Into::into),
        }
    }
}

/// Listar webhooks
///
/// All subscriptions of the key's environment, oldest first.
#[utoipa::path(
    get,
    path = "/api/v1/client/webhooks",
    operation_id = "list_webhooks",
    tag = "Webhooks",
    responses(
        (status = 200, description = "All subscriptions, oldest first", body = Vec<WebhookView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<Vec<WebhookView>>, ApiError> {
    let webhooks = app.table.webhooks(&caller.scope).await?;
    Ok(Json(webhooks.into_iter().map(WebhookView::from).collect()))
}
