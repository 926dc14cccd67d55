//! `consultatrackids`: every submission of a number.

use axum::{Router, extract::State, response::Response, routing::get};

use crate::{App, answer::Answer, call::Caller, dates, encf::Encf, failure::Failure, verdict::Codigo};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/consultatrackids/api/trackids/consulta", get(consultar))
}

async fn consultar(State(app): State<App>, caller: Caller) -> Result<Response, Failure> {
    let (Some(rnc), Some(encf)) = (caller.params.get(&["rncemisor"]), caller.params.get(&["encf"])) else {
        return Err(Failure::refused("Los parámetros RncEmisor y Encf son requeridos."));
    };
    if !matches!(rnc.len(), 9 | 11) {
        return Err(Failure::refused("La longitud del RNC no es válida."));
    }
    if Encf::parse(encf).is_none() {
        return Err(Failure::refused("El e-NCF no es válido."));
    }
    caller.must_act_for(&app, &[rnc])?;
    let records = app.state.documents_by_number(caller.environment, rnc, encf)?;
    let now = app.now();
    let list = records.into_iter().filter_map(|record| {
        let state = record.codigo_at(now);
        // Only this list writes the second word in lower case.
        let estado = if state == Codigo::EnProceso {
            "En proceso"
        } else {
            state.estado()
        };
        let detail = Answer::new("TrackingDetalle")
            .field("trackId", record.track_id?)
            .field("estado", estado);
        Some(detail.field("fechaRecepcion", dates::month_first(record.received_at)))
    });
    Ok(Answer::respond_list(
        "ArrayOfTrackingDetalle",
        list.collect(),
        caller.form,
    ))
}
