//! `consultarfce`: the state of a summary. Every environment offers it since 02-01-2026.

use axum::{Router, extract::State, response::Response, routing::get};

use super::{consultaestado::most_relevant, consultaresultado::message};
use crate::{App, answer::Answer, call::Caller, failure::Failure, state::Kind, verdict::Codigo};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/consultarfce/api/consultas/consulta", get(consultar))
}

async fn consultar(State(app): State<App>, caller: Caller) -> Result<Response, Failure> {
    let value = |name| caller.params.get(&[name]);
    let (Some(rnc), Some(encf), Some(code)) = (value("rnc_emisor"), value("encf"), value("cod_seguridad_ecf")) else {
        return Err(Failure::refused(
            "Los parámetros RNC_Emisor, ENCF y Cod_Seguridad_eCF son requeridos.",
        ));
    };
    caller.must_act_for(&app, &[rnc])?;
    let records = app.state.documents_by_number(caller.environment, rnc, encf)?;
    let matching =
        |record: &crate::state::Record| record.kind == Kind::Rfce.name() && record.facts.codigo_seguridad == code;
    let record = most_relevant(records.into_iter().filter(matching));
    let state = record
        .as_ref()
        .map_or(Codigo::NoEncontrado, |record| record.verdict.codigo);
    let burned = record.as_ref().is_some_and(|record| record.verdict.secuencia_utilizada);
    let mensajes = record.map(|record| record.verdict.mensajes).unwrap_or_default();
    Ok(Answer::new("RespuestaConsultaRFCE")
        .field("rnc", rnc)
        .field("encf", encf)
        .field("secuenciaUtilizada", burned)
        .field("codigo", state.number().to_string())
        .field("estado", state.estado())
        .records("mensajes", mensajes.iter().map(message).collect())
        .respond(caller.form))
}
