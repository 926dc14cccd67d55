//! The status service, one for all environments. It requires an API key instead of a token.

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderMap, Uri, header};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    App,
    answer::{Answer, Form},
    environment::{Environment, Service},
    failure::Failure,
    fault::{FaultKind, Target},
    params::Params,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/estatusservicios/obtenerestatus", get(estatus))
        .route("/api/estatusservicios/obtenerventanasmantenimiento", get(ventanas))
        .route("/api/estatusservicios/verificarestado", get(verificar))
}

/// Lists pre-certification and production.
async fn estatus(State(app): State<App>, headers: HeaderMap) -> Result<Response, Failure> {
    check_key(&headers)?;
    let now = app.now();
    let mut list = Vec::new();
    for environment in [Environment::Testecf, Environment::Ecf] {
        for service in Service::ALL {
            let Some(title) = service.status_title() else { continue };
            let estatus = available(is_up(&app, service, environment, now)?);
            list.push(
                Answer::new("EstatusServicio")
                    .field("servicio", title)
                    .field("estatus", estatus)
                    .field("ambiente", environment.status_name()),
            );
        }
    }
    Ok(Answer::respond_list("ArrayOfEstatusServicio", list, Form::of(&headers)))
}

async fn ventanas(State(app): State<App>, headers: HeaderMap) -> Result<Response, Failure> {
    check_key(&headers)?;
    Ok(axum::Json(json!({ "ventanaMantenimientos": app.state.settings().maintenance })).into_response())
}

async fn verificar(State(app): State<App>, headers: HeaderMap, uri: Uri) -> Result<Response, Failure> {
    check_key(&headers)?;
    let params = Params::of(&uri);
    let Some(environment) = params.get(&["ambiente"]).and_then(Environment::from_status_number) else {
        return Err(Failure::refused("El ambiente no es válido."));
    };
    let up = !app.state.settings().in_maintenance(environment, app.now());
    Ok(Answer::new("EstadoAmbiente")
        .field("estado", available(up))
        .respond(Form::of(&headers)))
}

fn check_key(headers: &HeaderMap) -> Result<(), Failure> {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match given.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("apikey") && !key.trim().is_empty() => Ok(()),
        _ => Err(Failure::Unauthorized),
    }
}

/// A service with a maintenance fault is reported as down, like a service in a maintenance window.
fn is_up(app: &App, service: Service, environment: Environment, now: Timestamp) -> Result<bool, Failure> {
    let target = Target {
        service,
        environment: Some(environment),
        rnc: None,
        encf: None,
    };
    let ordered = app
        .state
        .faults()?
        .iter()
        .any(|(_, order, _)| order.fault == FaultKind::Maintenance && order.is_for(&target));
    Ok(!ordered && !app.state.settings().in_maintenance(environment, now))
}

fn available(up: bool) -> &'static str {
    if up { "Disponible" } else { "No Disponible" }
}
