//! `recepcion`: receives full receipts. The response only confirms the reception; the verdict is queried by track id.

use axum::{
    Extension, Router,
    extract::{Request, State},
    response::Response,
    routing::post,
};
use serde_json::Value;

use crate::{
    App,
    answer::Answer,
    call::Caller,
    facts::Facts,
    failure::Failure,
    fault::{Forced, Forgotten},
    reception,
    state::{Kind, random_id},
    upload::{self, Upload},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/recepcion/api/facturaselectronicas", post(recibir))
}

async fn recibir(
    State(app): State<App>,
    caller: Caller,
    forced: Option<Extension<Forced>>,
    forgotten: Option<Extension<Forgotten>>,
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
    let track_id = match forgotten {
        Some(_) => random_id(),
        None => {
            let decision = reception::decide(app, caller.environment, Kind::Ecf, document, facts, forced).await?;
            decision.track_id
        }
    };
    Ok(Answer::new("RespuestaRecepcion")
        .field("trackId", track_id)
        .field("error", Value::Null)
        .field("mensaje", Value::Null)
        .respond(caller.form))
}
