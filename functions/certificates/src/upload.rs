//! `POST /api/v1/client/certificates`.
//!
//! The secret is written before the profile. If the second write fails, the new certificate signs already while the
//! profile shows the previous one. A retry of the upload finds the secret unchanged and writes the profile. Secrets
//! Manager retains the previous version.

use axum::Json;
use axum::extract::State;
use ecf::{Environment, Node, Rnc};
use ecf_api::{
    ApiError, Caller, CertificateView, CodedError, FieldError, Form, FromForm, Instant, P12Fields, ValidForm,
    ValidationError,
};
use ecf_certificates::{Owner, Untrusted, open_p12, p12_warnings};
use ecf_language::{Say, say};
use ecf_store::{
    CertificateFile, IDENTITY_MAX_AGE, StoreError, certificate_summary,
    certificates::{CertificateActivated, CertificateSummary},
    companies::{CertificateOwner, Company},
};
use http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use xmldsig::Certificate;
use zeroize::Zeroizing;

use crate::App;

pub(crate) const FIELDS: P12Fields = P12Fields {
    file: "certificate",
    pin: "pin",
};

/// A P12 with its PIN.
#[derive(ToSchema)]
pub(crate) struct UploadRequest {
    /// The P12 (PFX) file, at most 45 KB.
    #[schema(value_type = String, format = Binary)]
    certificate: Zeroizing<Vec<u8>>,
    /// The password of the file; an empty one is given as an empty part.
    #[schema(value_type = String, max_length = 200)]
    pin: Zeroizing<String>,
    /// The name that people know it by; the subject's unless given.
    #[schema(min_length = 1, max_length = 100)]
    alias: Option<String>,
    /// RNC or cédula of the holder, when the holder is a delegate of the company.
    #[schema(value_type = Option<String>)]
    delegate: Option<Rnc>,
    /// Taken for the sake of older clients: a certificate serves every environment.
    #[schema(value_type = Option<String>, example = "TesteCF")]
    environment: Option<Environment>,
}

impl FromForm for UploadRequest {
    fn read(form: &mut Form) -> Option<Self> {
        let certificate = form.file(FIELDS.file);
        let fields = form.fields();
        let pin = fields.text(FIELDS.pin).secret().length(0..=200).required();
        let alias = fields.text("alias").length(1..=100).optional();
        let delegate = fields.parsed("delegate").optional();
        let environment = fields.environment("environment").optional();
        Some(Self {
            certificate: certificate?.into_secret(),
            pin: Zeroizing::new(pin?),
            alias,
            delegate,
            environment,
        })
    }
}

/// The certificate that signs for the company.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UploadedView {
    #[serde(flatten)]
    certificate: CertificateView,
    /// After this instant nothing is signed with the certificate before: receipts within a minute after the upload, approvals and
    /// annulments within five. At once where the one before has expired.
    signs_everywhere_from: Instant,
    /// Findings that do not refuse the file but may surprise.
    warnings: Vec<FieldError>,
}

/// Subir un certificado
///
/// Stores a P12 that opens, is valid and has signed a probe. Receipts are signed with it within a minute, everything else within five
/// minutes. The same file again answers the same record.
#[utoipa::path(
    post,
    path = "/api/v1/client/certificates",
    operation_id = "upload_certificate",
    tag = "Certificados",
    request_body(content = UploadRequest, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "Stored and active; from `signs_everywhere_from` on nothing is signed with the previous one", body = UploadedView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "Another certificate was uploaded at the same time; send the one that is to sign again", body = CodedError),
        (status = 413, description = "The body is too large", body = CodedError),
        (status = 415, description = "The body is no form", body = CodedError),
        (status = 422, description = "The file or the PIN cannot be used; `ctx.code` has the reason", body = ValidationError),
        (status = 503, description = "Send the same request again", body = CodedError),
    ),
    security(("api_key" = ["full", "highest_environment"])),
)]
pub(crate) async fn upload(
    State(app): State<App>,
    caller: Caller,
    ValidForm(request): ValidForm<UploadRequest>,
) -> Result<(StatusCode, Json<UploadedView>), ApiError> {
    let now = app.clock.now();
    let (identity, file) = open_p12(&request.certificate, &request.pin, &ecf_runtime::random(), now)
        .map_err(|refusal| FIELDS.refused(&refusal))?;
    let certificate = identity.certificate();
    let Some(company) = app.table.company(caller.company()).await? else {
        return Err(ApiError::internal("an API key names a company that does not exist"));
    };
    let owner = Owner::of(certificate, &company.rnc, request.delegate.as_slice());
    let mut warnings = Vec::new();
    warnings.extend(check_owner(&app, &company, &owner, request.delegate.as_ref())?);
    warnings.extend(p12_warnings(&identity, now).map(|warning| FIELDS.warned(warning)));
    warnings.extend(other_environment(request.environment, caller.environment()));
    let summary = summary(certificate, request.alias.as_deref(), &company, now);
    let mut claims = !company.verified && owner == Owner::Taxpayer;
    if claims
        && let Some(reason) = app
            .certificate_trust
            .why_untrusted(&app.vault, &identity, &company.rnc, now)
            .await?
    {
        warnings.push(untrusted(&company, &reason));
        claims = false;
    }

    app.vault.renew_certificate(&company.id, &file).await?;
    app.identities.forget(&company.id);
    warnings.extend(activate(&app, &company, &summary, claims, now).await?);
    check_still_current(&app, &company, &file).await?;
    tracing::info!(company.id = %company.id, certificate.sha256 = certificate.fingerprint_hex(), "certificate uploaded");

    let certificate = CertificateView::of(&company.id, summary, true, caller.environment(), now);
    let uploaded = UploadedView {
        certificate,
        // Measured from now, because an instance may have read the vault just before the write.
        signs_everywhere_from: (app.clock.now() + IDENTITY_MAX_AGE).into(),
        warnings,
    };
    Ok((StatusCode::CREATED, Json(uploaded)))
}

/// Validates the owner of the certificate: the taxpayer or one of its delegates.
fn check_owner(
    app: &App,
    company: &Company,
    owner: &Owner,
    delegate: Option<&Rnc>,
) -> Result<Option<FieldError>, ApiError> {
    let stated = match owner {
        Owner::Taxpayer | Owner::Delegate(_) => return Ok(None),
        Owner::Other(stated) => say!(
            "the certificate belongs to {stated}",
            "el certificado pertenece a {stated}"
        ),
        Owner::Unstated => say!(
            "the certificate does not say whose it is",
            "el certificado no dice de quién es"
        ),
    };
    if let Some(delegate) = delegate {
        let msg = say!(
            [stated],
            "{stated}, not to the delegate {delegate}",
            "{stated}, no al delegado {delegate}"
        );
        let error = FieldError::new(["body", "delegate"], "certificate_error", msg)
            .with_input(&Node::Text(delegate.as_str().into()))
            .with_code("owner");
        return Err(ApiError::validation(vec![error]));
    }
    let msg = say!(
        [stated],
        "{stated}, the company's RNC is {}: its holder needs the delegation *Firmante autorizado* at the tax \
         authority; name the holder in `delegate` to confirm",
        "{stated}, el RNC de la empresa es {}: su titular necesita la delegación *Firmante autorizado* en la DGII; \
         nombre al titular en `delegate` para confirmar",
        company.rnc
    );
    let finding = FieldError::new(["body", FIELDS.file], "certificate_error", msg)
        .with_code("owner")
        .with_ctx("expected", company.rnc.to_string());
    // The stricter of the two settings applies.
    if [app.certificate_owner, company.settings.certificate_owner].contains(&CertificateOwner::Refuse) {
        return Err(ApiError::validation(vec![finding]));
    }
    Ok(Some(finding))
}

/// A warning only: the certificate signs, and the authority decides whether it accepts it.
fn untrusted(company: &Company, reason: &Untrusted) -> FieldError {
    let reason = reason.say();
    let msg = say!(
        [reason],
        "the certificate names the RNC {}, but does not verify the company: {reason}; whoever operates this \
         deployment can verify it",
        "el certificado nombra el RNC {}, pero no verifica la empresa: {reason}; quien opera este despliegue puede \
         verificarla",
        company.rnc
    );
    FieldError::new(["body", FIELDS.file], "certificate_error", msg).with_code("untrusted_issuer")
}

/// A certificate serves every environment, also when an older client names one.
fn other_environment(given: Option<Environment>, own: Environment) -> Option<FieldError> {
    let given = given.filter(|given| *given != own)?;
    let msg = say!(
        "the certificate serves every environment, {given} as well as {own}",
        "el certificado sirve en todos los ambientes, tanto {given} como {own}"
    );
    Some(FieldError::new(["body", "environment"], "value_error", msg).with_code("every_environment"))
}

/// The stored summary. A repeated upload of the active certificate retains the time of its upload, and its alias unless
/// a new one is given.
fn summary(certificate: &Certificate, alias: Option<&str>, company: &Company, now: Timestamp) -> CertificateSummary {
    let mut summary = certificate_summary(certificate, now);
    if let Some(active) = &company.certificate
        && active.sha256 == summary.sha256
    {
        summary.stored_at = active.stored_at;
        summary.alias.clone_from(&active.alias);
    }
    if let Some(alias) = alias {
        alias.clone_into(&mut summary.alias);
    }
    summary
}

/// Writes the profile. The taxpayer's own trusted certificate also verifies a company that signed up by itself.
async fn activate(
    app: &App,
    company: &Company,
    summary: &CertificateSummary,
    claims: bool,
    now: Timestamp,
) -> Result<Option<FieldError>, ApiError> {
    let claim = claims.then_some(&company.rnc);
    let activated = match app.table.activate_certificate(&company.id, summary, claim, now).await {
        Err(StoreError::Contended { .. }) => return Err(uploaded_meanwhile()),
        activated => activated?,
    };
    let (activated, warning) = match activated {
        CertificateActivated::RncTaken => {
            let msg = say!(
                "another company is verified for the RNC {}: this one stays unverified",
                "otra empresa está verificada con el RNC {}: esta queda sin verificar",
                company.rnc
            );
            let warning = FieldError::new(["body", FIELDS.file], "value_error", msg).with_code("rnc_taken");
            let again = app.table.activate_certificate(&company.id, summary, None, now).await?;
            (again, Some(warning))
        }
        other => (other, None),
    };
    match activated {
        CertificateActivated::Done => Ok(warning),
        other => Err(ApiError::internal(format!(
            "the certificate was kept but not activated: {other:?}"
        ))),
    }
}

fn uploaded_meanwhile() -> ApiError {
    ApiError::conflict(
        "uploaded_meanwhile",
        say!(
            "another certificate was uploaded at the same time: send the one that is to sign again, by itself",
            "se subió otro certificado al mismo tiempo: envíe otra vez, solo, el que debe firmar"
        ),
    )
}

/// Two concurrent uploads may write secret and profile in different orders. The one that wrote the profile last finds
/// the other's secret here and fails, so that the company decides which file is current.
async fn check_still_current(app: &App, company: &Company, file: &CertificateFile) -> Result<(), ApiError> {
    let held = app.vault.certificate(&company.id).await?;
    if held.is_some_and(|held| held.file.uploaded_sha256 == file.uploaded_sha256) {
        return Ok(());
    }
    Err(uploaded_meanwhile())
}
