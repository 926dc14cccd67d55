//! Seeds and tokens for other issuers. A caller that returns our seed, signed with a valid certificate, gets a token.

use axum::Json;
use axum::response::{IntoResponse, Response};
use ecf::messages::{RespuestaAutenticacion, Semilla};
use ecf_api::ApiError;
use ecf_certificates::SignedBy;
use ecf_language::{Bilingual, Say, say};
use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use serde::Serialize;
use xmldsig::Verified;

use crate::address::Address;
use crate::seal::{Seal, TOKEN_VALID};
use crate::{App, Call, Recipient, limits, upload};

/// The binding of seeds and tokens for an address without a company.
const BARE: &str = "fe";

#[derive(Debug, Serialize)]
struct TokenView {
    token: String,
    expira: String,
    expedido: String,
}

/// Answers a fresh seed. It is XML, whatever the caller accepts.
pub(crate) async fn semilla(app: &App, call: &Call) -> Result<Response, ApiError> {
    let now = app.clock.now();
    app.limit(call.visitor, "semilla", now).await?;
    let bound = bound(app, &call.address, now).await?;
    let valor = Seal::of(&app.vault).await?.seed(ecf_runtime::random(), &bound, now);
    let valor = valor
        .parse()
        .map_err(|error| ApiError::internal(format!("a seed is a text: {error}")))?;
    Ok(xml(Semilla::new(valor, now).to_xml()))
}

/// Answers a token for a signed seed.
pub(crate) async fn validate(app: &App, call: &Call, body: &[u8]) -> Result<Response, ApiError> {
    let now = app.clock.now();
    app.limit(call.visitor, "validacioncertificado", now).await?;
    let bound = bound(app, &call.address, now).await?;
    let document = upload::document(&call.headers, body)
        .ok_or_else(|| malformed(say!("the request carries no XML", "la petición no trae XML")))?;
    let signed = upload::without_mark(document);
    Semilla::from_xml(signed).map_err(|error| malformed(error.say()))?;
    let verified = xmldsig::verify(signed, &limits()).map_err(|error| refused(error.say()))?;
    // Read from the signed bytes.
    let seed = Semilla::from_xml(&verified.document).map_err(|error| malformed(error.say()))?;
    let valor = seed
        .valor
        .ok_or_else(|| malformed(say!("valor is missing", "falta valor")))?;
    let seal = Seal::of(&app.vault).await?;
    let seed = seal.open_seed(valor.as_str(), &bound, now);
    let seed = seed.ok_or_else(|| {
        refused(say!(
            "the seed was not given at this address within the last five minutes",
            "la semilla no se dio en esta dirección en los últimos cinco minutos"
        ))
    })?;
    if !app.table.use_seed(&seed.nonce, seed.expires_at).await? {
        return Err(refused(say!("the seed was used already", "la semilla ya se usó")));
    }
    let signer = signer(app, &verified, &bound, now).await?;
    let view = TokenView {
        token: seal.token(&signer, &bound, now).map_err(ApiError::internal)?,
        expira: format!("{:.0}", now + TOKEN_VALID),
        expedido: format!("{now:.0}"),
    };
    let mut answer = if wants_xml(&call.headers) {
        view.as_xml()?
    } else {
        Json(view).into_response()
    };
    answer
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

/// Validates the token for this address, and returns its subject.
pub(crate) async fn check_token(
    app: &App,
    recipient: &Recipient,
    call: &Call,
    now: Timestamp,
) -> Result<String, ApiError> {
    let bound = match call.address.rnc {
        Some(_) => bound_to(recipient),
        None => BARE.to_owned(),
    };
    let shown = call.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = shown.and_then(|shown| {
        let (scheme, token) = shown.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match token {
        Some(token) => match Seal::of(&app.vault).await?.open_token(token, &bound, now) {
            Some(caller) => {
                tracing::info!(caller, "a service was called with a token");
                Ok(caller)
            }
            None => Err(refused(say!(
                "the token is not of this address, or expired",
                "el token no es de esta dirección, o venció"
            ))),
        },
        None => Err(refused(say!(
            "a token is needed: sign a seed of this address first",
            "se necesita un token: firme primero una semilla de esta dirección"
        ))),
    }
}

/// The subject of the seed's signer. The signer is validated like every other signer.
async fn signer(app: &App, verified: &Verified, bound: &str, now: Timestamp) -> Result<String, ApiError> {
    let signed = SignedBy {
        chain: verified.into(),
        signed_at: None,
        taxpayer: None,
    };
    let accepted = app.judge.judge(signed, now).await?.accepted();
    let (signer, trusted) = accepted.map_err(|refusal| refused(refusal.say()))?;
    tracing::info!(caller = signer.subject, trusted, address = bound, "a token was given");
    Ok(signer.subject)
}

/// The binding of seeds and tokens for this address.
async fn bound(app: &App, address: &Address, now: Timestamp) -> Result<String, ApiError> {
    let Some(rnc) = &address.rnc else {
        return Ok(BARE.to_owned());
    };
    let recipient = app.recipient(rnc, address.environment, now).await?;
    recipient.as_ref().map(bound_to).ok_or_else(ApiError::not_found)
}

fn bound_to(recipient: &Recipient) -> String {
    let environment = recipient.scope.environment.path_segment();
    format!("{}/{environment}", recipient.company.rnc)
}

impl TokenView {
    fn as_xml(&self) -> Result<Response, ApiError> {
        let text = |text: &str| {
            let text = text.parse();
            text.map_err(|error| ApiError::internal(format!("a token is a text: {error}")))
        };
        let answer = RespuestaAutenticacion::new(text(&self.token)?, text(&self.expira)?, text(&self.expedido)?);
        Ok(xml(answer.to_xml()))
    }
}

/// Whether the caller prefers XML; the default is JSON.
fn wants_xml(headers: &HeaderMap) -> bool {
    let accept = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let accept = accept.to_ascii_lowercase();
    match (accept.find("xml"), accept.find("json")) {
        (Some(xml), Some(json)) => xml < json,
        (xml, _) => xml.is_some(),
    }
}

pub(crate) fn xml(bytes: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/xml")], bytes).into_response()
}

fn malformed(why: Bilingual) -> ApiError {
    ApiError::bad_request("malformed_seed", why)
}

fn refused(why: Bilingual) -> ApiError {
    ApiError::unauthorized("not_authenticated", why)
}
