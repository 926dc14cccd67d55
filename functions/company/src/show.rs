//! `GET /api/v1/client/company`.

use axum::extract::State;
use axum::{Extension, Json};
use ecf::{Environment, Fecha};
use ecf_api::{ApiError, Caller, CodedError, CompanyCertificateView, ValidationError};
use ecf_runtime::PublicAddress;
use ecf_store::{
    api_keys::KeyScope,
    companies::{Company, CompanySettings},
    numbers::{Range, RangeState},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::addresses::AddressesView;

/// A company as it sees itself, with one of its keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProfileView {
    public_id: String,
    rnc: String,
    name: String,
    trade_name: Option<String>,
    address: Option<String>,
    email: String,
    phone: Option<String>,
    #[schema(value_type = String, example = "TesteCF")]
    default_environment: Environment,
    is_active: bool,
    /// `null` until a P12 was uploaded.
    certificate: Option<CompanyCertificateView>,
    /// The receipt types that have numbers left in the key's environment.
    active_ncf_types: Vec<&'static str>,
    settings: SettingsView,
    /// The key of this request.
    key: OwnKeyView,
    /// The addresses to register at the tax authority, for each environment; `null` until the company is verified, because nothing
    /// answers there before.
    published_addresses: Option<Vec<AddressesView>>,
}

/// The key with which a request was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OwnKeyView {
    public_id: String,
    #[schema(value_type = String, example = "TesteCF")]
    environment: Environment,
    /// `full`, `issue` or `read`: what it may do.
    #[schema(value_type = String, example = "full", pattern = "^(full|issue|read)$")]
    scope: KeyScope,
}

impl OwnKeyView {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self {
            public_id: caller.key_id.to_string(),
            environment: caller.environment(),
            scope: caller.key_scope,
        }
    }
}

/// How the company wants its receipts treated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettingsView {
    /// `refuse` or `warn`: what becomes of a document that the authority would accept only conditionally, unless the request
    /// says otherwise; `null`: as the environment has it.
    on_conditional: Option<&'static str>,
    /// Whether a credit or debit note waits for the verdict on its invoice.
    hold_notes: bool,
    /// How many hours a note waits for the successor of a rejected invoice.
    hold_notes_hours: u16,
    /// `warn` or `refuse`: what becomes of an uploaded certificate whose owner does not fit the company.
    certificate_owner: &'static str,
    /// A range with this number of free numbers, or fewer, is reported as low.
    sequence_alert_remaining: u32,
    /// A range is reported as expiring from this number of days before its last day.
    sequence_alert_days: u16,
    /// Whether other issuers have to authenticate before they send something.
    reception_token: bool,
    /// Whether receipts of type 45 are sent to their buyers too.
    deliver_45: bool,
    /// Whether only receipts are approved or rejected that the tax authority accepted.
    approve_accepted_only: bool,
}

impl ProfileView {
    /// `service` is the base address of the service, if it is known.
    pub(crate) fn of(
        company: Company,
        ranges: &[Range],
        caller: &Caller,
        service: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let service = service.filter(|_| company.verified);
        let environment = caller.environment();
        Self {
            published_addresses: service.map(|service| AddressesView::of(service, &company.rnc)),
            public_id: company.id.to_string(),
            rnc: company.rnc.to_string(),
            is_active: company.is_active(),
            name: company.name,
            trade_name: company.trade_name,
            address: company.address,
            email: company.email,
            phone: company.phone,
            default_environment: company.default_environment,
            certificate: company
                .certificate
                .map(|certificate| CompanyCertificateView::of(&certificate, environment, now)),
            active_ncf_types: active_types(ranges, Fecha::at(now)),
            settings: company.settings.into(),
            key: OwnKeyView::of(caller),
        }
    }
}

impl From<CompanySettings> for SettingsView {
    fn from(settings: CompanySettings) -> Self {
        Self {
            on_conditional: settings.on_conditional.map(|policy| policy.as_str()),
            hold_notes: settings.hold_notes,
            hold_notes_hours: settings.hold_notes_hours,
            certificate_owner: settings.certificate_owner.as_str(),
            sequence_alert_remaining: settings.sequence_alert_remaining,
            sequence_alert_days: settings.sequence_alert_days,
            reception_token: settings.reception_token,
            deliver_45: settings.deliver_45,
            approve_accepted_only: settings.approve_accepted_only,
        }
    }
}

/// The types whose ranges still have numbers. `ranges` is sorted by type.
fn active_types(ranges: &[Range], today: Fecha) -> Vec<&'static str> {
    let usable = |range: &&Range| range.state(today) == RangeState::Active;
    let mut types: Vec<_> = ranges
        .iter()
        .filter(usable)
        .map(|range| range.ecf_type.as_str())
        .collect();
    types.dedup();
    types
}

/// Perfil de la empresa
///
/// The profile of the key's company.
#[utoipa::path(
    get,
    path = "/api/v1/client/company",
    operation_id = "show_company",
    tag = "Empresa",
    responses(
        (status = 200, description = "The company, its certificate, its settings", body = ProfileView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    gateway: Option<Extension<PublicAddress>>,
) -> Result<Json<ProfileView>, ApiError> {
    let company = app.table.company(caller.company());
    let ranges = app.table.ranges(&caller.scope, None);
    let (company, ranges) = tokio::try_join!(company, ranges)?;
    let company = company.ok_or_else(no_company)?;
    Ok(Json(ProfileView::of(
        company,
        &ranges,
        &caller,
        app.service_address(gateway).as_deref(),
        app.clock.now(),
    )))
}

/// An API key is deleted with its company, so this is an internal error.
pub(crate) fn no_company() -> ApiError {
    ApiError::internal("the key's company does not exist")
}
