//! `POST /api/v1/public/register`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ecf::{Environment, Rnc};
use ecf_api::{
    ApiError, ApiKeySecret, CertificateView, CodedError, FieldError, P12Fields, ValidJson, ValidationError, Visitor,
};
use ecf_certificates::{Owner, open_p12, p12_warnings};
use ecf_language::say;
use ecf_store::{
    ApiKeyId, CertificateFile, CompanyId, Scope, StoreError, WebhookJob,
    api_keys::{KeyScope, NewApiKey},
    certificate_summary,
    certificates::CertificateSummary,
    companies::{CompanyCreated, NewCompany, NewSignup, SignupRecord},
};
use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use utoipa::ToSchema;
use xmldsig::Identity;

use crate::App;
use crate::request::RegisterRequest;

const FIELDS: P12Fields = P12Fields {
    file: "p12_base64",
    pin: "pin",
};

/// What a new company gets. The key is shown here and never again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RegisteredView {
    company: RegisteredCompanyView,
    api_key: ApiKeyView,
    certificate: Option<CertificateView>,
    /// Findings about the P12 that do not refuse it but may surprise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<FieldError>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RegisteredCompanyView {
    public_id: String,
    rnc: String,
    name: String,
    trade_name: Option<String>,
    address: Option<String>,
    email: String,
    phone: Option<String>,
    default_environment: String,
    is_active: bool,
    verified: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct ApiKeyView {
    key: String,
    prefix: String,
    environment: String,
    only_shown_once: bool,
}

/// Registrar una empresa
///
/// Creates the company, or for a retry within the hour replaces the key that the caller never saw.
#[utoipa::path(
    post,
    path = "/api/v1/public/register",
    tag = "Registro",
    request_body = RegisterRequest,
    responses(
        (status = 201, description = "Registered; the key is shown once", body = RegisteredView),
        (status = 409, description = "The certificate of the request proves its RNC, which a verified company has already; or the idempotency key belongs to another request; or another request with the key came at the same time. Without such a certificate the answer is 201: an unverified company may have the RNC of a verified one", body = CodedError),
        (status = 422, description = "Every bad field", body = ValidationError),
        (status = 429, description = "Too many sign-ups from this address; `Retry-After` says when to retry", body = CodedError),
        (status = 503, description = "Send the same request again", body = CodedError),
    ),
    security(()),
)]
pub(crate) async fn register(
    State(app): State<App>,
    visitor: Visitor,
    ValidJson(request): ValidJson<RegisterRequest>,
) -> Result<(StatusCode, Json<RegisteredView>), ApiError> {
    let now = app.clock.now();
    visitor
        .check_rate_limit(&app.table, app.settings.rate_limit, now)
        .await?;
    let signup_key = request.idempotency_key.as_deref().map(signup_key);
    if let Some(key) = &signup_key
        && let Some(signup) = app.table.signup(key, now).await?
    {
        return repeated(&app, &request, &signup, now).await;
    }
    let invitation = invitation(&app, &request, now).await?;
    let (identity, file) = certificate(&request, now)?.unzip();
    let verified = match &identity {
        Some(identity) => verifies(&app, identity, &request.rnc, now).await?,
        None => false,
    };
    let environment = environment(&request, verified)?;
    let id = CompanyId::from_random(ecf_runtime::random());
    let (key, new_key) = api_key(id, &request.rnc, environment, now);
    let signup = signup_key.map(|key| NewSignup {
        key,
        body_hash: request.body_hash(),
        api_key: new_key.id,
    });
    // The company is written last, in one transaction with everything that it needs, so it never exists incomplete. If
    // the sign-up fails before that, a record leads housekeeping to the orphaned P12.
    if verified && app.table.company_by_rnc(&request.rnc).await?.is_some() {
        return Err(rnc_taken(&request.rnc));
    }
    let scope = Scope {
        company: id,
        environment,
    };
    if let Some(file) = &file {
        app.table.record_unclaimed_p12(&scope, now).await?;
        app.vault.store_certificate(&id, file).await?;
    }
    if environment == Environment::TesteCF {
        app.table
            .open_precertification_ranges(&scope, app.settings.precertification_valid_until, now)
            .await?;
    }
    let warnings = warnings(identity.as_ref(), now);
    let certificate = identity.map(|identity| certificate_summary(identity.certificate(), now));
    let new = NewCompany {
        id,
        rnc: request.rnc.clone(),
        name: request.name.clone(),
        email: request.email.clone(),
        trade_name: request.trade_name.clone(),
        address: request.address.clone(),
        phone: request.phone.clone(),
        default_environment: environment,
        verified,
        certificate: certificate.clone(),
        signup,
        invitation,
        created_at: now,
    };
    let created = match app.table.create_company(new, Some(new_key)).await {
        Err(StoreError::Contended { .. }) => return Err(registered_meanwhile()),
        created => created?,
    };
    match created {
        CompanyCreated::New => {}
        CompanyCreated::RncTaken => return Err(rnc_taken(&request.rnc)),
        CompanyCreated::InvitationSpent => return Err(uninvited()),
        CompanyCreated::SignupRepeated => return Err(registered_meanwhile()),
        CompanyCreated::IdTaken => {
            return Err(ApiError::unavailable(std::time::Duration::from_secs(1)).caused_by("the company's id is taken"));
        }
    }
    enqueue_portal_job(&app, id).await;
    let view = RegisteredView {
        warnings,
        ..view(&request, id, environment, verified, &key, certificate, now)
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// A concurrent request with the same key won. Its response carries the only API key, which this request must not
/// replace.
fn registered_meanwhile() -> ApiError {
    ApiError::conflict(
        "registered_meanwhile",
        say!(
            "another request with this idempotency_key registered the company at the same time: use its answer; if \
             that got lost, send this request again",
            "otra petición con esta idempotency_key registró la empresa al mismo tiempo: use su respuesta; si se \
             perdió, envíe esta petición otra vez"
        ),
    )
}

/// A retry after a lost response: the same company, with a new key in place of the one that was never received.
async fn repeated(
    app: &App,
    request: &RegisterRequest,
    signup: &SignupRecord,
    now: Timestamp,
) -> Result<(StatusCode, Json<RegisteredView>), ApiError> {
    if !bool::from(signup.body_hash.ct_eq(&request.body_hash())) {
        return Err(ApiError::conflict(
            "idempotency_key_reused",
            say!(
                "this idempotency_key registered a company with another body: repeat the first request as it was, \
                 with the same P12, PIN and retry_secret, or use a new key",
                "esta idempotency_key registró una empresa con otro cuerpo: repita la primera petición tal como fue, \
                 con el mismo P12, PIN y retry_secret, o use una clave nueva"
            ),
        ));
    }
    let Some(company) = app.table.company(&signup.company).await? else {
        return Err(ApiError::internal(
            "a sign-up record names a company that does not exist",
        ));
    };
    // The environment of the request, not the default in the profile, which may have changed since.
    let environment = request.default_environment.unwrap_or(Environment::TesteCF);
    let (key, new_key) = api_key(company.id, &company.rnc, environment, now);
    let is_replaced = match app.table.replace_signup_key(signup, new_key, now).await {
        Err(StoreError::Contended { .. }) => false,
        replaced => replaced?,
    };
    if !is_replaced {
        return Err(registered_meanwhile());
    }
    // A file that was accepted within the hour may have expired since; the company exists nevertheless.
    let identity = certificate(request, now).ok().flatten().map(|(identity, _)| identity);
    let view = RegisteredView {
        warnings: warnings(identity.as_ref(), now),
        ..view(
            request,
            company.id,
            environment,
            company.verified,
            &key,
            company.certificate,
            now,
        )
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// The invitation that the company consumes, if one is required. It is consumed together with the company's creation,
/// so a failed sign-up does not use it up.
async fn invitation(app: &App, request: &RegisterRequest, now: Timestamp) -> Result<Option<[u8; 32]>, ApiError> {
    if !app.settings.needs_invitation {
        return Ok(None);
    }
    let code = request.invitation_code.as_deref().ok_or_else(uninvited)?;
    let hash = Sha256::digest(code.trim()).into();
    if app.table.invitation_is_good(&hash, now).await? {
        Ok(Some(hash))
    } else {
        Err(uninvited())
    }
}

/// One error for every invalid code, so that the answer does not reveal which codes existed.
fn uninvited() -> ApiError {
    let msg = say!(
        "this deployment registers invited companies only: give the code of an invitation that is neither used up \
         nor expired",
        "este despliegue solo registra empresas invitadas: dé el código de una invitación que no esté usada ni \
         vencida"
    );
    let error = FieldError::new(["body", "invitation_code"], "value_error", msg);
    ApiError::validation(vec![error.with_code("invitation_invalid")])
}

fn warnings(identity: Option<&Identity>, now: Timestamp) -> Vec<FieldError> {
    identity.map_or_else(Vec::new, |identity| {
        p12_warnings(identity, now)
            .map(|warning| FIELDS.warned(warning))
            .collect()
    })
}

/// Opens the P12 and signs a probe with it, so that no company is registered with an unusable file.
fn certificate(request: &RegisterRequest, now: Timestamp) -> Result<Option<(Identity, CertificateFile)>, ApiError> {
    let Some(p12) = &request.p12 else { return Ok(None) };
    let pin = request.pin.as_ref().map_or("", |pin| pin.as_str());
    let opened = open_p12(p12, pin, &ecf_runtime::random(), now);
    opened.map(Some).map_err(|refusal| FIELDS.refused(&refusal))
}

/// Only a trusted certificate of the taxpayer verifies the company. A delegate's certificate can sign, but proves
/// nothing; neither does a self-made one.
async fn verifies(app: &App, identity: &Identity, rnc: &Rnc, now: Timestamp) -> Result<bool, ApiError> {
    if Owner::of(identity.certificate(), rnc, &[]) != Owner::Taxpayer {
        return Ok(false);
    }
    let reason = app
        .settings
        .certificate_trust
        .why_untrusted(&app.vault, identity, rnc, now)
        .await?;
    if let Some(reason) = &reason {
        tracing::warn!(company.rnc = %rnc, doubt = %reason, "a sign-up's certificate names the taxpayer and is not trusted");
    }
    Ok(reason.is_none())
}

fn environment(request: &RegisterRequest, verified: bool) -> Result<Environment, ApiError> {
    match request.default_environment {
        None => Ok(Environment::TesteCF),
        Some(environment) if verified || environment == Environment::TesteCF => Ok(environment),
        Some(environment) => {
            let msg = say!(
                "{environment} needs a verified company: sign up in TesteCF, or with the taxpayer's own certificate, \
                 issued by an authority that this deployment trusts",
                "{environment} necesita una empresa verificada: regístrese en TesteCF, o con el certificado del \
                 propio contribuyente, emitido por una autoridad en la que confía este despliegue"
            );
            let error = FieldError::new(["body", "default_environment"], "value_error", msg)
                .with_code("company_unverified")
                .with_input(&ecf::Node::Text(environment.as_str().into()));
            Err(ApiError::validation(vec![error]))
        }
    }
}

fn rnc_taken(rnc: &Rnc) -> ApiError {
    ApiError::conflict(
        "rnc_taken",
        say!(
            "a verified company with the RNC {rnc} exists",
            "ya existe una empresa verificada con el RNC {rnc}"
        ),
    )
}

fn api_key(company: CompanyId, rnc: &Rnc, environment: Environment, now: Timestamp) -> (ApiKeySecret, NewApiKey) {
    let key = ApiKeySecret::generate(environment, ecf_runtime::random());
    let new = NewApiKey {
        company,
        environment,
        rnc: rnc.clone(),
        id: ApiKeyId::from_random(ecf_runtime::random()),
        hash: key.hash(),
        prefix: key.prefix().to_owned(),
        name: None,
        created_at: now,
        expires_at: None,
        scope: KeyScope::Full,
        created_by: None,
    };
    (key, new)
}

fn signup_key(idempotency_key: &str) -> [u8; 32] {
    Sha256::digest(idempotency_key.as_bytes()).into()
}

/// Notifies the portal through the webhook worker. A failure does not affect the sign-up.
async fn enqueue_portal_job(app: &App, company: CompanyId) {
    if !app.settings.has_portal {
        return;
    }
    if let Err(error) = app
        .queues
        .send_webhook(&WebhookJob::Portal { company, attempt: 0 }, std::time::Duration::ZERO)
        .await
    {
        tracing::warn!(company.id = %company, error = %ecf_runtime::telemetry::chain(&error), "the portal is not notified of this company");
    }
}

fn view(
    request: &RegisterRequest,
    id: CompanyId,
    environment: Environment,
    verified: bool,
    key: &ApiKeySecret,
    certificate: Option<CertificateSummary>,
    now: Timestamp,
) -> RegisteredView {
    RegisteredView {
        company: RegisteredCompanyView {
            public_id: id.to_string(),
            rnc: request.rnc.to_string(),
            name: request.name.clone(),
            trade_name: request.trade_name.clone(),
            address: request.address.clone(),
            email: request.email.clone(),
            phone: request.phone.clone(),
            default_environment: environment.to_string(),
            is_active: true,
            verified,
        },
        api_key: ApiKeyView {
            key: key.text().to_owned(),
            prefix: key.prefix().to_owned(),
            environment: environment.to_string(),
            only_shown_once: true,
        },
        certificate: certificate.map(|summary| CertificateView::of(&id, summary, true, environment, now)),
        warnings: Vec::new(),
    }
}
