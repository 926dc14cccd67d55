//! `autenticacion`: issues a seed, and exchanges the signed seed for a token.

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use http::header;

use crate::{
    App, answer::Answer, call::Visitor, dates, failure::Failure, signature, state::random_id, structure, token,
    upload::Upload, xml::Element,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/autenticacion/api/autenticacion/semilla", get(semilla))
        .route("/autenticacion/api/autenticacion/validarsemilla", post(validar_semilla))
}

/// The seed is indented and declares two unused namespaces: both have broken signers.
pub(super) async fn semilla(State(app): State<App>, visitor: Visitor) -> Result<Response, Failure> {
    let now = app.now();
    let valor = BASE64_STANDARD.encode(random_id() + &random_id());
    app.state.add_seed(visitor.environment, &valor, now)?;
    let seed = Element::new("SemillaModel")
        .attribute("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
        .attribute("xmlns:xsd", "http://www.w3.org/2001/XMLSchema")
        .with("valor", valor)
        .with("fecha", dates::with_offset(now));
    Ok((
        [(header::CONTENT_TYPE, "application/xml; charset=utf-8")],
        seed.indented_document(),
    )
        .into_response())
}

pub(super) async fn validar_semilla(
    State(app): State<App>,
    visitor: Visitor,
    request: Request,
) -> Result<Response, Failure> {
    let upload = Upload::take(request).await?;
    let document = upload.document().map_err(|refusal| Failure::refused(refusal.valor))?;
    let now = app.now();
    if !structure::faults_of_message(&document.root, "SemillaModel").is_empty() {
        return Err(Failure::refused("La estructura de la semilla no es válida."));
    }
    let valor = document.root.text_at(&["valor"]).unwrap_or_default().to_owned();
    let signer = tokio::task::spawn_blocking(move || signature::verify(&document))
        .await?
        .map_err(|error| {
            tracing::info!(error = %error, "a signed seed was refused");
            Failure::refused("Firma del certificado invalida")
        })?;
    if !signer.is_in_force(now) {
        return Err(Failure::refused("El certificado digital no está vigente."));
    }
    let settings = app.state.settings();
    if settings.is_barred(&signer.fingerprint, &signer.owner) {
        let owner = signer.owner;
        let text = format!("El RNC {owner} del certificado no está delegado para realizar transaciones.");
        return Err(Failure::refused(text));
    }
    if !app.state.use_seed(visitor.environment, &valor, now)? {
        return Err(Failure::refused("La semilla no es válida o expiró."));
    }
    let issued = token::issue(&settings.token_key, &signer, visitor.environment, now);
    Ok(Answer::new("RespuestaAutenticacion")
        .field("token", issued.token)
        .field("expira", dates::universal(issued.expira))
        .field("expedido", dates::universal(issued.expedido))
        .respond(visitor.form))
}
