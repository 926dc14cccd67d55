//! `POST /api/v1/ecf`: from the caller's JSON to a signed, stored and queued receipt.
//!
//! The order is the promise. Nothing is kept before the document has passed every check; the signed bytes are in S3 before
//! the record names them; the record and its number's lock are one transaction; only then is the submission queued. Whatever
//! dies in between leaves either nothing, or a record that housekeeping finds.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ecf::{Ecf, ReceiptState};
use ecf_api::{ApiError, Caller, CodedError, DocumentView, FieldError, ValidJson, ValidQuery, ValidationError};
use ecf_store::{Created, Mode, NewNote, NewReceipt, Receipt, ReceiptId, SubmissionJob};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::check::{Checked, check, refused};
use crate::note;
use crate::numbering::{Number, take};
use crate::request::{IssueQuery, IssueRequest};
use crate::signing::{SignedDocument, identity, sign};
use crate::validate;

/// A number that turns out to be locked is skipped. So many in a row are no race but a range that was used elsewhere.
const NUMBER_ATTEMPTS: usize = 20;
/// How often a note is judged again because others changed the receipt that it modifies.
const NOTE_ROUNDS: usize = 8;

/// What was asked for, by whom.
struct Order<'r> {
    caller: &'r Caller,
    request: &'r IssueRequest,
    mode: Mode,
    /// Whether the company's notes wait for the verdict on what they modify.
    holds_notes: bool,
    id: ReceiptId,
    payload_hash: [u8; 32],
}

/// Issues a receipt, or answers with the one that this key has already.
#[utoipa::path(
    post,
    path = "/api/v1/ecf",
    tag = "Comprobantes",
    summary = "Emitir un comprobante",
    params(
        ("mode" = Option<String>, Query, description = "`online` (the default): sent at once. `deferred`: sent by the worker later"),
        ("on_conditional" = Option<String>, Query, description = "What the authority would accept only conditionally: `refuse` (the default in TesteCF and CerteCF) or `warn` (the default in production); a company may set another default"),
        ("validate_only" = Option<bool>, Query, description = "Everything but keeping: the forecast of the verdict, warnings, totals and the document; no number is taken"),
        ("amounts" = Option<String>, Query, description = "`scaled`: amounts get their decimals, what is left out is computed. `verbatim` (the default in CerteCF): written as given, nothing is added"),
    ),
    request_body = IssueRequest,
    responses(
        (status = 201, description = "Issued: signed, stored and queued", body = IssuedView),
        (status = 200, description = "The key has its receipt already: this is it, whatever the payload. With `validate_only`: the forecast, a `ValidationView`", body = IssuedView,
            headers(("Idempotency-Replayed" = String), ("Idempotency-Payload-Differs" = String))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "The number is used, the range is numbered by the other side, or the certificate does not serve", body = CodedError),
        (status = 422, description = "Every bad field of the request and the document", body = ValidationError),
        (status = 503, description = "Nothing was kept; send the same request again", body = CodedError),
    ),
    security(("api_key" = [])),
)]
pub(crate) async fn issue(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<IssueQuery>,
    ValidJson(request): ValidJson<IssueRequest>,
) -> Result<Response, ApiError> {
    issue_one(&app, &caller, &query, request).await
}

/// Issues one receipt of a request that may carry several.
pub(crate) async fn issue_one(
    app: &App,
    caller: &Caller,
    query: &IssueQuery,
    request: IssueRequest,
) -> Result<Response, ApiError> {
    caller.check_environment(request.environment)?;
    if query.validate_only {
        let now = app.clock.now();
        let settings = app.settings(caller).await?;
        let checked = check(caller, &request, query, &settings, now)?;
        return validate::answer(app, caller, checked, &settings, now).await;
    }
    let id = ReceiptId::of_receipt(&caller.scope, &request.idempotency_key);
    let payload_hash = request.payload.payload_hash();
    if let Some(existing) = app.table.receipt(&caller.scope, &id).await? {
        return Ok(replayed(app, &existing, payload_hash));
    }
    refuse_schedule(app, &request)?;
    let settings = app.settings(caller).await?;
    let Checked { ecf, mut warnings, .. } = check(caller, &request, query, &settings, app.clock.now())?;
    let note = note::judge(app, &caller.scope, &ecf, settings.hold_notes).await?;
    warnings.extend(note::waits(note.as_ref()));
    let order = Order {
        caller,
        request: &request,
        mode: query.mode,
        holds_notes: settings.hold_notes,
        id,
        payload_hash,
    };
    let created = number_and_sign(app, &order, &ecf, note).await?;
    match created {
        Created::New(receipt) => {
            queue(app, &receipt).await;
            Ok((
                StatusCode::CREATED,
                Json(IssuedView {
                    document: app.view(&receipt),
                    warnings,
                }),
            )
                .into_response())
        }
        Created::Replay(existing) => Ok(replayed(app, &existing, payload_hash)),
        Created::ModifiedChanged => Err(ApiError::unavailable(std::time::Duration::from_secs(1))
            .caused_by("others kept changing the modified receipt")),
        Created::NumberTaken => Err(ApiError::conflict(
            "encf_already_used",
            "another receipt has this eNCF; leave eNCF out to be given the next free number",
        )),
    }
}

/// The receipt, and what the caller should know about the document although it was issued.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssuedView {
    #[serde(flatten)]
    document: DocumentView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<FieldError>,
}

/// Receipts for a later instant need a worker that signs; until there is one they are refused, not kept unsigned.
fn refuse_schedule(app: &App, request: &IssueRequest) -> Result<(), ApiError> {
    match request.scheduled_for {
        Some(when) if when > app.clock.now() => {
            let msg = format!(
                "scheduled_for is {when}; issuing at a later instant is not offered yet: send the receipt when it is due"
            );
            Err(ApiError::validation(vec![FieldError::new(
                ["body", "scheduled_for"],
                "value_error",
                msg,
            )]))
        }
        _ => Ok(()),
    }
}

/// Takes numbers until one is ours: sign, store the bytes, then write the record and the lock together.
async fn number_and_sign(app: &App, order: &Order<'_>, ecf: &Ecf, note: Option<NewNote>) -> Result<Created, ApiError> {
    let (caller, request, id) = (order.caller, order.request, order.id);
    let identity = identity(app, caller, app.clock.now()).await?;
    for _ in 0..NUMBER_ATTEMPTS {
        let now = app.clock.now();
        let Number {
            encf,
            valid_until,
            chosen_by_caller,
        } = take(app, &caller.scope, ecf, now).await?;
        let numbered = ecf
            .clone()
            .numbered(encf, valid_until)
            .map_err(|violation| refused(vec![*violation]))?;
        let SignedDocument { signed, xml, rfce } = sign(&numbered, &identity, now)?;
        app.artifacts.put_signed(&caller.scope, now, &id, xml, rfce).await?;
        let new = NewReceipt {
            public_id: id,
            company_rnc: caller.rnc.clone(),
            idempotency_key: request.idempotency_key.clone(),
            payload_hash: order.payload_hash,
            ecf_type: request.ecf_type,
            external_id: request.external_id.clone(),
            mode: order.mode,
            state: ReceiptState::Signed,
            created_at: now,
            scheduled_for: request.scheduled_for,
            monto_total: numbered.monto_total().to_string(),
            rnc_comprador: numbered.rnc_comprador().map(ToString::to_string),
            fecha_emision: numbered.fecha_emision(),
            signed: Some(signed),
            payload: None,
            note,
        };
        match create(app, order, ecf, new).await? {
            Created::NumberTaken if !chosen_by_caller => {
                tracing::warn!(company.rnc = %caller.rnc, "a number of the range was locked already; taking the next");
            }
            created => return Ok(created),
        }
    }
    Err(ApiError::unavailable(std::time::Duration::from_secs(1)).caused_by("twenty numbers in a row were locked"))
}

/// Writes the record. A note whose modified receipt changed since it was judged is judged again: two that fit each by itself
/// need not fit together.
async fn create(app: &App, order: &Order<'_>, ecf: &Ecf, mut new: NewReceipt) -> Result<Created, ApiError> {
    let scope = &order.caller.scope;
    for _ in 0..NOTE_ROUNDS {
        match app.table.create_receipt(scope, new.clone()).await? {
            Created::ModifiedChanged => {
                new.note = note::judge(app, scope, ecf, order.holds_notes).await?;
            }
            created => return Ok(created),
        }
    }
    Ok(Created::ModifiedChanged)
}

/// Queues the submission and counts the receipt. It is kept already: what fails here, housekeeping makes good.
async fn queue(app: &App, receipt: &Receipt) {
    if let Err(error) = app
        .table
        .count_created(&receipt.scope, receipt.day(), receipt.ecf_type)
        .await
    {
        tracing::warn!(receipt.id = %receipt.public_id, error = %error, "not counted");
    }
    if receipt.mode == Mode::Deferred {
        return;
    }
    let job = SubmissionJob::Send {
        company: receipt.scope.company,
        environment: receipt.scope.environment,
        receipt: receipt.public_id,
        attempt: 0,
    };
    if let Err(error) = app.queues.send_submission(&job, std::time::Duration::ZERO).await {
        tracing::warn!(receipt.id = %receipt.public_id, error = %error, "submission not queued; housekeeping will");
    }
}

/// The answer to a key that has its receipt: 200 with the receipt as it stands now, whatever the payload.
fn replayed(app: &App, receipt: &Receipt, payload_hash: [u8; 32]) -> Response {
    let differs = if receipt.payload_hash == payload_hash {
        "false"
    } else {
        "true"
    };
    let headers = [
        ("Idempotency-Replayed", "true"),
        ("Idempotency-Payload-Differs", differs),
    ];
    (StatusCode::OK, headers, Json(app.view(receipt))).into_response()
}
