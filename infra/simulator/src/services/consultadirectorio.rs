//! `consultadirectorio`: the addresses at which taxpayers receive documents. The control service sets its entries.

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};

use crate::{App, answer::Answer, call::Caller, environment::Environment, failure::Failure, settings::DirectoryEntry};

const LIST: &str = "ArrayOfDirectorio";

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/consultadirectorio/api/consultas/listado", get(listado))
        .route(
            "/consultadirectorio/api/consultas/obtenerdirectorioporrnc",
            get(por_rnc),
        )
}

async fn listado(State(app): State<App>, caller: Caller) -> Response {
    let entries = app.state.settings().directory;
    let list = entries.into_iter().map(|(rnc, entry)| record(&rnc, entry)).collect();
    Answer::respond_list(LIST, list, caller.form)
}

/// The documentation and pre-certification return an array; production returns one object.
async fn por_rnc(State(app): State<App>, caller: Caller) -> Result<Response, Failure> {
    let Some(rnc) = caller.params.get(&["rnc"]) else {
        return Err(Failure::refused("El parámetro RNC es requerido."));
    };
    let Some(entry) = app.state.settings().directory.remove(rnc) else {
        return Ok(().into_response());
    };
    let record = record(rnc, entry);
    Ok(match caller.environment {
        Environment::Ecf => record.respond(caller.form),
        _ => Answer::respond_list(LIST, vec![record], caller.form),
    })
}

fn record(rnc: &str, entry: DirectoryEntry) -> Answer {
    Answer::new("Directorio")
        .field("nombre", entry.nombre)
        .field("rnc", rnc)
        .field("urlRecepcion", entry.url_recepcion)
        .field("urlAceptacion", entry.url_aceptacion)
        .field("urlOpcional", entry.url_opcional)
}
