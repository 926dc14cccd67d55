//! `POST /api/v1/ecf`: from the caller's JSON to a signed, stored and queued receipt.
//!
//! The order is the promise. Nothing is kept before the document has passed every check; the signed bytes are in S3 before
//! the record names them; the record and its number's lock are one transaction; only then is the submission queued. Whatever
//! dies in between leaves either nothing, or a record that housekeeping finds.
//!
//! A receipt that is not to be issued yet, or cannot be signed now, is kept with its request ([`crate::kept`]) and issued by
//! the worker ([`crate::later`]).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ecf::{Ecf, Environment, Numbered, ReceiptState};
use ecf_api::{
    ApiError, Caller, CodedError, DocumentView, FieldError, NotingCaller, ValidJson, ValidQuery, ValidationError,
};
use ecf_runtime::Metric;
use ecf_store::{Created, IssuingJob, Mode, NewNote, NewReceipt, Range, Receipt, ReceiptId, StoreError, SubmissionJob};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use xmldsig::Identity;

use crate::App;
use crate::check::{Checked, check, listed};
use crate::issuer::Issuer;
use crate::kept::{due, keep};
use crate::note;
use crate::request::{IssueQuery, IssueRequest};
use crate::signing::{NUMBER_ATTEMPTS, Ready, Signer, count_number, number_and_sign, signer};
use crate::validate::{self, NothingNewView};

/// How often a note is judged again because others changed the receipt that it modifies.
const NOTE_ROUNDS: usize = 8;
/// How long after a receipt was kept because the vault did not answer the worker tries it first.
const FIRST_TRY: std::time::Duration = std::time::Duration::from_secs(5);

/// What was asked for, by whom.
pub(crate) struct Order<'r> {
    pub(crate) issuer: &'r Issuer,
    pub(crate) request: &'r IssueRequest,
    pub(crate) query: &'r IssueQuery,
    /// Whether the company's notes wait for the verdict on what they modify.
    pub(crate) holds_notes: bool,
    pub(crate) id: ReceiptId,
    pub(crate) payload_hash: [u8; 32],
}

/// Emitir un comprobante
///
/// Issues a receipt, or answers with the one that this key has already.
#[utoipa::path(
    post,
    path = "/api/v1/ecf",
    tag = "Comprobantes",
    params(IssueQuery),
    request_body = IssueRequest,
    responses(
        (status = 201, description = "Issued: signed, stored and queued. `deferred`: kept until `scheduled_for`; `received`: kept, to be signed within minutes. Number, code and stamp of these two come when they are signed", body = IssuedView),
        (status = 200, description = "The key has its receipt already: this is it, whatever the payload. With `validate_only`: the forecast, a `ValidationView`", body = NothingNewView,
            headers(("Idempotency-Replayed" = String), ("Idempotency-Payload-Differs" = String))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "The number is used, the range is numbered by the other side, or the certificate does not serve", body = CodedError),
        (status = 422, description = "Every bad field of the request and the document", body = ValidationError),
        (status = 503, description = "Nothing was kept; send the same request again", body = CodedError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn issue(
    State(app): State<App>,
    NotingCaller(caller): NotingCaller,
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
    let issuer = Issuer::from(caller);
    if query.validate_only {
        let settings = app.settings_of_active(caller.company()).await?;
        let at = due(&request, app.clock.now())?.unwrap_or(app.clock.now());
        let checked = check(&issuer, &request, query, &settings, at)?;
        return validate::answer(app, &issuer.scope, checked, &settings, at).await;
    }
    let id = ReceiptId::of_receipt(&caller.scope, &request.idempotency_key);
    let payload_hash = request.payload.payload_hash();
    if let Some(existing) = app.table.receipt(&caller.scope, &id).await? {
        return Ok(replayed(app, &existing, payload_hash));
    }
    let settings = app.settings_of_active(caller.company()).await?;
    let now = app.clock.now();
    let due = due(&request, now)?;
    let Checked { ecf, mut warnings, .. } = check(&issuer, &request, query, &settings, due.unwrap_or(now))?;
    let note = note::judge(app, &caller.scope, &ecf, settings.hold_notes).await?;
    warnings.extend(note::waits(note.as_ref()));
    let order = Order {
        issuer: &issuer,
        request: &request,
        query,
        holds_notes: settings.hold_notes,
        id,
        payload_hash,
    };
    let (created, counts_in) = match due {
        Some(due) => (
            keep(app, &order, &ecf, (ReceiptState::Deferred, due), note).await?,
            None,
        ),
        None => match signer(app, caller.company(), now).await? {
            Signer::Here(identity) => issue_now(app, &order, &ecf, &identity, note).await?,
            Signer::OutOfReach(error) => {
                tracing::warn!(receipt.id = %id, error = %ecf_runtime::telemetry::chain(&error), "the vault does not answer; the worker signs later");
                (
                    keep(app, &order, &ecf, (ReceiptState::Received, now), note).await?,
                    None,
                )
            }
        },
    };
    match created {
        Created::New(receipt) => {
            if receipt.state == ReceiptState::Signed {
                tell(app, &receipt);
            }
            tokio::join!(
                count(app, caller, &receipt),
                count_number(app, &receipt, counts_in.as_deref())
            );
            queue(app, &receipt).await;
            Ok((
                StatusCode::CREATED,
                Json(IssuedView {
                    document: app.view(&receipt),
                    warnings: listed(&warnings),
                }),
            )
                .into_response())
        }
        Created::Replay(existing) => Ok(replayed(app, &existing, payload_hash)),
        Created::ModifiedChanged => Err(ApiError::unavailable(std::time::Duration::from_secs(1))
            .caused_by("others kept changing the modified receipt")),
        Created::NumberTaken => Err(number_taken(caller.environment())),
    }
}

/// In CerteCF a workbook prescribes the numbers, so another number is no way out.
fn number_taken(environment: Environment) -> ApiError {
    let message = match environment {
        Environment::CerteCF => {
            "another receipt of this attempt has this eNCF; when the tax authority has reset the step, begin a new attempt with POST /api/v1/client/certification/attempts and send the numbers again"
        }
        _ => "another receipt has this eNCF; leave eNCF out to be given the next free number",
    };
    ApiError::conflict("encf_already_used", message)
}

/// The receipt, and what the caller should know about the document although it was issued.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssuedView {
    #[serde(flatten)]
    document: DocumentView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<FieldError>,
}

/// Takes numbers until one is ours: sign, store the bytes, then write the record and the lock together. Gives the range in
/// which the number counts, when the caller numbers that.
async fn issue_now(
    app: &App,
    order: &Order<'_>,
    ecf: &Ecf,
    identity: &Identity,
    note: Option<NewNote>,
) -> Result<(Created, Option<Box<Range>>), ApiError> {
    let scope = &order.issuer.scope;
    for _ in 0..NUMBER_ATTEMPTS {
        let now = app.clock.now();
        let Ready {
            numbered,
            signed,
            chosen_by_caller,
            counts_in,
        } = number_and_sign(app, scope, &order.id, now, ecf, identity, now).await?;
        let numbered_encf = signed.encf;
        let new = NewReceipt {
            signed: Some(signed),
            note,
            ..new_receipt(order, &numbered, ReceiptState::Signed, now)
        };
        match create(app, order, ecf, new).await? {
            Created::NumberTaken if !chosen_by_caller => {
                tracing::warn!(company.rnc = %order.issuer.rnc, "a number of the range was locked already; taking the next");
                app.table.pass_if_annulled(scope, &numbered_encf).await?;
            }
            created => return Ok((created, counts_in)),
        }
    }
    Err(ApiError::unavailable(std::time::Duration::from_secs(1)).caused_by("twenty numbers in a row were locked"))
}

/// Writes the record. A note whose modified receipt changed since it was judged is judged again: two that fit each by itself
/// need not fit together.
pub(crate) async fn create(app: &App, order: &Order<'_>, ecf: &Ecf, mut new: NewReceipt) -> Result<Created, ApiError> {
    let scope = &order.issuer.scope;
    for _ in 0..NOTE_ROUNDS {
        // Whatever happens to its invoice until a kept note is issued: whoever sends it looks again.
        if new.signed.is_none()
            && let Some(note) = &mut new.note
        {
            note.held = true;
        }
        match app.table.create_receipt(scope, new.clone()).await? {
            Created::ModifiedChanged => {
                new.note = note::judge(app, scope, ecf, order.holds_notes).await?;
            }
            created => return Ok(created),
        }
    }
    Ok(Created::ModifiedChanged)
}

/// The record of a document, without number and signature.
pub(crate) fn new_receipt(order: &Order<'_>, numbered: &Numbered, state: ReceiptState, now: Timestamp) -> NewReceipt {
    let request = order.request;
    NewReceipt {
        public_id: order.id,
        company_rnc: order.issuer.rnc.clone(),
        idempotency_key: request.idempotency_key.clone(),
        payload_hash: order.payload_hash,
        ecf_type: request.ecf_type,
        external_id: request.external_id.clone(),
        mode: order.query.mode,
        state,
        created_at: now,
        scheduled_for: request.scheduled_for,
        monto_total: numbered.monto_total().to_string(),
        rnc_comprador: numbered.rnc_comprador().map(ToString::to_string),
        fecha_emision: numbered.fecha_emision(),
        signed: None,
        payload: None,
        note: None,
    }
}

/// Tells the operator of a receipt that was signed just now.
pub(crate) fn tell(app: &App, receipt: &Receipt) {
    tracing::info!(receipt.id = %receipt.public_id, company.id = %receipt.scope.company, ecf_type = %receipt.ecf_type, "issued");
    let environment = receipt.scope.environment.as_str();
    app.metrics
        .tell(environment, &[(Metric::ReceiptsIssued, 1)], app.clock.now());
}

/// Counts the receipt, and with it the use of the key. The consistency check mends a count that was lost.
async fn count(app: &App, caller: &Caller, receipt: &Receipt) {
    let counted = app
        .table
        .count_created(
            &receipt.scope,
            receipt.day(),
            receipt.ecf_type,
            &receipt.monto_total,
            Some((&caller.key_id, app.clock.now())),
        )
        .await;
    if let Err(error) = counted {
        tracing::warn!(receipt.id = %receipt.public_id, error = %error, "not counted");
    }
}

/// Queues the next step. The receipt is kept already: what fails here, housekeeping makes good.
async fn queue(app: &App, receipt: &Receipt) {
    let queued = match receipt.state {
        ReceiptState::Received => app.queues.send_issuing(&issuing(receipt), FIRST_TRY).await,
        ReceiptState::Signed if receipt.mode == Mode::Immediate => send(app, receipt).await,
        _ => return,
    };
    if let Err(error) = queued {
        tracing::warn!(receipt.id = %receipt.public_id, error = %error, "next step not queued; housekeeping will");
    }
}

fn issuing(receipt: &Receipt) -> IssuingJob {
    IssuingJob::Issue {
        company: receipt.scope.company,
        environment: receipt.scope.environment,
        receipt: receipt.public_id,
        attempt: 0,
    }
}

/// Queues the submission of a signed receipt.
pub(crate) async fn send(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    let job = SubmissionJob::Send {
        company: receipt.scope.company,
        environment: receipt.scope.environment,
        receipt: receipt.public_id,
        attempt: 0,
    };
    app.queues.send_submission(&job, std::time::Duration::ZERO).await
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
