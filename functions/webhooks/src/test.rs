//! `POST /api/v1/client/webhooks/{id}/test`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, PathId, Spoken, ValidationError};
use ecf_language::{Bilingual, Say, say};
use ecf_store::{DeliveryId, Scope, WebhookId, deliveries::Delivery, webhooks::webhook_context};
use ecf_webhooks::{EventName, WebhookSecret, deliver, test_event_body};
use jiff::SignedDuration;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// Upper bound of the ids that are tried for one dry run.
const IDS: u32 = 64;

/// The lock of a dry run expires after this time. It is longer than the function's time limit, so the lock of an
/// aborted run expires by itself.
const HELD: SignedDuration = SignedDuration::from_secs(20);

/// How the receiver took the dry run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestView {
    event: &'static str,
    delivery_id: u64,
    succeeded: bool,
    status_code: Option<u16>,
    response_excerpt: Option<String>,
    /// Why there was no answer.
    #[schema(value_type = Option<String>)]
    error: Option<Spoken>,
}

/// Probar un webhook
///
/// Delivers `webhook.test` once, now, and returns the result: 200 whatever the receiver answers. A webhook has one dry run at a time.
#[utoipa::path(
    post,
    path = "/api/v1/client/webhooks/{public_id}/test",
    operation_id = "test_webhook",
    tag = "Webhooks",
    params(("public_id" = String, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "What the receiver did with `webhook.test`", body = TestView),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "Another dry run of this webhook is under way", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn test(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<TestView>, ApiError> {
    let webhook = app
        .table
        .webhook(&caller.scope, &id)
        .await?
        .ok_or_else(ApiError::not_found)?;
    let opened = app
        .vault
        .open(&webhook_context(&caller.scope, &id), &webhook.sealed_secret)
        .await?;
    let secret = std::str::from_utf8(&opened).map_err(ApiError::internal)?;
    let secret = WebhookSecret::parse(secret).map_err(ApiError::internal)?;
    let now = app.clock.now();
    let until = now + HELD;
    // A slow receiver occupies this function for seconds, so one webhook has one dry run at a time.
    if !app.table.begin_webhook_test(&caller.scope, &id, now, until).await? {
        let message = say!(
            "a dry run of this webhook is under way: wait for its answer, which comes within 15 seconds",
            "hay una prueba de este webhook en curso: espere su respuesta, que llega en 15 segundos"
        );
        return Err(ApiError::conflict("webhook_test_running", message));
    }
    let body = test_event_body(&id, caller.rnc.as_str(), now);
    let attempt = deliver(&app.client, &webhook.url, &secret, EventName::Test, body).await;
    if let Err(error) = app.table.end_webhook_test(&caller.scope, &id, until).await {
        tracing::warn!(%error, "the lock of a webhook test was not released; it expires within seconds");
    }
    let event = EventName::Test.as_str();
    let delivery = Delivery {
        id: DeliveryId::new(now.as_millisecond(), &id, event, 1),
        event: event.to_owned(),
        attempt: 1,
        status_code: attempt.status_code,
        response_excerpt: attempt.excerpt.clone().map(|text| Bilingual::same(text).into()),
        succeeded: attempt.succeeded,
        sent_at: now,
        subject: None,
        encf: None,
        body_sha256: None,
    };
    let delivery_id = record(&app, &caller.scope, &id, delivery).await?;
    if attempt.succeeded && webhook.failing_since.is_some() {
        // The receiver works again: deliver its parked events without waiting for the next probe.
        app.table.webhook_recovered(&caller.scope, &id).await?;
        if webhook.is_active && webhook.probe_at.is_some() {
            app.unpark(&caller.scope, &id).await;
        }
    }
    Ok(Json(TestView {
        event,
        delivery_id: delivery_id.as_u64(),
        succeeded: attempt.succeeded,
        status_code: attempt.status_code,
        response_excerpt: attempt.excerpt,
        error: attempt.error.map(|error| Spoken(error.say())),
    }))
}

/// Records a dry run under the next free id, because two runs in one millisecond are two deliveries.
async fn record(app: &App, scope: &Scope, id: &WebhookId, mut delivery: Delivery) -> Result<DeliveryId, ApiError> {
    for _ in 0..IDS {
        if app.table.record_delivery(scope, id, &delivery).await? {
            return Ok(delivery.id);
        }
        delivery.id = delivery.id.next();
    }
    Err(ApiError::internal("every delivery id of this millisecond is taken"))
}
