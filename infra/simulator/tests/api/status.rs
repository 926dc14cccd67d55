//! The status service and maintenance windows.

use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{Authority, SEED};

async fn ask(authority: &Authority, path: &str) -> Value {
    let request = Request::get(format!("/API/EstatusServicios/{path}")).header(header::AUTHORIZATION, "Apikey x");
    let answer = authority.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    answer.json()
}

#[tokio::test]
async fn the_status_service_wants_its_own_key() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let path = "/api/estatusservicios/obtenerestatus";
    for token in [None, Some(token.as_str())] {
        assert_eq!(authority.get(path, token).await.status, StatusCode::UNAUTHORIZED);
    }
    let list = ask(&authority, "ObtenerEstatus").await;
    let list = list.as_array().unwrap();
    let one = json!({ "servicio": "Recepción FC", "estatus": "Disponible", "ambiente": "Produccion" });
    assert!(list.contains(&one), "{list:?}");
    assert_eq!(list.len(), 18, "nine services, two environments");
}

#[tokio::test]
async fn a_maintenance_window_closes_its_environment_while_it_lasts() {
    let authority = Authority::new();
    let windows = json!([{
        "ambiente": "PreCertificacion", "horaInicio": "8:00 AM", "horaFin": "8:30 AM", "dias": ["15-01-2027"],
    }]);
    authority.control(Method::PUT, "maintenance", windows.clone()).await;
    let told = ask(&authority, "obtenerventanasmantenimiento").await;
    assert_eq!(told, json!({ "ventanaMantenimientos": windows }));
    assert_eq!(
        ask(&authority, "verificarestado?ambiente=1").await,
        json!({ "estado": "No Disponible" })
    );
    assert_eq!(
        ask(&authority, "verificarestado?ambiente=2").await,
        json!({ "estado": "Disponible" })
    );
    let closed = authority.get(SEED, None).await;
    assert_eq!(closed.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(closed.content_type.starts_with("text/html"));
    assert_eq!(
        authority.get(&SEED.replace("testecf", "ecf"), None).await.status,
        StatusCode::OK
    );
    authority.advance(std::time::Duration::from_secs(30 * 60));
    assert_eq!(authority.get(SEED, None).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_service_ordered_into_maintenance_is_told_as_down() {
    let authority = Authority::new();
    authority
        .order_fault(json!({ "service": "recepcion", "fault": "maintenance", "ambiente": "testecf" }))
        .await;
    let list = ask(&authority, "obtenerestatus").await;
    let down: Vec<&Value> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["estatus"] == "No Disponible")
        .collect();
    let one = json!({ "servicio": "Recepción", "estatus": "No Disponible", "ambiente": "PreCertificacion" });
    assert_eq!(down, [&one]);
}
