//! Fault injection, most of it over a real connection.

use std::time::{Duration, Instant};

use ecf_simulator::{Options, Simulator};
use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    documents::{RNC, invoice},
    signer::sign,
    support::{Authority, RECEPTION, SEED, file_name, outcome},
};

const ENCF: &str = "E310000000001";

#[tokio::test]
async fn every_odd_shape_can_be_ordered() {
    let authority = Authority::new();
    for (fault, status, content_type, text) in [
        (json!({ "fault": "status", "status": 503 }), 503, "text/plain", ""),
        (
            json!({ "fault": "status", "status": 429, "body": "{\"a\":1}" }),
            429,
            "application/json",
            "{\"a\":1}",
        ),
        (json!({ "fault": "html" }), 500, "text/html", "<h1>Server Error</h1>"),
        (json!({ "fault": "text", "mensaje": "No." }), 400, "text/plain", "No."),
        (
            json!({ "fault": "json_string", "mensaje": "No." }),
            400,
            "text/plain",
            "\"No.\"",
        ),
        (
            json!({ "fault": "mensaje", "mensaje": "No." }),
            400,
            "application/json",
            "{\"mensaje\":\"No.\"}",
        ),
        (
            json!({ "fault": "error", "mensaje": "No." }),
            400,
            "application/json",
            "{\"error\":\"No.\"}",
        ),
        (
            json!({ "fault": "mensajes", "mensaje": "No.", "codigo": "7" }),
            400,
            "application/json",
            "{\"mensajes\":[{\"codigo\":\"7\",\"valor\":\"No.\"}]}",
        ),
        (
            json!({ "fault": "mensajes_text", "mensaje": "No." }),
            400,
            "application/json",
            "{\"mensajes\":[\"No.\"]}",
        ),
        (
            json!({ "fault": "problem_details", "mensaje": "No." }),
            400,
            "application/problem+json",
            "\"xml\":[\"No.\"]",
        ),
        (json!({ "fault": "empty" }), 400, "text/html", ""),
        (json!({ "fault": "garbage" }), 200, "application/json", "{]<not"),
        (json!({ "fault": "maintenance" }), 503, "text/html", "no disponible"),
    ] {
        let mut order = fault.clone();
        order["service"] = json!("autenticacion");
        order["times"] = json!(1);
        authority.order_fault(order).await;
        let answer = authority.get(SEED, None).await;
        assert_eq!(answer.status.as_u16(), status, "{fault}");
        assert!(answer.content_type.starts_with(content_type), "{fault}: {answer:?}");
        assert!(answer.text.contains(text), "{fault}: {answer:?}");
        assert_eq!(
            authority.get(SEED, None).await.status,
            StatusCode::OK,
            "{fault} applies once"
        );
    }
}

#[tokio::test]
async fn a_verdict_can_be_ordered_for_one_number() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    for (number, fault) in [
        (
            2,
            json!({ "fault": "reject", "codigo": "614", "mensaje": "No ha sido emitido.", "secuenciaUtilizada": false }),
        ),
        (
            3,
            json!({ "fault": "conditional", "codigo": "9", "mensaje": "Revise." }),
        ),
    ] {
        let mut order = fault;
        order["service"] = json!("recepcion");
        order["rnc"] = json!(RNC);
        order["encf"] = json!(format!("E31{number:010}"));
        authority.order_fault(order).await;
    }
    for (number, expected) in [
        (1, json!([1, true, []])),
        (2, json!([2, false, [614]])),
        (3, json!([4, true, [9]])),
    ] {
        let encf = format!("E31{number:010}");
        let verdict = authority.verdict(&token, &encf, &invoice(&encf)).await;
        assert_eq!(outcome(&verdict), expected, "{verdict}");
    }
    authority.control(Method::DELETE, "faults", json!(null)).await;
    let verdict = authority
        .verdict(&token, "E310000000002", &invoice("E310000000002"))
        .await;
    assert_eq!(
        outcome(&verdict),
        json!([1, true, []]),
        "it was left free, and no order is left"
    );
}

#[tokio::test]
async fn a_fault_of_queries_finds_its_number_through_the_track_id() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let track_id = authority.receive(&token, ENCF, &sign(&invoice(ENCF))).await;
    authority
        .order_fault(
            json!({ "service": "consultaresultado", "encf": ENCF, "fault": "status", "status": 500, "times": 1 }),
        )
        .await;
    let path = |track_id: &str| format!("{}?trackid={track_id}", crate::support::RESULT);
    assert_eq!(
        authority.get(&path("another"), Some(&token)).await.status,
        StatusCode::OK
    );
    assert_eq!(
        authority.get(&path(&track_id), Some(&token)).await.status,
        StatusCode::INTERNAL_SERVER_ERROR
    );
    assert_eq!(
        authority.get(&path(&track_id), Some(&token)).await.status,
        StatusCode::OK
    );
}

/// A listening simulator and a client.
async fn listening() -> (Simulator, reqwest::Client) {
    let simulator = Simulator::start(Options::default()).await.unwrap();
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(10))
        .build()
        .unwrap();
    (simulator, client)
}

async fn order(simulator: &Simulator, client: &reqwest::Client, fault: serde_json::Value) {
    let answer = client
        .post(format!("{}/_control/faults", simulator.base_url()))
        .json(&fault)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
}

#[tokio::test]
async fn a_lost_answer_is_a_request_that_was_served_and_a_connection_that_ended() {
    let (simulator, client) = listening().await;
    order(
        &simulator,
        &client,
        json!({ "service": "autenticacion", "fault": "lose_answer", "times": 1 }),
    )
    .await;
    let seed = format!("{}{SEED}", simulator.base_url());
    let error = client.get(&seed).send().await.expect_err("no answer comes");
    assert!(!error.is_timeout(), "{error:?}");
    assert_eq!(client.get(&seed).send().await.unwrap().status(), 200);
    simulator.shutdown().await;
}

#[tokio::test]
async fn a_lost_reception_was_received() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    authority
        .order_fault(json!({ "service": "recepcion", "fault": "lose_answer", "times": 1 }))
        .await;
    let signed = sign(&invoice(ENCF));
    let lost = authority.try_upload(RECEPTION, &token, &file_name(ENCF), &signed).await;
    assert!(lost.is_err());
    let documents = authority.control(Method::GET, "documents", json!(null)).await.json();
    assert_eq!(documents[0]["times"], 1);
    let again = authority.receive(&token, ENCF, &signed).await;
    authority.advance(crate::support::DELAY);
    assert_eq!(
        outcome(&authority.result(&token, &again).await),
        json!([2, true, [1209]])
    );
}

#[tokio::test]
async fn delays_and_time_outs_hold_the_answer_back() {
    let (simulator, client) = listening().await;
    let seed = format!("{}{SEED}", simulator.base_url());
    for (fault, status) in [("delay", 200), ("timeout", 504)] {
        let fault = json!({ "service": "*", "fault": fault, "delay_ms": 150, "times": 1 });
        order(&simulator, &client, fault.clone()).await;
        let start = Instant::now();
        assert_eq!(client.get(&seed).send().await.unwrap().status(), status, "{fault}");
        assert!(start.elapsed() >= Duration::from_millis(150), "{fault}");
    }
    order(
        &simulator,
        &client,
        json!({ "service": "*", "fault": "timeout", "times": 1 }),
    )
    .await;
    let error = client
        .get(&seed)
        .timeout(Duration::from_millis(100))
        .send()
        .await
        .expect_err("nothing comes");
    assert!(error.is_timeout());
    simulator.shutdown().await;
}
