//! `POST /api/v1/client/webhooks/{id}/deliveries/{delivery_id}/redeliver`.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use ecf_api::{ApiError, Caller, CodedError, ValidationError};
use ecf_language::say;
use ecf_store::{
    DeliveryId, EventKey, Scope, Subject, WebhookId, WebhookJob, deliveries::Delivery, undelivered::Undelivered,
    waits::MESSAGE_GRACE,
};
use ecf_webhooks::event_body;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::App;

/// What is delivered once more.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RedeliveryView {
    /// The attempt that was pointed at.
    delivery_id: u64,
    event: String,
    /// The number that the next attempt has.
    attempt: u32,
}

/// Reenviar una entrega
///
/// Delivers an event once more with the same bytes, at once, and then like any other event until its new day is over.
#[utoipa::path(
    post,
    path = "/api/v1/client/webhooks/{public_id}/deliveries/{delivery_id}/redeliver",
    operation_id = "redeliver",
    tag = "Webhooks",
    params(
        ("public_id" = String, Path, description = "The webhook's id"),
        ("delivery_id" = u64, Path, description = "Any attempt at the event, from the list of deliveries"),
    ),
    responses(
        (status = 202, description = "Queued; the attempt appears among the deliveries", body = RedeliveryView),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 409, description = "The webhook is off, or the event cannot be sent again", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn redeliver(
    State(app): State<App>,
    caller: Caller,
    Path((webhook, delivery)): Path<(String, String)>,
) -> Result<(StatusCode, Json<RedeliveryView>), ApiError> {
    let scope = &caller.scope;
    let id: WebhookId = webhook.parse().map_err(|_| ApiError::not_found())?;
    let delivery: DeliveryId = delivery.parse().map_err(|_| ApiError::not_found())?;
    let webhook = app.table.webhook(scope, &id).await?.ok_or_else(ApiError::not_found)?;
    let delivery = app
        .table
        .delivery(scope, &id, delivery)
        .await?
        .ok_or_else(ApiError::not_found)?;
    if !webhook.is_active {
        let message = say!(
            "the webhook is switched off; set is_active to true first",
            "el webhook está desactivado; ponga primero is_active en true"
        );
        return Err(ApiError::conflict("webhook_inactive", message));
    }
    let (key, body) = same_bytes(&app, scope, &delivery).await?;
    if webhook.failing_since.is_some() {
        // The request implies that the receiver works again.
        app.table.webhook_recovered(scope, &id).await?;
    }
    let now = app.clock.now();
    let new = Undelivered {
        key,
        event: delivery.event.clone(),
        body,
        since: now,
        attempts: delivery.attempt,
        due_at: Some(now + MESSAGE_GRACE),
    };
    let attempts = if app.table.store_undelivered(scope, &id, &new).await? {
        new.attempts
    } else {
        // The event is already waiting: its next attempt comes now.
        let waiting = app.table.undelivered(scope, &id, &key).await?;
        waiting.map_or(new.attempts, |waiting| waiting.attempts)
    };
    let attempt = attempts.saturating_add(1);
    let job = WebhookJob::Deliver {
        scope: *scope,
        webhook: id,
        event: key,
        attempt,
        slow: false,
    };
    app.queues.send_webhook(&job, Duration::ZERO).await?;
    let view = RedeliveryView {
        delivery_id: delivery.id.as_u64(),
        event: delivery.event,
        attempt,
    };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// The bytes of the earlier delivery: rebuilt from the stored record, and verified against their hash.
async fn same_bytes(app: &App, scope: &Scope, delivery: &Delivery) -> Result<(EventKey, Vec<u8>), ApiError> {
    let (key, body) = match delivery.subject {
        None => {
            let message = say!(
                "a dry run is not repeated; ask for another test",
                "una prueba no se repite; pida otra prueba"
            );
            return Err(ApiError::conflict("delivery_not_repeatable", message));
        }
        Some(subject @ Subject::Receipt(id)) => {
            let receipt = app.table.receipt(scope, &id).await?.ok_or_else(ApiError::not_found)?;
            let (_, body) = event_body(&receipt, &app.stamp_hosts).map_err(ApiError::internal)?;
            let at = receipt.completed_at.unwrap_or(receipt.updated_at);
            (EventKey::new(at, subject), body)
        }
        Some(subject @ Subject::Announcement(id)) => {
            let announcement = app.table.announcement(scope, &id).await?;
            let announcement = announcement.ok_or_else(ApiError::not_found)?;
            (EventKey::new(announcement.at, subject), announcement.body)
        }
    };
    let digest: [u8; 32] = Sha256::digest(&body).into();
    if delivery.body_sha256 != Some(digest) {
        let message = say!(
            "the event would not have the same bytes any more; read the receipt instead",
            "el evento ya no tendría los mismos bytes; lea el comprobante"
        );
        return Err(ApiError::conflict("delivery_not_repeatable", message));
    }
    Ok((key, body))
}
