//! The services, one file each, and their routes: `/{ambiente}/{servicio}/…`, in any letter case.

mod anulacionrangos;
mod aprobacioncomercial;
mod autenticacion;
mod consultadirectorio;
mod consultaestado;
mod consultaresultado;
mod consultarfce;
mod consultatimbre;
mod consultatrackids;
mod emisorreceptor;
mod estatusservicios;
mod recepcion;
mod recepcionfc;

use axum::{
    Extension, Router,
    extract::DefaultBodyLimit,
    extract::Request,
    middleware::{self, Next},
    response::Response,
};
use http::{Uri, uri::PathAndQuery};

use crate::{
    App, control,
    environment::{Environment, Service},
    fault::{self, Post},
};

/// Upload limit: room for a receipt of ten thousand lines.
const MOST_UPLOAD_BYTES: usize = 20 * 1024 * 1024;

/// All routes on one port: the hosts `ecf` and `fc` of the three environments, the status service, the control service.
pub(crate) fn router(app: &App) -> Router {
    let mut services = Router::new();
    for environment in Environment::ALL {
        let mut offered = Router::new();
        for service in Service::ALL.into_iter().filter(|one| one.is_offered_in(environment)) {
            let post = Post {
                app: app.clone(),
                service,
                environment: Some(environment),
            };
            let routes = routes(service).route_layer(middleware::from_fn_with_state(post, fault::intercept));
            offered = offered.merge(routes.layer(Extension(environment)));
        }
        services = services.nest(&format!("/{}", environment.segment()), offered);
    }
    let post = Post {
        app: app.clone(),
        service: Service::EstatusServicios,
        environment: None,
    };
    let status = estatusservicios::routes().route_layer(middleware::from_fn_with_state(post, fault::intercept));
    let all = services.merge(status).merge(control::routes()).with_state(app.clone());
    // The inner router is a fallback service, so this layer changes the path before the inner router matches it.
    Router::new()
        .fallback_service(all)
        .layer(middleware::from_fn(in_lower_case))
        .layer(DefaultBodyLimit::max(MOST_UPLOAD_BYTES))
}

fn routes(service: Service) -> Router<App> {
    match service {
        Service::Autenticacion => autenticacion::routes(),
        Service::Recepcion => recepcion::routes(),
        Service::RecepcionFc => recepcionfc::routes(),
        Service::ConsultaRfce => consultarfce::routes(),
        Service::ConsultaResultado => consultaresultado::routes(),
        Service::ConsultaEstado => consultaestado::routes(),
        Service::ConsultaTrackIds => consultatrackids::routes(),
        Service::AprobacionComercial => aprobacioncomercial::routes(),
        Service::AnulacionRangos => anulacionrangos::routes(),
        Service::ConsultaDirectorio => consultadirectorio::routes(),
        Service::ConsultaTimbre => consultatimbre::routes(),
        Service::ConsultaTimbreFc => consultatimbre::summary_routes(),
        Service::EstatusServicios => estatusservicios::routes(),
        Service::EmisorReceptor => emisorreceptor::routes(),
    }
}

async fn in_lower_case(mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !path.starts_with(control::PREFIX) {
        let lower = path.trim_end_matches('/').to_ascii_lowercase();
        let query = request
            .uri()
            .query()
            .map(|query| format!("?{query}"))
            .unwrap_or_default();
        let mut parts = request.uri().clone().into_parts();
        if let Ok(path_and_query) = PathAndQuery::try_from(format!("{lower}{query}")) {
            parts.path_and_query = Some(path_and_query);
            if let Ok(uri) = Uri::from_parts(parts) {
                *request.uri_mut() = uri;
            }
        }
    }
    next.run(request).await
}
