//! `POST /api/v1/ecf/acecf/submit`: approves or rejects a receipt that the company received.
//!
//! Requirements: the receipt is in the inbox, the request repeats its data correctly, and the tax authority accepted
//! it. Then the message is built, signed and stored. An answer that the authority accepted is final
//! ([`crate::answer`]).

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use ecf::catalogue::EstadoAprobacion;
use ecf::messages::Acecf;
use ecf::messages::acecf::Answered;
use ecf::{Amounts, Encf, Environment, Fecha, FechaHora, Monto, ReceiptType, Rnc, Texto};
use ecf_api::{ApiError, Caller, CodedError, FieldError, Fields, FromFields, ValidJson, ValidationError};
use ecf_certificates::signing_identity;
use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    ApprovalId, ArtifactKind, ContentHash, Scope,
    approvals::{Approval, ApprovalWay, Transmission},
    inbox::{AuthorityState, InboxItem},
};
use ecf_taxauth::{Estado, ReceiptQuery, TaxAuthError};
use jiff::Timestamp;
use utoipa::ToSchema;
use xmldsig::{Identity, Limits};

use crate::view::ApprovalView;
use crate::{App, answer};

/// The maximum length of the authority's `DetalleMotivoRechazo`.
const LONGEST_REASON: usize = 250;
/// `Retry-After` when the authority does not send one.
const RETRY_AFTER: std::time::Duration = std::time::Duration::from_secs(30);

/// Which receipt is approved or rejected.
#[derive(Debug, ToSchema)]
#[schema(as = SubmitAcecfRequest)]
pub(crate) struct SubmitRequest {
    #[schema(min_length = 1, max_length = 100)]
    idempotency_key: String,
    #[schema(value_type = String, example = "E310000000001")]
    encf: Encf,
    /// `31` unless given; the type that `encf` has.
    #[schema(value_type = Option<String>, example = "31")]
    #[expect(dead_code, reason = "only held against `encf`, when it is read")]
    ecf_type: Option<ReceiptType>,
    #[schema(value_type = String, example = "101672919")]
    rnc_emisor: Rnc,
    /// The RNC of the key's company.
    #[schema(value_type = String, example = "130000001")]
    rnc_comprador: Rnc,
    /// As in the receipt.
    #[schema(value_type = String, example = "27-11-2026", pattern = "^[0-3]?[0-9]-[01]?[0-9]-(19|20)[0-9]{2}$")]
    fecha_emision: Fecha,
    /// As in the receipt; compared by value.
    #[schema(value_type = String, example = "1180.00", pattern = r"^[0-9]{1,16}(\.[0-9]{1,2})?$")]
    monto_total: Monto,
    /// `1` approves, `2` rejects.
    #[schema(value_type = String, example = "1", pattern = "^(1|2)$")]
    estado: EstadoAprobacion,
    /// Why it is rejected; only with `estado` `2`.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 250)]
    detalle_motivo_rechazo: Option<Texto>,
    /// When it was decided, `dd-MM-yyyy HH:mm:ss`; now unless given.
    #[schema(value_type = Option<String>, example = "27-11-2026 10:00:00")]
    fecha_hora_aprobacion: Option<FechaHora>,
    #[schema(value_type = Option<String>, example = "TesteCF")]
    environment: Option<Environment>,
}

impl FromFields for SubmitRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let idempotency_key = fields.text("idempotency_key").length(1..=100).required();
        let encf: Option<Encf> = fields.parsed("encf").required();
        let ecf_type = fields.receipt_type("ecf_type").optional();
        let rnc_emisor = fields.parsed("rnc_emisor").required();
        let rnc_comprador = fields.parsed("rnc_comprador").required();
        let fecha_emision = fields.parsed("fecha_emision").required();
        let monto_total = fields.text_or_number("monto_total").required();
        let monto_total = monto_total.and_then(|text| match Monto::parse(&text, Amounts::Verbatim) {
            Ok(monto) => Some(monto),
            Err(error) => {
                fields.reject("monto_total", "value_error", error.say());
                None
            }
        });
        let estado = fields.parsed("estado").required();
        let reason = fields.text("detalle_motivo_rechazo").length(1..=LONGEST_REASON).parse();
        let reason: Option<Texto> = reason.optional();
        let fecha_hora_aprobacion = fields.parsed("fecha_hora_aprobacion").optional();
        let environment = fields.environment("environment").optional();
        if let (Some(encf), Some(ecf_type)) = (&encf, ecf_type)
            && encf.receipt_type() != ecf_type
            // The published client sends 31 by default.
            && ecf_type != ReceiptType::E31
        {
            let msg = say!(
                "{encf} is of type {0}, not {ecf_type}: give ecf_type {0}",
                "{encf} es del tipo {0}, no {ecf_type}: dé ecf_type {0}",
                encf.receipt_type()
            );
            fields.reject_value("ecf_type", "type_mismatch", msg);
        }
        if reason.is_some() && estado == Some(EstadoAprobacion::Aceptado) {
            let msg = say!(
                "a reason belongs to a rejection (estado 2)",
                "un motivo va con un rechazo (estado 2)"
            );
            fields.reject_value("detalle_motivo_rechazo", "reason_not_allowed", msg);
        }
        if let Some(encf) = encf.filter(|encf| !encf.receipt_type().is_approved_by_buyers()) {
            let msg = say!(
                "receipts of type {} are not approved by their buyers",
                "los comprobantes del tipo {} no los aprueba su comprador",
                encf.receipt_type()
            );
            fields.reject_value("encf", "type_not_approved", msg);
        }
        Some(Self {
            idempotency_key: idempotency_key?,
            encf: encf?,
            ecf_type,
            rnc_emisor: rnc_emisor?,
            rnc_comprador: rnc_comprador?,
            fecha_emision: fecha_emision?,
            monto_total: monto_total?,
            estado: estado?,
            detalle_motivo_rechazo: reason,
            fecha_hora_aprobacion,
            environment,
        })
    }
}

/// Aprobar o rechazar un e-CF recibido
///
/// Approves or rejects a receipt of the inbox. The approval is sent to the issuer, at its address in the directory, and to the tax
/// authority. What cannot be sent within seconds is sent later, and the answer says `pending`.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/acecf/submit",
    operation_id = "submit_acecf",
    tag = "Aprobaciones",
    request_body = SubmitRequest,
    responses(
        (status = 200, description = "The approval with its current state; the same for a repeated key", body = ApprovalView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`not_received`; `answered_already`: an answer is final unless the tax authority refused it or could not be told; `not_accepted`: the tax authority did not accept the receipt; no certificate", body = CodedError),
        (status = 422, description = "Every bad field, or what differs from the receipt; a missing key", body = ValidationError),
        (status = 503, description = "The tax authority cannot be asked now whether it accepted the receipt", body = CodedError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn submit(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<SubmitRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    let environment = caller.check_environment(request.environment)?;
    let (scope, exchange) = (&caller.scope, &app.exchange);
    let way = ApprovalWay::Submit;
    let id = ApprovalId::of(way.as_str(), scope, &request.idempotency_key);
    if let Some(existing) = exchange.table.approval(scope, &id).await? {
        return Ok(Json((&existing).into()));
    }
    let company = app.company(scope).await?;
    if request.rnc_comprador != company.rnc {
        return Err(differs(
            "rnc_mismatch",
            "rnc_comprador",
            &request.rnc_comprador,
            &company.rnc,
        ));
    }
    let now = exchange.clock.now();
    let identity = signing_identity(&exchange.identities, &scope.company, now).await?;
    let item = exchange
        .table
        .received(scope, &request.rnc_emisor, &request.encf)
        .await?;
    match &item {
        Some(item) => fits(&request, item)?,
        // Step 3 of the certification approves receipts of a workbook, which are never delivered to the inbox.
        None if environment == Environment::CerteCF => {}
        None => {
            let message = say!(
                "{} of {} is not in the inbox",
                "{} de {} no está en la bandeja de entrada",
                request.encf,
                request.rnc_emisor
            );
            return Err(ApiError::conflict("not_received", message));
        }
    }
    let answered = (&request.rnc_emisor, &request.encf);
    let before = answer::before(&app, scope, &id, answered, request.estado).await?;
    if let Some(item) = item.filter(|_| company.settings.approve_accepted_only && environment != Environment::CerteCF) {
        check_accepted(&app, scope, &identity, &item).await?;
    }
    let xml = sign(&request, &identity, now)?;
    let hash = exchange
        .artifacts
        .put_message(scope, now, &id, ArtifactKind::Acecf, xml.clone())
        .await?;
    let new = new_approval(id, request, hash, now);
    let approval = answer::give(&app, scope, new, before).await?;
    Ok(Json((&approval).into()))
}

fn new_approval(id: ApprovalId, request: SubmitRequest, acecf: ContentHash, now: Timestamp) -> Approval {
    Approval {
        id,
        way: ApprovalWay::Submit,
        idempotency_key: request.idempotency_key,
        rnc_emisor: request.rnc_emisor,
        rnc_comprador: request.rnc_comprador,
        encf: request.encf,
        estado: request.estado,
        reason: request.detalle_motivo_rechazo.map(|reason| reason.to_string().into()),
        acecf,
        receiver_url: None,
        receipt_unknown: false,
        created_at: now,
        issuer: Transmission::PENDING,
        authority: Transmission::PENDING,
        authority_answer: None,
        attempts: 0,
        next_action_at: None,
    }
}

/// Validates the data that the request repeats against the receipt.
fn fits(request: &SubmitRequest, item: &InboxItem) -> Result<(), ApiError> {
    let day = request.fecha_emision.to_string();
    if let Some(expected) = item.fecha_emision.as_deref().filter(|expected| *expected != day) {
        return Err(differs("differs_from_receipt", "fecha_emision", &day, &expected));
    }
    let total = item.monto_total.as_deref();
    let expected = total.and_then(|total| Monto::parse(total, Amounts::Verbatim).ok());
    match expected {
        Some(expected) if expected.value() != request.monto_total.value() => Err(differs(
            "differs_from_receipt",
            "monto_total",
            &request.monto_total,
            &expected,
        )),
        _ => Ok(()),
    }
}

fn sign(request: &SubmitRequest, identity: &Identity, now: Timestamp) -> Result<Vec<u8>, ApiError> {
    let answered = Answered {
        rnc_emisor: request.rnc_emisor.clone(),
        encf: request.encf,
        fecha_emision: request.fecha_emision,
        monto_total: request.monto_total.clone(),
        rnc_comprador: request.rnc_comprador.clone(),
    };
    let at = request.fecha_hora_aprobacion.unwrap_or_else(|| FechaHora::at(now));
    let acecf = match request.estado {
        EstadoAprobacion::Aceptado => Acecf::approved(answered, at),
        EstadoAprobacion::Rechazado => Acecf::rejected(answered, request.detalle_motivo_rechazo.clone(), at),
    };
    let signed = xmldsig::sign(&acecf.to_xml(), identity).map_err(ApiError::internal)?;
    Ok(signed.xml)
}

/// The authority accepts approvals only for receipts that it accepted. A recorded acceptance is final and is not asked
/// again.
async fn check_accepted(app: &App, scope: &Scope, identity: &Identity, item: &InboxItem) -> Result<(), ApiError> {
    if let Some(AuthorityState::Accepted | AuthorityState::ConditionallyAccepted) = item.authority {
        return Ok(());
    }
    let exchange = &app.exchange;
    let code = security_code(app, scope, item).await?;
    let session = exchange
        .tokens
        .session(scope.environment, identity)
        .of_company(&scope.company);
    let query = ReceiptQuery {
        rnc_emisor: &item.rnc_emisor,
        encf: &item.encf,
        rnc_comprador: Some(&item.rnc_comprador),
        codigo_seguridad: &code,
    };
    let state = session.receipt_state(query).await.map_err(no_answer)?;
    // A different code means another document with the same number. An answer without a code proves nothing.
    match state.codigo_seguridad {
        Some(other) if other != code => {
            return Err(not_accepted(say!(
                "has another document of this number",
                "tiene otro documento con este número"
            )));
        }
        None if state.judged.verdict.is_acceptance() => {
            return Err(acceptance_unknown(
                say!(
                    "its answer names no document",
                    "su respuesta no nombra ningún documento"
                ),
                RETRY_AFTER,
            ));
        }
        _ => {}
    }
    match state.judged.verdict {
        Estado::Accepted | Estado::ConditionallyAccepted => Ok(()),
        Estado::Rejected { .. } => Err(not_accepted(say!("rejected the receipt", "rechazó el comprobante"))),
        Estado::NotFound => Err(not_accepted(say!(
            "does not have the receipt yet",
            "aún no tiene el comprobante"
        ))),
        Estado::InProcess => Err(not_accepted(say!(
            "has not decided about the receipt yet",
            "aún no decide sobre el comprobante"
        ))),
        Estado::Unclear => Err(acceptance_unknown(
            say!("its answer names no state", "su respuesta no nombra ningún estado"),
            RETRY_AFTER,
        )),
    }
}

fn not_accepted(what_it_did: Bilingual) -> ApiError {
    let message = say!(
        [what_it_did],
        "the tax authority {what_it_did}: only what it accepted can be approved or rejected",
        "la DGII {what_it_did}: solo lo que ella aceptó se puede aprobar o rechazar"
    );
    ApiError::conflict("not_accepted", message)
}

/// The first six characters of the signature (Informe Técnico, security code).
async fn security_code(app: &App, scope: &Scope, item: &InboxItem) -> Result<String, ApiError> {
    let artifacts = &app.exchange.artifacts;
    let (at, kind) = (item.received_at, ArtifactKind::ReceivedXml);
    let xml = artifacts.received(scope, at, &item.id, kind, &item.xml).await?;
    let xml = xml.ok_or_else(|| ApiError::internal(format!("the XML of inbox item {} is gone", item.id)))?;
    let verified = xmldsig::verify(xml.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&xml), &Limits::default());
    let verified = verified.map_err(ApiError::internal)?;
    Ok(verified.signature_value.chars().take(6).collect())
}

fn no_answer(error: TaxAuthError) -> ApiError {
    let retry_after = error.retry_after().unwrap_or(RETRY_AFTER);
    acceptance_unknown(error.say(), retry_after).caused_by(error)
}

fn acceptance_unknown(why: Bilingual, retry_after: Duration) -> ApiError {
    let message = say!(
        [why],
        "the tax authority cannot say now whether it accepted the receipt: {why}",
        "la DGII no puede decir ahora si aceptó el comprobante: {why}"
    );
    ApiError::unavailable_because("taxauth_unavailable", message, retry_after)
}

/// 422 for a value that differs from the expected one.
pub(crate) fn differs(
    code: &'static str,
    field: &str,
    given: &dyn std::fmt::Display,
    expected: &dyn std::fmt::Display,
) -> ApiError {
    let msg = say!(
        "{field} is {given}, {expected} was expected",
        "{field} es {given}, se esperaba {expected}"
    );
    let error = FieldError::new(["body", field], "value_error", msg)
        .with_code(code)
        .with_input(&ecf::Node::Text(given.to_string().into()))
        .with_ctx("expected", expected.to_string());
    ApiError::validation(vec![error])
}
