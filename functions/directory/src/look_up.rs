//! `GET /api/v1/taxauth/directory`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use ecf::{Environment, Rnc};
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, Instant, Spoken, ValidQuery, ValidationError};
use ecf_certificates::signing_identity;
use ecf_language::{Bilingual, Say, say};
use ecf_store::directory::DirectoryListing;
use ecf_taxauth::{DirectoryError, Known, TaxAuthError, TokenError, Wanted};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;

/// `Retry-After` when the authority does not send one.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Whom to look up.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DirectoryQuery {
    /// The taxpayer: 9 digits (RNC) or 11 (cedula).
    #[param(value_type = String)]
    rnc: Rnc,
    /// Asks the authority even if an answer of the last hours is cached; at most once a minute for each taxpayer.
    #[param(required = false, value_type = bool, default = false)]
    refresh: Wanted,
}

impl FromFields for DirectoryQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let rnc = fields.parsed("rnc").required();
        let refresh = if fields.boolean("refresh").or(false) {
            Wanted::Fresh
        } else {
            Wanted::Cached
        };
        Some(Self { rnc: rnc?, refresh })
    }
}

/// What the directory says of a taxpayer. The addresses are prefixes: `/fe/recepcion/api/ecf` and so on follow them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DirectoryView {
    rnc: String,
    environment: String,
    /// Whether the taxpayer receives electronic receipts.
    listed: bool,
    nombre: Option<String>,
    url_recepcion: Option<String>,
    /// Where commercial approvals go.
    url_aceptacion: Option<String>,
    /// Where it hands out tokens; absent when it wants none.
    url_opcional: Option<String>,
    /// When the tax authority answered.
    #[schema(value_type = String, format = DateTime)]
    checked_at: Instant,
    age_seconds: i64,
    /// Why this is older than it should be: the tax authority could not be asked.
    #[schema(value_type = Option<String>)]
    problem: Option<Spoken>,
}

/// Directorio de contribuyentes electrónicos
///
/// Says where a taxpayer receives electronic receipts, in the key's environment.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/directory",
    operation_id = "show_directory_entry",
    tag = "Autoridad tributaria",
    params(DirectoryQuery),
    responses(
        (status = 200, description = "The entry, or that none exists; cached for hours, with its age", body = DirectoryView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "The company has no valid certificate to ask with, the tax authority refuses it, or has no directory in this environment", body = CodedError),
        (status = 422, description = "The key is missing, or every bad parameter", body = ValidationError),
        (status = 503, description = "No answer is cached and the tax authority cannot be asked now", body = CodedError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn look_up(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<DirectoryQuery>,
) -> Result<Json<DirectoryView>, ApiError> {
    let (environment, now) = (caller.environment(), app.clock.now());
    if let Some(listing) = app
        .directory
        .cached(environment, &query.rnc, query.refresh, now)
        .await?
    {
        return Ok(Json(view(&query.rnc, environment, listing, None, now)));
    }
    let identity = signing_identity(&app.identities, caller.company(), now).await?;
    let session = app.tokens.session(environment, &identity).of_company(caller.company());
    let known = app.directory.look_up(&session, &query.rnc, query.refresh, now).await;
    let Known { listing, problem } = known.map_err(unknown)?;
    Ok(Json(view(&query.rnc, environment, listing, problem, now)))
}

fn unknown(error: DirectoryError) -> ApiError {
    match error {
        DirectoryError::Store(error) => error.into(),
        DirectoryError::Authority(error) => unasked(error),
    }
}

fn unasked(error: TaxAuthError) -> ApiError {
    let refused = |answer: &ecf_taxauth::Answer| {
        let words = match answer.words() {
            Some(words) => Bilingual::same(words),
            None => say!("without words", "sin palabras"),
        };
        ApiError::conflict(
            "taxauth_refused",
            say!(
                [words],
                "the tax authority refuses: {words}",
                "la DGII rechaza la consulta: {words}"
            ),
        )
    };
    match &error {
        TaxAuthError::NotOffered { environment, .. } => ApiError::conflict(
            "directory_not_offered",
            say!(
                "the tax authority has no directory in {environment}",
                "la DGII no tiene directorio en {environment}"
            ),
        ),
        TaxAuthError::Refused { answer, .. } | TaxAuthError::NoToken(TokenError::Refused(answer)) => {
            refused(answer).caused_by(error)
        }
        TaxAuthError::NoToken(TokenError::Store(_) | TokenError::Identity(_) | TokenError::Seed(_)) => {
            ApiError::internal(error)
        }
        _ => {
            let why = error.say();
            let message = say!(
                [why],
                "the tax authority's directory cannot be asked now: {why}",
                "no se puede consultar ahora el directorio de la DGII: {why}"
            );
            let retry_after = error.retry_after().unwrap_or(RETRY_AFTER);
            ApiError::unavailable_because("taxauth_unavailable", message, retry_after).caused_by(error)
        }
    }
}

fn view(
    rnc: &Rnc,
    environment: Environment,
    listing: DirectoryListing,
    problem: Option<TaxAuthError>,
    now: Timestamp,
) -> DirectoryView {
    if let Some(error) = &problem {
        tracing::warn!(%environment, error = %ecf_runtime::telemetry::chain(error), "an outdated entry of the directory was answered");
    }
    let listed = listing.entry.is_some();
    let entry = listing.entry.unwrap_or_default();
    DirectoryView {
        rnc: rnc.to_string(),
        environment: environment.to_string(),
        listed,
        nombre: entry.nombre,
        url_recepcion: entry.url_recepcion,
        url_aceptacion: entry.url_aceptacion,
        url_opcional: entry.url_opcional,
        checked_at: Instant(listing.checked_at),
        age_seconds: now.duration_since(listing.checked_at).as_secs().max(0),
        problem: problem.map(|error| Spoken(error.say())),
    }
}
