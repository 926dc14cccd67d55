//! `POST /api/v1/ecf`: turns the caller's JSON into a signed, stored and enqueued receipt.
//!
//! The order of the steps is the guarantee. Nothing is stored before the document has passed every check. The signed
//! bytes are in S3 before the record refers to them. The record and the lock of its number are one transaction. Only
//! then is the submission enqueued. A crash in between leaves either nothing, or a record that housekeeping finds.
//!
//! A receipt that is scheduled, or cannot be signed now, is stored with its request ([`crate::stored`]) and issued by the
//! worker ([`crate::later`]).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ecf::{Ecf, Environment, FailReason, Numbered, ReceiptState};
use ecf_api::{ApiError, Caller, CodedError, RecordingCaller, ValidJson, ValidQuery, ValidationError, Wait};
use ecf_issuance::{create, note};
use ecf_language::say;
use ecf_store::{
    NextStep, Receipt, ReceiptId,
    numbers::Range,
    receipts::{Created, Mode, NewNote, NewReceipt, Signed},
};
use jiff::Timestamp;
use serde::Serialize;
use xmldsig::Identity;

use crate::App;
use crate::check::{Checked, check, listed};
use crate::issuer::Issuer;
use crate::record::{Issuance, new_receipt, report_issued, send};
use crate::replay;
use crate::request::{IssueQuery, IssueRequest, WaitingQuery};
use crate::signing::{Record, Signer, Unsigned, count_number, signer, with_a_number};
use crate::stored::{due, store_request};
use crate::validate;
use crate::views::{IssuedView, NothingNewView, ValidationView};

/// Delay of the worker's first attempt for a receipt that was stored because the vault did not answer.
const FIRST_TRY: std::time::Duration = std::time::Duration::from_secs(5);

/// Emitir un comprobante
///
/// Issues a receipt, or answers with the one that this key has already.
#[utoipa::path(
    post,
    path = "/api/v1/ecf",
    tag = "Comprobantes",
    params(IssueQuery, Wait),
    request_body = IssueRequest,
    responses(
        (status = 201, description = "Issued: signed, stored and queued. `deferred`: kept until `scheduled_for`; `received`: kept, to be signed within minutes. Number, code and stamp of these two come when they are signed", body = IssuedView),
        (status = 200, description = "The key has its receipt already: this is it, whatever the payload; `warnings` has REPETICION-01 when the request differs. With `validate_only`: the forecast, a `ValidationView`", body = NothingNewView,
            headers(("Idempotency-Replayed" = String), ("Idempotency-Payload-Differs" = String))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "The number is used, the range is numbered by the other side, the certificate does not serve, or `on_replay=refuse` and the key has another receipt", body = CodedError),
        (status = 422, description = "Every bad field of the request and the document", body = ValidationError),
        (status = 503, description = "Nothing was stored; send the same request again", body = CodedError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn issue(
    State(app): State<App>,
    RecordingCaller(caller): RecordingCaller,
    ValidQuery(WaitingQuery { query, wait }): ValidQuery<WaitingQuery>,
    ValidJson(request): ValidJson<IssueRequest>,
) -> Result<Response, ApiError> {
    let mut issued = issue_one(&app, &caller, &query, request).await?;
    if let Issued::New { view, receipt } | Issued::Replayed { view, receipt, .. } = &mut issued
        && let Some(ended) = wait.for_end(&app.table, receipt).await
    {
        view.document = app.view(&ended);
    }
    let answer = match issued {
        Issued::New { view, .. } => (StatusCode::CREATED, Json(view)).into_response(),
        Issued::Replayed { view, differs, .. } => {
            let headers = [
                ("Idempotency-Replayed", "true"),
                ("Idempotency-Payload-Differs", if differs { "true" } else { "false" }),
            ];
            (StatusCode::OK, headers, Json(view)).into_response()
        }
        Issued::Forecast(view) => Json(view).into_response(),
    };
    Ok(answer)
}

/// The result of a request to issue.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Issued {
    /// The receipt was signed, or stored to be signed later.
    New {
        #[serde(flatten)]
        view: Box<IssuedView>,
        #[serde(skip)]
        receipt: Box<Receipt>,
    },
    /// The key already has a receipt; `differs` when its payload was another one.
    Replayed {
        #[serde(flatten)]
        view: Box<IssuedView>,
        #[serde(skip)]
        differs: bool,
        #[serde(skip)]
        receipt: Box<Receipt>,
    },
    /// The answer to a request with `validate_only`.
    Forecast(Box<ValidationView>),
}

impl Issued {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::New { .. } => StatusCode::CREATED,
            Self::Replayed { .. } | Self::Forecast(_) => StatusCode::OK,
        }
    }
}

/// Issues one receipt; the request may carry several.
pub(crate) async fn issue_one(
    app: &App,
    caller: &Caller,
    query: &IssueQuery,
    request: IssueRequest,
) -> Result<Issued, ApiError> {
    caller.check_environment(request.environment)?;
    let issuer = Issuer::from(caller);
    let settings = async || app.settings_of_active(caller.company()).await;
    if query.validate_only {
        let settings = settings().await?;
        let at = due(&request, app.clock.now())?.unwrap_or(app.clock.now());
        let checked = check(&issuer, &request, query, &settings, at)?;
        let forecast = validate::forecast(app, &issuer.scope, checked, &settings, at).await?;
        return Ok(Issued::Forecast(Box::new(forecast)));
    }
    let id = ReceiptId::of_receipt(&caller.scope, &request.idempotency_key);
    let payload_hash = request.payload.payload_hash();
    let replayed = |existing: Receipt| -> Result<Issued, ApiError> {
        let warning = replay::compare(app, &existing, &request, query, payload_hash)?;
        Ok(Issued::Replayed {
            view: Box::new(IssuedView {
                document: app.view(&existing),
                warnings: warning.into_iter().collect(),
            }),
            differs: existing.payload_hash != payload_hash,
            receipt: Box::new(existing),
        })
    };
    if let Some(existing) = app.table.receipt(&caller.scope, &id).await? {
        return replayed(existing);
    }
    let settings = settings().await?;
    let now = app.clock.now();
    let due = due(&request, now)?;
    let Checked { ecf, mut warnings, .. } = check(&issuer, &request, query, &settings, due.unwrap_or(now))?;
    let issued = async {
        let note = note::judge(
            &app.table,
            &caller.scope,
            ecf.document(),
            ecf.receipt_type(),
            settings.hold_notes,
        )
        .await?;
        warnings.extend(note::waits(note.as_ref()));
        let issuance = Issuance {
            issuer: &issuer,
            request: &request,
            query,
            holds_notes: settings.hold_notes,
            id,
            payload_hash,
        };
        let (created, counts_in) = match due {
            Some(due) => (
                store_request(app, &issuance, &ecf, (ReceiptState::Deferred, due), note).await?,
                None,
            ),
            None => match signer(app, caller.company(), now).await? {
                Signer::Here(identity) => issue_now(app, &issuance, &ecf, &identity, note).await?,
                Signer::OutOfReach(error) => {
                    tracing::warn!(receipt.id = %id, error = %ecf_runtime::telemetry::chain(&error), "Secrets Manager does not answer; the issuing worker signs the receipt later");
                    (
                        store_request(app, &issuance, &ecf, (ReceiptState::Received, now), note).await?,
                        None,
                    )
                }
            },
        };
        match created {
            Created::New(receipt) => {
                if receipt.state == ReceiptState::Signed {
                    report_issued(app, &receipt);
                }
                tokio::join!(
                    count(app, caller, &receipt),
                    count_number(app, &receipt, counts_in.as_deref())
                );
                queue(app, &receipt).await;
                Ok(Issued::New {
                    view: Box::new(IssuedView {
                        document: app.view(&receipt),
                        warnings: listed(&warnings),
                    }),
                    receipt: Box::new(receipt),
                })
            }
            Created::Replay(existing) => replayed(existing),
            Created::ModifiedChanged => Err(ApiError::unavailable(std::time::Duration::from_secs(1))
                .caused_by("others kept changing the modified receipt")),
            Created::NumberTaken => Err(number_taken(caller.environment())),
        }
    };
    match issued.await {
        // The same request may have been faster in another invocation, with the last number or the rest of an invoice.
        Err(refusal) if refusal.status().is_client_error() => match app.table.receipt(&caller.scope, &id).await? {
            Some(existing) => replayed(existing),
            None => Err(refusal),
        },
        issued => issued,
    }
}

/// Numbers, signs and records a document that passed every check.
async fn issue_now(
    app: &App,
    issuance: &Issuance<'_>,
    ecf: &Ecf,
    identity: &Identity,
    note: Option<NewNote>,
) -> Result<(Created, Option<Box<Range>>), ApiError> {
    let document = Unsigned {
        scope: &issuance.issuer.scope,
        id: &issuance.id,
        created_at: None,
        ecf,
        summary: None,
        identity,
    };
    let record = NewRecord {
        app,
        issuance,
        ecf,
        note,
    };
    with_a_number(app, &document, &record).await
}

/// The record of a new receipt.
struct NewRecord<'o> {
    app: &'o App,
    issuance: &'o Issuance<'o>,
    ecf: &'o Ecf,
    note: Option<NewNote>,
}

impl Record for NewRecord<'_> {
    type Written = Created;

    async fn write(&self, numbered: Numbered, signed: Signed, now: Timestamp) -> Result<Created, ApiError> {
        let new = NewReceipt {
            signed: Some(signed),
            note: self.note,
            ..new_receipt(self.issuance, &numbered, ReceiptState::Signed, now)
        };
        let Issuance {
            issuer, holds_notes, ..
        } = self.issuance;
        create(&self.app.table, &issuer.scope, self.ecf.document(), new, *holds_notes).await
    }
}

/// In CerteCF a workbook prescribes the numbers, so the message does not suggest another number.
fn number_taken(environment: Environment) -> ApiError {
    let message = match environment {
        Environment::CerteCF => {
            say!(
                "another receipt of this attempt has this eNCF; when the tax authority has reset the step, begin a \
                 new attempt with POST /api/v1/client/certification/attempts and send the numbers again",
                "otro comprobante de este intento tiene este eNCF; cuando la DGII haya reiniciado el paso, empiece \
                 un intento nuevo con POST /api/v1/client/certification/attempts y envíe los números otra vez"
            )
        }
        _ => say!(
            "another receipt has this eNCF; leave eNCF out to be given the next free number",
            "otro comprobante tiene este eNCF; omita eNCF para recibir el siguiente número libre"
        ),
    };
    ApiError::conflict(FailReason::EncfAlreadyUsed.as_str(), message)
}

/// Counts the receipt and the use of the key. The consistency check repairs a lost count.
async fn count(app: &App, caller: &Caller, receipt: &Receipt) {
    let counted = app
        .table
        .count_created(
            &receipt.scope,
            receipt.day(),
            receipt.fiscal.ecf_type,
            &receipt.fiscal.monto_total,
            Some((&caller.key_id, app.clock.now())),
        )
        .await;
    if let Err(error) = counted {
        tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "the counters of the day were not updated");
    }
}

/// Enqueues the next step. The receipt is stored already, so housekeeping retries after a failure here.
async fn queue(app: &App, receipt: &Receipt) {
    let queued = match receipt.state {
        ReceiptState::Received => app.queues.send_next(receipt, NextStep::Issue, FIRST_TRY).await,
        ReceiptState::Signed if receipt.mode == Mode::Immediate => send(app, receipt).await,
        _ => return,
    };
    if let Err(error) = queued {
        tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "the next job was not enqueued; housekeeping enqueues it");
    }
}
