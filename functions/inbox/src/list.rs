//! `GET /api/v1/client/inbox`.

use axum::Json;
use axum::extract::State;
use ecf::catalogue::EstadoAprobacion;
use ecf::{Environment, Rnc};
use ecf_api::{
    ApiError, Caller, CodedError, DateRange, Fields, FromFields, Instant, IssuedRange, ListView, Page, ValidQuery,
    ValidationError,
};
use ecf_store::{
    approvals::GivenAnswer,
    inbox::{AuthorityState, InboxFilter, InboxItem, SpeaksFor},
};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;

/// Which part of the inbox is asked for.
#[derive(Debug, Clone, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListRequest {
    /// `false`: only items that await their acknowledgement. `true`: only acknowledged ones. Empty, as in `?acked=`: both.
    #[param(required = false, value_type = bool, default = false)]
    acked: Option<bool>,
    /// Only items with this answer of the tax authority.
    #[param(required = false, value_type = String, pattern = "^(pending|accepted|conditionally_accepted|rejected|not_found)$")]
    authority_state: Option<AuthorityState>,
    /// Only items of this issuer.
    #[param(value_type = Option<String>, example = "131880681")]
    rnc_emisor: Option<Rnc>,
    #[param(ignore)]
    received: DateRange,
    #[param(ignore)]
    issued: IssuedRange,
    #[param(ignore)]
    page: Page,
}

impl FromFields for ListRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let acked = if fields.is_cleared("acked") {
            None
        } else {
            Some(fields.boolean("acked").or(false))
        };
        let words = AuthorityState::ALL.map(|state| (state.as_str(), state));
        let authority_state = fields.choice("authority_state", &words).optional();
        let rnc_emisor = fields.parsed("rnc_emisor").optional();
        let received = DateRange::read(fields);
        let issued = IssuedRange::read(fields);
        let page = Page::read(fields);
        Some(Self {
            acked,
            authority_state,
            rnc_emisor,
            received: received?,
            issued: issued?,
            page: page?,
        })
    }
}

impl ListRequest {
    fn filter(self) -> InboxFilter {
        InboxFilter {
            acked: self.acked,
            authority: self.authority_state,
            rnc_emisor: self.rnc_emisor,
            received: self.received.into(),
            issued_from: self.issued.issued_from,
            issued_to: self.issued.issued_to,
        }
    }
}

/// A receipt of another issuer. Its signature and structure were verified before it was acknowledged to the issuer. Anybody can
/// make a signature that names any issuer, so book a receipt only when `authority_state` is `accepted` or
/// `conditionally_accepted`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InboxItemView {
    public_id: String,
    ecf_type: &'static str,
    encf: String,
    #[schema(value_type = String, example = "TesteCF")]
    environment: Environment,
    /// `received`, `acknowledged` by the caller, then `approved` or `rejected`, as the company answered it.
    #[schema(value_type = String, example = "received", pattern = "^(received|acknowledged|approved|rejected)$")]
    status: &'static str,
    rnc_emisor: String,
    razon_social_emisor: Option<String>,
    rnc_comprador: String,
    /// As the document writes it.
    #[schema(example = "1180.00")]
    monto_total: Option<String>,
    /// `TotalITBIS` as the document writes it; `null` where it has none, and for receipts of before 2026-12.
    #[schema(example = "180.00")]
    total_itbis: Option<String>,
    #[schema(example = "27-11-2026")]
    fecha_emision: Option<String>,
    /// Who signed it: the subject of the certificate.
    signer: String,
    /// Whether the certificate was issued by an authority that this deployment trusts.
    signer_trusted: bool,
    /// Whom the certificate names: `issuer`, `person` (who may have the issuer's delegation), `other`; `null` for receipts of
    /// before 2026-12.
    signer_speaks_for: Option<&'static str>,
    /// The subject of the token that the sender showed; the company's setting `reception_token` demands one.
    caller: Option<String>,
    /// What the tax authority says of this document: `pending`, `accepted`, `conditionally_accepted`, `rejected`, or `not_found`
    /// when it has no such document after three days. `null` in CerteCF, where it cannot be asked, and for receipts of before 2026-12.
    authority_state: Option<&'static str>,
    /// When the tax authority's final answer was recorded.
    authority_checked_at: Option<Instant>,
    /// The inbox item that the tax authority confirmed under the same number.
    superseded_by: Option<String>,
    /// What the company answered to it (ACECF): `approved`, `rejected`, or nothing yet.
    answer: Option<&'static str>,
    /// The approval with this answer.
    approval_id: Option<String>,
    acked: bool,
    /// When it was acknowledged first.
    acked_at: Option<Instant>,
    xml_available: bool,
    arecf_available: bool,
    created_at: Instant,
}

impl InboxItemView {
    fn of(item: InboxItem, environment: Environment, given: Option<GivenAnswer>) -> Self {
        Self {
            public_id: item.id.to_string(),
            ecf_type: item.ecf_type.as_str(),
            encf: item.encf.to_string(),
            environment,
            status: item.status(given.as_ref()),
            rnc_emisor: item.rnc_emisor.to_string(),
            razon_social_emisor: item.razon_social_emisor.map(Into::into),
            rnc_comprador: item.rnc_comprador.to_string(),
            monto_total: item.monto_total.map(Into::into),
            total_itbis: item.total_itbis.map(Into::into),
            fecha_emision: item.fecha_emision.map(Into::into),
            signer: item.signer.into(),
            signer_trusted: item.signer_trusted,
            signer_speaks_for: item.speaks_for.map(SpeaksFor::as_str),
            caller: item.caller.map(Into::into),
            authority_state: item.authority.map(AuthorityState::as_str),
            authority_checked_at: item.authority_at.map(Into::into),
            superseded_by: item.superseded_by.map(|id| id.to_string()),
            answer: given.map(|given| match given.estado {
                EstadoAprobacion::Aceptado => "approved",
                EstadoAprobacion::Rechazado => "rejected",
            }),
            approval_id: given.map(|given| given.approval.to_string()),
            acked: item.acked_at.is_some(),
            acked_at: item.acked_at.map(Into::into),
            // Both are stored before the issuer gets its answer.
            xml_available: true,
            arecf_available: true,
            created_at: item.received_at.into(),
        }
    }
}

/// Listar e-CF recibidos
///
/// What other issuers sent, newest first. Unless `acked` says otherwise, only what was not acknowledged yet.
#[utoipa::path(
    get,
    path = "/api/v1/client/inbox",
    operation_id = "list_inbox",
    tag = "Buzon",
    params(ListRequest, DateRange, IssuedRange, Page),
    responses(
        (status = 200, description = "The receipts, newest first", body = ListView<InboxItemView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(request): ValidQuery<ListRequest>,
) -> Result<Json<ListView<InboxItemView>>, ApiError> {
    let page = request.page;
    let (limit, offset) = (page.limit as usize, usize::try_from(page.offset).unwrap_or(usize::MAX));
    let (items, total) = app.table.inbox(&caller.scope, &request.filter(), limit, offset).await?;
    let environment = caller.environment();
    let numbers = items.iter().map(|item| (item.rnc_emisor.clone(), item.encf)).collect();
    let given = app.table.given_answers(&caller.scope, numbers).await?;
    let items = items.into_iter().zip(given);
    let items = items.map(|(item, given)| InboxItemView::of(item, environment, given));
    Ok(Json(ListView::new(items.collect(), total as u64, page)))
}
