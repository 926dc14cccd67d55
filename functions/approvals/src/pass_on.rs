//! `POST /api/v1/ecf/acecf/inbound` and `/outbound`: forwards approvals that were signed elsewhere.
//!
//! The sender is the buyer who approves (`RNCComprador`); the receiver is the issuer of the receipt (`RNCEmisor`). For
//! `outbound` the company is the sender. For `inbound` it is either of the two. When it is the issuer, the approval is
//! validated against the receipt and stored on it, like one that arrived at the company's own address. If the company
//! issued the receipt elsewhere, the receipt is unknown here: the approval is stored with `receipt_unknown` and
//! forwarded to the authority.

use axum::Json;
use axum::extract::State;
use ecf::messages::acecf::DetalleAprobacionComercial;
use ecf::{Encf, Environment, ReceiptType, Rnc};
use ecf_api::{ApiError, Caller, CodedError, FieldError, Fields, FromFields, ValidJson, ValidationError};
use ecf_exchange::answer::{self, NotTaken, SignedAnswer};
use ecf_language::{Say, say};
use ecf_store::{
    ApprovalId, ArtifactKind, Scope,
    approvals::{Approval, ApprovalCreated, ApprovalWay, Transmission},
    companies::Company,
};
use utoipa::ToSchema;
use xmldsig::Limits;

use crate::answer::{self as company_answer, Before};
use crate::submit::differs;
use crate::view::ApprovalView;
use crate::{App, TIME_LIMIT};

/// A signed approval and its recipient.
#[derive(Debug, ToSchema)]
#[schema(as = PassOnAcecfRequest)]
pub(crate) struct PassOnRequest {
    #[schema(min_length = 1, max_length = 100)]
    idempotency_key: String,
    /// Who approves or rejects: `RNCComprador`.
    #[schema(value_type = String, min_length = 9, max_length = 11)]
    sender_rnc: Rnc,
    /// Who issued the receipt: `RNCEmisor`.
    #[schema(value_type = String, min_length = 9, max_length = 11)]
    receiver_rnc: Rnc,
    #[schema(value_type = String, pattern = "^(31|32|33|34|41|43|44|45|46|47)$")]
    #[expect(dead_code, reason = "only held against `encf`, when it is read")]
    ecf_type: ReceiptType,
    #[schema(value_type = String, min_length = 13, max_length = 13)]
    encf: Encf,
    /// The signed ACECF in Base64.
    #[schema(value_type = String)]
    signed_xml: Vec<u8>,
    /// That of the key.
    #[schema(value_type = Option<String>, max_length = 20, example = "TesteCF")]
    environment: Option<Environment>,
    /// Where the receiver's services are; `/fe/aprobacioncomercial/api/ecf` follows it. Unless given, the directory says it.
    #[schema(format = "uri")]
    receiver_url: Option<String>,
}

impl FromFields for PassOnRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let idempotency_key = fields.text("idempotency_key").length(1..=100).required();
        let sender_rnc = fields.text_or_number("sender_rnc").length(9..=11).parse().required();
        let receiver_rnc = fields.text_or_number("receiver_rnc").length(9..=11).parse().required();
        let ecf_type = fields.receipt_type("ecf_type").required();
        let encf: Option<Encf> = fields.text("encf").length(13..=13).parse().required();
        let signed_xml = fields.base64("signed_xml").required();
        let environment = fields.environment("environment").optional();
        let receiver_url = fields.text("receiver_url").optional();
        if let (Some(encf), Some(ecf_type)) = (&encf, ecf_type)
            && encf.receipt_type() != ecf_type
        {
            let msg = say!(
                "{encf} is of type {0}, not {ecf_type}: give ecf_type {0}",
                "{encf} es del tipo {0}, no {ecf_type}: dé ecf_type {0}",
                encf.receipt_type()
            );
            fields.reject_value("ecf_type", "type_mismatch", msg);
        }
        Some(Self {
            idempotency_key: idempotency_key?,
            sender_rnc: sender_rnc?,
            receiver_rnc: receiver_rnc?,
            ecf_type: ecf_type?,
            encf: encf?,
            signed_xml: signed_xml?,
            environment,
            receiver_url,
        })
    }
}

/// Enviar una aprobación comercial firmada
///
/// Passes an approval of the company on that it signed elsewhere: to the issuer and to the tax authority.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/acecf/outbound",
    operation_id = "acecf_outbound",
    tag = "Aprobaciones",
    request_body = PassOnRequest,
    responses(
        (status = 200, description = "The approval with its current state; the same for a repeated key", body = ApprovalView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`answered_already`: an answer is final unless the tax authority refused it or was unreachable", body = CodedError),
        (status = 422, description = "Every bad field, or what in the message differs from them; a missing key", body = ValidationError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn outbound(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<PassOnRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    pass_on(&app, &caller, request, ApprovalWay::Outbound).await
}

/// Recibir una aprobación comercial de otro emisor
///
/// Takes an approval of another issuer and passes it on: to its receiver and to the tax authority. One of a receipt that the company
/// issued elsewhere is taken too, as `receipt_unknown`. A repeated key answers with the state of the first; nothing is written again.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/acecf/inbound",
    operation_id = "acecf_inbound",
    tag = "Aprobaciones",
    request_body = PassOnRequest,
    responses(
        (status = 200, description = "The approval with its current state; the same for a repeated key", body = ApprovalView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`receipt_not_valid`, `type_not_approved`, `differs_from_receipt`, `answered_already`", body = CodedError),
        (status = 422, description = "Every bad field, or what in the message differs from them; a missing key", body = ValidationError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn inbound(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<PassOnRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    pass_on(&app, &caller, request, ApprovalWay::Inbound).await
}

async fn pass_on(
    app: &App,
    caller: &Caller,
    request: PassOnRequest,
    way: ApprovalWay,
) -> Result<Json<ApprovalView>, ApiError> {
    let (scope, exchange) = (&caller.scope, &app.exchange);
    let id = ApprovalId::of(way.as_str(), scope, &request.idempotency_key);
    // The idempotency key alone identifies a retry; the rest of the request is not compared.
    if let Some(existing) = exchange.table.approval(scope, &id).await? {
        return Ok(Json((&existing).into()));
    }
    caller.check_environment(request.environment)?;
    if let Some(url) = &request.receiver_url {
        exchange
            .peers
            .guard()
            .check_url(url)
            .map_err(|error| refused_url(url, &error))?;
    }
    let now = exchange.clock.now();
    let signed = answer::read(&exchange.judge, &request.signed_xml, &Limits::default(), now)
        .await?
        .map_err(refused_xml)?;
    agrees(&request, &signed.detail)?;
    let company = app.company(scope).await?;
    let role = role(way, &request, &company)?;
    let (receipt_unknown, before) = match role {
        Role::Issuer => (
            !record_on_receipt(app, scope, &request, &signed).await?,
            Before::Nothing,
        ),
        Role::Buyer => {
            let answered = (&request.receiver_rnc, &request.encf);
            let before = company_answer::before(app, scope, &id, answered, signed.estado).await?;
            (false, before)
        }
    };
    let acecf = exchange
        .artifacts
        .put_message(scope, now, &id, ArtifactKind::Acecf, request.signed_xml.clone())
        .await?;
    let new = Approval {
        id,
        way,
        idempotency_key: request.idempotency_key,
        rnc_emisor: request.receiver_rnc,
        rnc_comprador: request.sender_rnc,
        encf: request.encf,
        estado: signed.estado,
        reason: signed
            .detail
            .detalle_motivo_rechazo
            .as_ref()
            .map(|reason| reason.to_string().into()),
        acecf,
        created_at: now,
        issuer: match (role, &request.receiver_url) {
            // The issuer is this company: nothing has to be sent to it.
            (Role::Issuer, None) => Transmission::not_needed(
                say!(
                    "the receipt is the company's own",
                    "el comprobante es de la propia empresa"
                ),
                now,
            ),
            _ => Transmission::PENDING,
        },
        receiver_url: request.receiver_url,
        receipt_unknown,
        authority: Transmission::PENDING,
        authority_answer: None,
        attempts: 0,
        next_action_at: None,
    };
    let approval = match role {
        Role::Buyer => company_answer::give(app, scope, new, before).await?,
        Role::Issuer => match exchange.table.create_approval(scope, &new, false).await? {
            ApprovalCreated::New => exchange.send(scope, new, TIME_LIMIT).await?,
            ApprovalCreated::Replay(existing) => *existing,
            ApprovalCreated::Answered(by) => {
                return Err(ApiError::internal(format!(
                    "approval {by} stands in the way of one of others"
                )));
            }
        },
    };
    Ok(Json((&approval).into()))
}

/// The role of the company in an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Buyer,
    Issuer,
}

fn role(way: ApprovalWay, request: &PassOnRequest, company: &Company) -> Result<Role, ApiError> {
    let rnc = &company.rnc;
    match way {
        ApprovalWay::Inbound if request.receiver_rnc == *rnc => Ok(Role::Issuer),
        _ if request.sender_rnc == *rnc => Ok(Role::Buyer),
        ApprovalWay::Inbound => Err(differs("rnc_mismatch", "receiver_rnc", &request.receiver_rnc, rnc)),
        _ => Err(differs("rnc_mismatch", "sender_rnc", &request.sender_rnc, rnc)),
    }
}

/// Validates that the signed approval agrees with the request.
fn agrees(request: &PassOnRequest, detail: &DetalleAprobacionComercial) -> Result<(), ApiError> {
    let in_message = [
        (
            "sender_rnc",
            "RNCComprador",
            request.sender_rnc.to_string(),
            detail.rnc_comprador.as_ref().map(ToString::to_string),
        ),
        (
            "receiver_rnc",
            "RNCEmisor",
            request.receiver_rnc.to_string(),
            detail.rnc_emisor.as_ref().map(ToString::to_string),
        ),
        (
            "encf",
            "eNCF",
            request.encf.to_string(),
            detail.encf.as_ref().map(ToString::to_string),
        ),
    ];
    let errors: Vec<FieldError> = in_message
        .into_iter()
        .filter(|(_, _, given, signed)| signed.as_ref() != Some(given))
        .map(|(field, element, given, signed)| {
            let signed = signed.unwrap_or_else(|| "missing".to_owned());
            let msg = say!(
                "{field} is {given}, but {element} in signed_xml is {signed}",
                "{field} es {given}, pero {element} en signed_xml es {signed}"
            );
            FieldError::new(["body", field], "value_error", msg)
                .with_code("differs_from_signed_xml")
                .with_input(&ecf::Node::Text(given.into()))
                .with_ctx("expected", signed)
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}

/// Stores a buyer's answer on the company's receipt. The receipt's state does not change, and the first answer remains.
/// Returns `false` when no receipt here has the number.
async fn record_on_receipt(
    app: &App,
    scope: &Scope,
    request: &PassOnRequest,
    signed: &SignedAnswer,
) -> Result<bool, ApiError> {
    let exchange = &app.exchange;
    let conflict = |NotTaken { code, why }: NotTaken| ApiError::conflict(code, why);
    let Some(receipt) = exchange.table.receipt_by_encf(scope, &request.encf).await? else {
        return answer::may_be_approved(&request.encf).map(|()| false).map_err(conflict);
    };
    answer::compare(&signed.detail, &receipt).map_err(conflict)?;
    let (table, artifacts, now) = (&exchange.table, &exchange.artifacts, exchange.clock.now());
    let kept = answer::store(table, artifacts, scope, &receipt, signed, &request.signed_xml, now).await?;
    if let Some(news) = kept.map_err(conflict)? {
        app.announce(scope, &news).await;
    }
    Ok(true)
}

fn refused_xml(NotTaken { code, why }: NotTaken) -> ApiError {
    let error = FieldError::new(["body", "signed_xml"], "value_error", why).with_code(code);
    ApiError::validation(vec![error])
}

fn refused_url(given: &str, error: &ecf_webhooks::UrlError) -> ApiError {
    let field = FieldError::new(["body", "receiver_url"], "value_error", error.say())
        .with_code("url_error")
        .with_input(&ecf::Node::Text(given.into()))
        .with_ctx("error", error.to_string());
    ApiError::validation(vec![field])
}
