//! `POST /api/v1/client/webhooks`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ecf_api::{ApiError, Caller, CodedError, FieldError, Fields, FromFields, ValidJson, ValidationError};
use ecf_language::{Say, say};
use ecf_store::{
    WebhookId,
    webhooks::{NewWebhook, WEBHOOK_LIMIT, WebhookCreated, webhook_context},
};
use ecf_webhooks::{Subscription, SubscriptionError, WebhookSecret};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::list::WebhookView;

/// Where to deliver what, and optionally the secret to sign with.
#[derive(ToSchema)]
pub(crate) struct CreateWebhookRequest {
    /// Where deliveries are posted: https, and no private address.
    #[schema(format = "uri")]
    url: String,
    /// Event names; `*` and `ecf.*` mean the three fiscal states.
    #[schema(min_items = 1)]
    events: Vec<String>,
    /// Made by the service when it is left out.
    #[schema(min_length = 16, max_length = 256)]
    secret: Option<String>,
}

impl FromFields for CreateWebhookRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let url = fields.text("url").required();
        let events = fields.texts("events").required();
        let secret = fields.text("secret").secret().length(16..=256).optional();
        Some(Self {
            url: url?,
            events: events?,
            secret,
        })
    }
}

/// A new subscription with its secret, which is shown here and never again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookCreatedView {
    #[serde(flatten)]
    webhook: WebhookView,
    secret: String,
    only_shown_once: bool,
}

/// Crear un webhook
///
/// Subscribes an address to events.
#[utoipa::path(
    post,
    path = "/api/v1/client/webhooks",
    operation_id = "create_webhook",
    tag = "Webhooks",
    request_body = CreateWebhookRequest,
    responses(
        (status = 201, description = "Subscribed; the secret is shown once", body = WebhookCreatedView),
        (status = 409, description = "There are as many webhooks as there can be", body = CodedError),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<CreateWebhookRequest>,
) -> Result<(StatusCode, Json<WebhookCreatedView>), ApiError> {
    let (events, secret) = checked(&app, &request)?;
    let id = WebhookId::from_random(ecf_runtime::random());
    let sealed_secret = app
        .vault
        .seal(&webhook_context(&caller.scope, &id), secret.expose().as_bytes())
        .await?;
    let new = NewWebhook {
        id,
        url: request.url,
        events,
        is_active: true,
        sealed_secret,
        created_at: app.clock.now(),
    };
    match app.table.create_webhook(&caller.scope, new).await? {
        WebhookCreated::New(webhook) => {
            let view = WebhookCreatedView {
                webhook: (*webhook).into(),
                secret: secret.expose().to_owned(),
                only_shown_once: true,
            };
            Ok((StatusCode::CREATED, Json(view)))
        }
        WebhookCreated::LimitReached => {
            let message = say!(
                "this environment has {WEBHOOK_LIMIT} webhooks, the most there can be; remove one first",
                "este ambiente tiene {WEBHOOK_LIMIT} webhooks, el máximo posible; elimine uno primero"
            );
            Err(ApiError::conflict("webhook_limit", message))
        }
        WebhookCreated::IdTaken => Err(ApiError::internal("a random webhook id was taken")),
    }
}

/// Validates all fields and collects the errors: the address, each unknown event, the secret.
fn checked(app: &App, request: &CreateWebhookRequest) -> Result<(Vec<String>, WebhookSecret), ApiError> {
    let mut errors = Vec::new();
    checked_url(app, &request.url, &mut errors);
    let events = checked_events(&request.events, &mut errors);
    let secret = checked_secret(request.secret.as_deref(), &mut errors);
    match (events, secret) {
        (Some(events), Some(secret)) if errors.is_empty() => Ok((events, secret)),
        _ => Err(ApiError::validation(errors)),
    }
}

pub(crate) fn checked_url(app: &App, url: &str, errors: &mut Vec<FieldError>) {
    if let Err(error) = app.client.guard().check_url(url) {
        let input = ecf::Node::Text(url.into());
        errors.push(FieldError::new(["body", "url"], "url_error", error.say()).with_input(&input));
    }
}

pub(crate) fn checked_events(events: &[String], errors: &mut Vec<FieldError>) -> Option<Vec<String>> {
    match Subscription::parse(events) {
        Ok(events) => Some(events.into_names()),
        Err(faults) => {
            errors.extend(faults.iter().map(event_error));
            None
        }
    }
}

/// The given secret, or a new one.
pub(crate) fn checked_secret(given: Option<&str>, errors: &mut Vec<FieldError>) -> Option<WebhookSecret> {
    let Some(given) = given else {
        return Some(WebhookSecret::generate(&ecf_runtime::random()));
    };
    match WebhookSecret::parse(given) {
        Ok(secret) => Some(secret),
        Err(error) => {
            errors.push(FieldError::new(["body", "secret"], "value_error", error.say()));
            None
        }
    }
}

fn event_error(fault: &SubscriptionError) -> FieldError {
    let loc = ["body".to_owned(), "events".to_owned()];
    match fault {
        SubscriptionError::Empty => FieldError::new(loc, "too_short", fault.say()),
        SubscriptionError::Unknown { index, given } => {
            let loc = loc.into_iter().chain([index.to_string()]);
            FieldError::new(loc, "enum", fault.say()).with_input(&ecf::Node::Text(given.as_str().into()))
        }
    }
}
