//! `recepcionfc`: receives summaries of consumer invoices and returns the verdict in the response.

use axum::{
    Extension, Router,
    extract::{Request, State},
    response::Response,
    routing::post,
};

use crate::{
    App,
    answer::Answer,
    call::Caller,
    facts::Facts,
    failure::Failure,
    fault::Forced,
    reception,
    state::Kind,
    upload::{self, Upload},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/recepcionfc/api/recepcion/ecf", post(recibir))
}

async fn recibir(
    State(app): State<App>,
    caller: Caller,
    forced: Option<Extension<Forced>>,
    request: Request,
) -> Result<Response, Failure> {
    let upload = Upload::take(request).await?;
    let document = match upload.document() {
        Ok(document) => document,
        Err(refusal) => return Ok(upload::refusal(&refusal, caller.form)),
    };
    let facts = Facts::of_receipt(&document);
    if let Err(refusal) = upload.check_name(&facts.rnc_emisor, &facts.encf) {
        return Ok(upload::refusal(&refusal, caller.form));
    }
    let forced = forced.map(|Extension(forced)| forced);
    let encf = facts.encf.clone();
    let verdict = reception::decide(app, caller.environment, Kind::Rfce, document, facts, forced)
        .await?
        .verdict;
    let mensajes = verdict.mensajes.iter().map(|mensaje| {
        Answer::new("mensajes")
            .field("codigo", mensaje.codigo.clone())
            .field("valor", mensaje.valor.clone())
    });
    Ok(Answer::new("Respuesta")
        .field("codigo", verdict.codigo.number())
        .field("estado", verdict.codigo.estado())
        .records("mensajes", mensajes.collect())
        .field("encf", encf)
        .field("secuenciaUtilizada", verdict.secuencia_utilizada)
        .respond(caller.form))
}
