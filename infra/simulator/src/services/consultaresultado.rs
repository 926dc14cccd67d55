//! `consultaresultado`: the verdict of a track id.

use axum::{Router, extract::State, response::Response, routing::get};
use serde_json::Value;

use crate::{
    App,
    answer::Answer,
    call::Caller,
    dates,
    failure::Failure,
    verdict::{Codigo, Mensaje},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/consultaresultado/api/consultas/estado", get(consultar))
}

async fn consultar(State(app): State<App>, caller: Caller) -> Result<Response, Failure> {
    let Some(track_id) = caller.params.get(&["trackid"]) else {
        return Err(Failure::refused("El parámetro trackId es requerido."));
    };
    let observed = app.state.settings().observed_shapes;
    let Some(record) = app.state.document_by_track_id(caller.environment, track_id)? else {
        return Ok(Answer::new("RespuestaConsultaTrackId")
            .field("trackId", track_id)
            .field("codigo", codigo(Codigo::NoEncontrado, observed))
            .field("estado", Codigo::NoEncontrado.estado())
            .field("rnc", Value::Null)
            .field_named("eNCF", "encf", Value::Null)
            .field("secuenciaUtilizada", false)
            .field("fechaRecepcion", Value::Null)
            .records("mensajes", Vec::new())
            .respond(caller.form));
    };
    caller.must_act_for(&app, &[&record.facts.rnc_emisor])?;
    let state = record.codigo_at(app.now());
    let pending = state == Codigo::EnProceso;
    let mensajes = if pending {
        &[]
    } else {
        record.verdict.mensajes.as_slice()
    };
    // Seen in real traffic: the name is in lower case, and an empty list is one message with empty text.
    let name = if observed { "encf" } else { "eNCF" };
    let mut mensajes: Vec<Answer> = mensajes.iter().map(message).collect();
    if observed && mensajes.is_empty() {
        mensajes.push(Answer::new("mensajes").field("valor", "").field("codigo", 0));
    }
    Ok(Answer::new("RespuestaConsultaTrackId")
        .field("trackId", track_id)
        .field("codigo", codigo(state, observed))
        .field("estado", state.estado())
        .field("rnc", record.facts.rnc_emisor)
        .field_named(name, "encf", record.facts.encf)
        .field("secuenciaUtilizada", !pending && record.verdict.secuencia_utilizada)
        .field("fechaRecepcion", dates::month_first(record.received_at))
        .records("mensajes", mensajes)
        .respond(caller.form))
}

/// Documented as a number, seen in real traffic as text.
fn codigo(codigo: Codigo, observed: bool) -> Value {
    if observed {
        codigo.number().to_string().into()
    } else {
        codigo.number().into()
    }
}

pub(super) fn message(mensaje: &Mensaje) -> Answer {
    let codigo = mensaje
        .codigo
        .parse::<i64>()
        .map_or_else(|_| mensaje.codigo.clone().into(), Value::from);
    Answer::new("mensajes")
        .field("valor", mensaje.valor.clone())
        .field("codigo", codigo)
}
