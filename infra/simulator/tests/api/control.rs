//! The control service.

use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use serde_json::json;

use crate::{
    documents::{RNC, invoice},
    signer::sign,
    support::{Authority, DELAY, SEED},
};

const ENCF: &str = "E310000000001";

#[tokio::test]
async fn received_documents_are_listed_once_per_content_with_how_often_they_came() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    let first = authority.receive(&token, ENCF, &signed).await;
    let second = authority.receive(&token, ENCF, &signed).await;
    let other = sign(&invoice(ENCF).replace("ejemplo", "muestra"));
    authority.receive(&token, ENCF, &other).await;
    authority.advance(DELAY);
    let list = authority
        .control(
            Method::GET,
            &format!("documents?rnc={RNC}&encf=e310000000001"),
            json!(null),
        )
        .await;
    let list = list.json();
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    let mut seen = list[0].clone();
    assert_eq!(seen["sha256"].as_str().unwrap().len(), 64);
    seen["sha256"].take();
    let expected = json!({
        "ambiente": "testecf", "kind": "ECF", "rnc": RNC, "encf": ENCF, "sha256": null, "times": 2,
        "trackIds": [first, second], "codigo": 1, "estado": "Aceptado", "secuenciaUtilizada": true, "mensajes": [],
    });
    assert_eq!(seen, expected);
    assert_eq!((&list[1]["times"], &list[1]["codigo"]), (&json!(1), &json!(2)));
    let none = authority
        .control(Method::GET, "documents?ambiente=ecf", json!(null))
        .await
        .json();
    assert_eq!(none, json!([]));
}

#[tokio::test]
async fn r9_requests_that_met_a_fault_are_counted_by_service_and_number() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    for order in [
        json!({ "service": "recepcion", "fault": "reject", "codigo": "2020", "times": 1 }),
        json!({ "service": "consultadirectorio", "fault": "status", "status": 503 }),
    ] {
        let ordered = authority.control(Method::POST, "faults", order).await;
        assert_eq!(ordered.status, StatusCode::CREATED);
    }
    let struck = authority.control(Method::GET, "struck", json!(null)).await.json();
    assert_eq!(struck, json!([]), "an order that nothing met did not strike");
    for _ in 0..2 {
        authority.receive(&token, ENCF, &sign(&invoice(ENCF))).await;
    }
    let struck = authority.control(Method::GET, "struck", json!(null)).await.json();
    assert_eq!(
        struck,
        json!([{ "fault": "reject", "service": "recepcion", "encf": ENCF, "times": 1 }])
    );
}

#[tokio::test]
async fn the_verdict_delay_and_the_shapes_can_be_set() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    authority
        .control(Method::PUT, "verdict-delay", json!({ "ms": 0 }))
        .await;
    authority
        .control(Method::PUT, "shapes", json!({ "observed": true }))
        .await;
    let track_id = authority.receive(&token, ENCF, &sign(&invoice(ENCF))).await;
    let expected = json!({
        "trackId": track_id, "codigo": "1", "estado": "Aceptado", "rnc": RNC, "encf": ENCF,
        "secuenciaUtilizada": true, "fechaRecepcion": "1/15/2027 8:00:00 AM",
        "mensajes": [{ "valor": "", "codigo": 0 }],
    });
    assert_eq!(authority.result(&token, &track_id).await, expected);
    let settings = authority.control(Method::GET, "settings", json!(null)).await.json();
    assert_eq!(
        (&settings["verdict_delay_ms"], &settings["observed_shapes"]),
        (&json!(0), &json!(true))
    );
    assert!(settings.get("token_key").is_none());
}

#[tokio::test]
async fn answers_are_counted_per_service_and_status() {
    let authority = Authority::new();
    authority.get(SEED, None).await;
    authority
        .order_fault(json!({ "service": "autenticacion", "fault": "status", "status": 500, "times": 1 }))
        .await;
    authority.get(SEED, None).await;
    authority.get(SEED, None).await;
    let counters = authority.control(Method::GET, "counters", json!(null)).await.json();
    let expected = json!([
        { "service": "autenticacion", "status": 200, "times": 2 },
        { "service": "autenticacion", "status": 500, "times": 1 },
    ]);
    assert_eq!(counters, expected);
}

#[tokio::test]
async fn orders_that_cannot_be_carried_out_are_refused() {
    let authority = Authority::new();
    for order in [
        json!({ "service": "recepsion", "fault": "html" }),
        json!({ "service": "recepcion", "fault": "explode" }),
        json!({ "service": "recepcion", "fault": "html", "time": 1 }),
        json!({ "service": "recepcion", "fault": "html", "times": 0 }),
        json!({ "service": "recepcion", "fault": "delay" }),
        json!({ "service": "recepcion", "fault": "status" }),
        json!({ "service": "recepcion", "fault": "html", "ambiente": "prueba" }),
        json!({ "service": "consultaestado", "fault": "reject" }),
    ] {
        let request = Request::post("/_control/faults")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(order.to_string()));
        let answer = authority.send(request.unwrap()).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{order}: {answer:?}");
    }
    assert_eq!(
        authority.control(Method::GET, "faults", json!(null)).await.json(),
        json!([])
    );
}
