//! `/api/v1/client/certification/attempts`: attempts of the certification, in CerteCF.
//!
//! After the authority resets a step, its workbook may prescribe numbers that an earlier attempt has used. A new
//! attempt frees them. Receipts of the earlier attempt remain readable by id; those that were not sent yet are never
//! sent.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ecf::Environment;
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, Instant, ValidJson, ValidationError};
use ecf_language::say;
use ecf_store::attempts::{Attempt, AttemptBegun};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// The first attempt begins with the company.
const FIRST: u32 = 1;

/// A new attempt.
#[derive(Debug, ToSchema)]
pub(crate) struct BeginAttemptRequest {
    /// The same key again begins no other attempt.
    #[schema(min_length = 1, max_length = 100)]
    idempotency_key: String,
    /// May repeat the key's environment, never name another one.
    #[schema(value_type = Option<String>, example = "CerteCF")]
    environment: Option<Environment>,
}

impl FromFields for BeginAttemptRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let idempotency_key = fields.text("idempotency_key").length(1..=100).required();
        let environment = fields.environment("environment").optional();
        Some(Self {
            idempotency_key: idempotency_key?,
            environment,
        })
    }
}

/// An attempt of the certification.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct AttemptView {
    /// 1, 2, 3 …
    #[schema(minimum = 1, example = 2)]
    attempt: u32,
    /// `null`: it is the first, which began with the company.
    #[schema(value_type = Option<String>, format = DateTime)]
    begun_at: Option<Instant>,
    /// Whether receipts and approvals that are sent now belong to it.
    is_current: bool,
}

impl AttemptView {
    fn of(attempt: &Attempt, is_current: bool) -> Self {
        Self {
            attempt: attempt.number,
            begun_at: Some(attempt.begun_at.into()),
            is_current,
        }
    }
}

/// The attempts, the current one first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AttemptsView {
    items: Vec<AttemptView>,
    total: usize,
}

/// Iniciar un nuevo intento de certificación
///
/// Begins a new attempt of the certification after the tax authority has reset a step. From now on a receipt may have a number
/// that a receipt of an earlier attempt has, and a receipt that was approved or rejected before may be answered again. Earlier
/// receipts stay readable by their id and keep their idempotency keys: send the workbook with new keys. What was not sent yet
/// fails as `attempt_abandoned`.
#[utoipa::path(
    post,
    path = "/api/v1/client/certification/attempts",
    operation_id = "begin_certification_attempt",
    tag = "Certificacion",
    request_body = BeginAttemptRequest,
    responses(
        (status = 201, description = "The new attempt", body = AttemptView),
        (status = 200, description = "The key began this attempt before", body = AttemptView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`certification_only`: the key is not of CerteCF", body = CodedError),
        (status = 422, description = "Every bad or unknown field; another environment than the key's", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn begin(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<BeginAttemptRequest>,
) -> Result<(StatusCode, Json<AttemptView>), ApiError> {
    caller.check_environment(request.environment)?;
    only_certification(&caller)?;
    let (scope, now) = (&caller.scope, app.clock.now());
    match app.table.begin_attempt(scope, &request.idempotency_key, now).await? {
        AttemptBegun::New(attempt) => Ok((StatusCode::CREATED, Json(AttemptView::of(&attempt, true)))),
        AttemptBegun::Replay(attempt) => {
            let newest = app.table.attempts(scope).await?;
            let is_current = newest.first().is_some_and(|newest| newest.number == attempt.number);
            Ok((StatusCode::OK, Json(AttemptView::of(&attempt, is_current))))
        }
    }
}

/// Listar los intentos de certificación
///
/// The attempts of the certification, the current one first.
#[utoipa::path(
    get,
    path = "/api/v1/client/certification/attempts",
    operation_id = "list_certification_attempts",
    tag = "Certificacion",
    responses(
        (status = 200, description = "The attempts, the current one first", body = AttemptsView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`certification_only`: the key is not of CerteCF", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<AttemptsView>, ApiError> {
    only_certification(&caller)?;
    let attempts = app.table.attempts(&caller.scope).await?;
    let first = AttemptView {
        attempt: FIRST,
        begun_at: None,
        is_current: attempts.is_empty(),
    };
    let begun = attempts.iter().enumerate();
    let mut items: Vec<_> = begun
        .map(|(place, attempt)| AttemptView::of(attempt, place == 0))
        .collect();
    items.push(first);
    let total = items.len();
    Ok(Json(AttemptsView { items, total }))
}

fn only_certification(caller: &Caller) -> Result<(), ApiError> {
    match caller.environment() {
        Environment::CerteCF => Ok(()),
        other => Err(ApiError::conflict(
            "certification_only",
            say!(
                "attempts belong to the certification: call with an API key of CerteCF, this one is of {other}",
                "los intentos son de la certificación: llame con una clave de API de CerteCF, esta es de {other}"
            ),
        )),
    }
}
