//! The state of an approval as the API shows it, and `GET /api/v1/ecf/acecf/{id}`.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Instant, PathId, Spoken, TaxauthResponse, ValidationError};
use ecf_language::{Bilingual, say};
use ecf_store::{
    ApprovalId,
    approvals::{Approval, Transmission, TransmissionState},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// An approval or rejection and its state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalView {
    public_id: String,
    /// `pending`: it is still being sent, for days if necessary. `completed`: every recipient has it. `refused`: the issuer or the
    /// tax authority refused it. `failed`: one of them could not be reached for days.
    status: &'static str,
    #[schema(value_type = String)]
    message: Spoken,
    #[serde(flatten)]
    response: TaxauthResponse,
    /// `submit`, `outbound` or `inbound`.
    direction: &'static str,
    encf: String,
    rnc_emisor: String,
    rnc_comprador: String,
    /// `1` approved, `2` rejected.
    estado: &'static str,
    detalle_motivo_rechazo: Option<String>,
    /// The company issued the receipt elsewhere, so nothing of the approval but its signature was verified.
    receipt_unknown: bool,
    issuer: ToldView,
    taxauth: ToldView,
    /// How often it was tried.
    attempts: u32,
    #[schema(value_type = String, format = DateTime)]
    created_at: Instant,
}

/// The transmission to one of the two recipients.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToldView {
    /// `pending`, `taken`, `refused`, `not_listed` (no address in the directory), `not_needed` or `given_up`.
    status: &'static str,
    /// What was answered, or why nothing was.
    #[schema(value_type = Option<String>)]
    message: Option<Spoken>,
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<Instant>,
}

impl From<&Transmission> for ToldView {
    fn from(told: &Transmission) -> Self {
        Self {
            status: told.state.as_str(),
            message: told.words.clone().map(Into::into),
            at: told.at.map(Instant),
        }
    }
}

impl From<&Approval> for ApprovalView {
    fn from(approval: &Approval) -> Self {
        let is = |state| approval.issuer.state == state || approval.authority.state == state;
        let status = if is(TransmissionState::Pending) {
            "pending"
        } else if is(TransmissionState::Refused) {
            "refused"
        } else if is(TransmissionState::GivenUp) {
            "failed"
        } else {
            "completed"
        };
        let (issuer, authority) = (in_words(&approval.issuer), in_words(&approval.authority));
        let message = say!(
            [issuer, authority],
            "issuer: {issuer}; tax authority: {authority}",
            "emisor: {issuer}; DGII: {authority}"
        );
        Self {
            public_id: approval.id.to_string(),
            status,
            message: message.into(),
            response: TaxauthResponse::of(approval.authority_answer.as_deref()),
            direction: approval.way.as_str(),
            encf: approval.encf.to_string(),
            rnc_emisor: approval.rnc_emisor.to_string(),
            rnc_comprador: approval.rnc_comprador.to_string(),
            estado: approval.estado.code(),
            detalle_motivo_rechazo: approval.reason.as_deref().map(str::to_owned),
            receipt_unknown: approval.receipt_unknown,
            issuer: (&approval.issuer).into(),
            taxauth: (&approval.authority).into(),
            attempts: approval.attempts,
            created_at: approval.created_at.into(),
        }
    }
}

fn in_words(told: &Transmission) -> Bilingual {
    let state = match told.state {
        TransmissionState::Pending => say!("not told yet", "aún sin informar"),
        TransmissionState::Taken => say!("told", "informado"),
        TransmissionState::Refused => say!("refuses", "rechaza"),
        TransmissionState::NotListed => say!("receives nothing electronically", "no recibe nada electrónicamente"),
        TransmissionState::NotNeeded => say!("need not be told", "no hay que informarle"),
        TransmissionState::GivenUp => say!("could not be told", "no se le pudo informar"),
    };
    match &told.words {
        Some(words) => say!([state, words], "{state} ({words})", "{state} ({words})"),
        None => state,
    }
}

/// Consultar una aprobación comercial
///
/// How far an approval came.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/acecf/{public_id}",
    operation_id = "show_acecf",
    tag = "Aprobaciones",
    params(("public_id" = String, Path, description = "The approval's id")),
    responses(
        (status = 200, description = "The approval with its current state", body = ApprovalView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<ApprovalId>,
) -> Result<Json<ApprovalView>, ApiError> {
    let approval = app.exchange.table.approval(&caller.scope, &id).await?;
    let approval = approval.ok_or_else(ApiError::not_found)?;
    Ok(Json((&approval).into()))
}
