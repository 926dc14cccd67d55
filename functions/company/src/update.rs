//! `PATCH /api/v1/client/company`.

use axum::extract::State;
use axum::{Extension, Json};
use ecf::Environment;
use ecf::rules::OnConditional;
use ecf_api::{ApiError, Caller, CodedError, FieldError, Fields, FromFields, ValidJson, ValidationError};
use ecf_language::say;
use ecf_runtime::PublicAddress;
use ecf_store::{
    FieldEdit,
    companies::{CertificateOwner, CompanyChanges, SettingsChanges},
};
use utoipa::ToSchema;

use crate::App;
use crate::show::{ProfileView, no_company};

/// The lengths of the authority's `NombreComercial` and `DireccionEmisor`, and of a telephone number with its
/// extension.
const LONGEST_TRADE_NAME: usize = 150;
const LONGEST_ADDRESS: usize = 100;
const LONGEST_PHONE: usize = 20;
/// One month. A company that wants a note to wait longer sends it later.
const LONGEST_HOLD_HOURS: i64 = 24 * 31;
/// Upper bound of the warning threshold, above any range.
const MOST_REMAINING: i64 = u32::MAX as i64;
const MOST_DAYS: i64 = 366;

/// What changes; a field that is left out stays as it is. `null` clears `trade_name`, `address` and `phone`, and gives a
/// setting its default again.
#[derive(Debug, ToSchema)]
#[schema(as = UpdateCompanyRequest)]
pub(crate) struct UpdateRequest {
    #[schema(
        nullable = false,
        min_length = 3,
        max_length = 80,
        pattern = r"^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$"
    )]
    email: Option<String>,
    #[schema(value_type = Option<String>, min_length = 1, max_length = 150)]
    trade_name: FieldEdit<String>,
    #[schema(value_type = Option<String>, min_length = 1, max_length = 100)]
    address: FieldEdit<String>,
    #[schema(value_type = Option<String>, min_length = 1, max_length = 20)]
    phone: FieldEdit<String>,
    /// Of an unverified company: TesteCF.
    #[schema(value_type = Option<String>, nullable = false, example = "TesteCF")]
    default_environment: Option<Environment>,
    #[schema(value_type = Option<SettingsRequest>, nullable = false)]
    settings: SettingsChanges,
}

/// The settings that change.
#[derive(Debug, ToSchema)]
#[schema(as = CompanySettingsRequest)]
#[expect(
    dead_code,
    reason = "the form of what `SettingsChanges` is read from, for the contract"
)]
pub(crate) struct SettingsRequest {
    /// `refuse` or `warn`; `null`: as the environment has it.
    #[schema(pattern = "^(refuse|warn)$")]
    on_conditional: Option<String>,
    /// `true` unless set.
    hold_notes: Option<bool>,
    /// 72 unless set.
    #[schema(minimum = 1, maximum = 744)]
    hold_notes_hours: Option<u16>,
    /// `warn`, unless set to `refuse`.
    #[schema(pattern = "^(refuse|warn)$")]
    certificate_owner: Option<String>,
    /// 100 unless set; 0 warns of nothing.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 4294967295u32)]
    sequence_alert_remaining: Option<u32>,
    /// 30 unless set; 0 warns on the last day alone.
    #[schema(minimum = 0, maximum = 366)]
    sequence_alert_days: Option<u16>,
    /// `false` unless set.
    reception_token: Option<bool>,
    /// `false` unless set: receipts of type 45 are not sent to their buyers.
    deliver_45: Option<bool>,
    /// `true` unless set: only receipts that the tax authority accepted are approved or rejected.
    approve_accepted_only: Option<bool>,
}

impl FromFields for UpdateRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        for name in ["email", "default_environment", "settings"] {
            fields.refuse_null(name);
        }
        let email = fields.text("email").email().optional();
        let trade_name = fields.text("trade_name").length(1..=LONGEST_TRADE_NAME).optional();
        let address = fields.text("address").length(1..=LONGEST_ADDRESS).optional();
        let phone = fields.text("phone").length(1..=LONGEST_PHONE).optional();
        let default_environment = fields.environment("default_environment").optional();
        let settings = fields.nested::<Settings>("settings").map(|Settings(changes)| changes);
        Some(Self {
            email,
            trade_name: fields.edit("trade_name", trade_name),
            address: fields.edit("address", address),
            phone: fields.edit("phone", phone),
            default_environment,
            settings: settings.unwrap_or_default(),
        })
    }
}

/// The member `settings` of the request.
struct Settings(SettingsChanges);

impl FromFields for Settings {
    fn read(fields: &mut Fields) -> Option<Self> {
        let on_conditional = fields
            .choice(
                "on_conditional",
                &[OnConditional::Refuse, OnConditional::Warn].map(|policy| (policy.as_str(), policy)),
            )
            .optional();
        let hold_notes = fields.boolean("hold_notes").optional();
        let hold_notes_hours = fields
            .integer("hold_notes_hours")
            .range(1..=LONGEST_HOLD_HOURS)
            .optional();
        let certificate_owner = fields
            .choice(
                "certificate_owner",
                &CertificateOwner::ALL.map(|policy| (policy.as_str(), policy)),
            )
            .optional();
        let remaining = fields
            .integer("sequence_alert_remaining")
            .range(0..=MOST_REMAINING)
            .optional();
        let days = fields.integer("sequence_alert_days").range(0..=MOST_DAYS).optional();
        let reception_token = fields.boolean("reception_token").optional();
        let deliver_45 = fields.boolean("deliver_45").optional();
        let approve_accepted_only = fields.boolean("approve_accepted_only").optional();
        Some(Self(SettingsChanges {
            on_conditional: fields.edit("on_conditional", on_conditional),
            hold_notes: fields.edit("hold_notes", hold_notes),
            hold_notes_hours: fields.edit(
                "hold_notes_hours",
                hold_notes_hours.and_then(|hours| hours.try_into().ok()),
            ),
            certificate_owner: fields.edit("certificate_owner", certificate_owner),
            sequence_alert_remaining: fields.edit(
                "sequence_alert_remaining",
                remaining.and_then(|remaining| remaining.try_into().ok()),
            ),
            sequence_alert_days: fields.edit("sequence_alert_days", days.and_then(|days| days.try_into().ok())),
            reception_token: fields.edit("reception_token", reception_token),
            deliver_45: fields.edit("deliver_45", deliver_45),
            approve_accepted_only: fields.edit("approve_accepted_only", approve_accepted_only),
        }))
    }
}

/// Cambiar el perfil de la empresa
///
/// Changes the profile of the key's company, field by field: two changes of different fields at the same time both last.
/// Running instances follow changed settings within a minute. Profile and settings are the company's, whatever the environment
/// of the key.
#[utoipa::path(
    patch,
    path = "/api/v1/client/company",
    operation_id = "update_company",
    tag = "Empresa",
    request_body = UpdateRequest,
    responses(
        (status = 200, description = "The company as it is now", body = ProfileView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad or unknown field; nothing was changed", body = ValidationError),
    ),
    security(("api_key" = ["full", "highest_environment"])),
)]
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    gateway: Option<Extension<PublicAddress>>,
    ValidJson(request): ValidJson<UpdateRequest>,
) -> Result<Json<ProfileView>, ApiError> {
    if let Some(environment) = request.default_environment {
        check_default(&app, &caller, environment).await?;
    }
    let now = app.clock.now();
    let changes = CompanyChanges {
        email: request.email,
        trade_name: request.trade_name,
        address: request.address,
        phone: request.phone,
        default_environment: request.default_environment,
        settings: request.settings,
    };
    let company = app.table.update_company(caller.company(), changes, now).await?;
    let company = company.ok_or_else(no_company)?;
    let ranges = app.table.ranges(&caller.scope, None).await?;
    Ok(Json(ProfileView::of(
        company,
        &ranges,
        &caller,
        app.service_address(gateway).as_deref(),
        now,
    )))
}

/// An unverified company has access to TesteCF only. Verification is permanent.
async fn check_default(app: &App, caller: &Caller, environment: Environment) -> Result<(), ApiError> {
    let company = app.table.company(caller.company()).await?.ok_or_else(no_company)?;
    if company.verified || environment == Environment::TesteCF {
        return Ok(());
    }
    let msg = say!(
        "{environment} needs a verified company: upload the taxpayer's own certificate, issued by an authority that \
         this deployment trusts",
        "{environment} necesita una empresa verificada: suba el certificado del propio contribuyente, emitido por \
         una autoridad en la que confía este despliegue"
    );
    let error = FieldError::new(["body", "default_environment"], "value_error", msg)
        .with_code("company_unverified")
        .with_input(&ecf::Node::Text(environment.as_str().into()))
        .with_ctx("expected", Environment::TesteCF.as_str());
    Err(ApiError::validation(vec![error]))
}
