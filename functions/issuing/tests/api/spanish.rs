//! Sentences in Spanish, for callers who accept it.

use axum::body::Body;
use ecf_testkit::{Answer, send};
use http::{Request, header, request};
use serde_json::{Value, json};

use crate::{
    Api,
    payloads::{invoice, numbered_invoice},
};

/// Words that most English sentences have, and no Spanish one.
const ENGLISH: [&str; 12] = [
    "the", "is", "of", "and", "not", "are", "was", "with", "must", "this", "that", "should",
];

/// Members that hold a sentence.
const SENTENCES: [&str; 8] = [
    "msg",
    "message",
    "cause",
    "fix",
    "error_message",
    "description",
    "mutation_policy",
    "source_of_truth",
];

impl Api {
    async fn ask_in_spanish(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.send_in_spanish(Request::post(path), body.into()).await
    }

    async fn send_in_spanish(&self, request: request::Builder, body: Body) -> Answer {
        let request = request
            .header("X-API-Key", &self.company.api_key)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT_LANGUAGE, "es-DO, en;q=0.5");
        send(&self.router, request.body(body).unwrap()).await
    }
}

/// Every sentence in an answer.
fn sentences(answer: &Value, found: &mut Vec<String>) {
    match answer {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if SENTENCES.contains(&name.as_str()) => found.push(text.clone()),
                    _ => sentences(member, found),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| sentences(element, found)),
        _ => {}
    }
}

#[track_caller]
fn is_spanish(answer: &Value) {
    let mut found = Vec::new();
    sentences(answer, &mut found);
    assert!(!found.is_empty(), "no sentence: {answer}");
    for sentence in found {
        let mut words = sentence.split(|character: char| !character.is_alphanumeric());
        assert_eq!(words.find(|word| ENGLISH.contains(word)), None, "{sentence}");
    }
}

#[tokio::test]
async fn p6_the_state_contract_is_in_spanish() {
    let api = Api::start().await;
    let contract = api.send_in_spanish(Request::get("/api/v1/ecf/states"), Body::empty());
    is_spanish(&contract.await.expect(200));
}

#[tokio::test]
async fn p6_every_kind_of_refusal_is_in_spanish() {
    let api = Api::start().await;
    let with = |change: fn(&mut Value)| {
        let mut request = invoice("a");
        change(&mut request);
        request.to_string()
    };
    let bodies = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        json!({ "idempotency_key": 5, "ecf_type": "99", "payload": [], "externalId": 1 }).to_string(),
        with(|request| request["scheduled_for"] = json!("2030-01-01")),
        with(|request| request["payload"]["Encabezado"]["Emisor"]["RNCEmisor"] = json!("101672919")),
        with(|request| request["payload"]["Encabezado"]["Emisor"]["FechaEmision"] = json!("2026-11-27")),
        with(|request| request["payload"]["Encabezado"]["IdDoc"]["TipoPago"] = json!("2")),
        with(|request| request["payload"]["Encabezado"]["Totales"]["MontoTotal"] = json!("1.00")),
        with(|request| request["payload"]["DetallesItems"]["Item"][0]["Descripcion"] = json!("x")),
        with(|request| request["payload"]["DetallesItems"]["Item"][0]["UnidadMedida"] = json!("UND")),
        with(|request| request["payload"]["DetallesItems"]["Item"][0]["NombreItem"] = json!("ñ".repeat(96))),
        with(|request| request["payload"]["DetallesItems"]["Item"][0]["MontoItem"] = json!("1e5")),
        numbered_invoice("a", "E319999999999").to_string(),
        numbered_invoice("a", "E320000000001").to_string(),
    ];
    for body in bodies {
        let answer = api.ask_in_spanish("/api/v1/ecf", body.clone()).await;
        assert!(answer.status.is_client_error(), "{}: {body}", answer.status);
        assert_eq!(answer.headers[header::CONTENT_LANGUAGE], "es");
        is_spanish(&serde_json::from_slice(&answer.bytes).unwrap());
    }
    let answer = api
        .ask_in_spanish("/api/v1/ecf?validateOnly=true", invoice("a").to_string())
        .await;
    is_spanish(&answer.expect(422));
}

#[tokio::test]
async fn p7_the_field_and_the_line_stand_in_the_sentence() {
    let api = Api::start().await;
    let mut request = invoice("a");
    request["payload"]["DetallesItems"]["Item"][0]["NombreItem"] = json!("ñ".repeat(96));
    let spanish = api.ask_in_spanish("/api/v1/ecf", request.to_string()).await.expect(422);
    let english = api.issue(&request).await.expect(422);
    for (body, start) in [
        (
            &spanish,
            "NombreItem, línea 1: el texto tiene 96 caracteres, se permiten 80 como máximo",
        ),
        (
            &english,
            "NombreItem, line 1: the text has 96 characters, at most 80 are allowed",
        ),
    ] {
        let msg = body["detail"][0]["msg"].as_str().unwrap();
        assert!(msg.starts_with(start), "{msg}");
    }
    for member in ["loc", "type", "input", "ctx"] {
        assert_eq!(spanish["detail"][0][member], english["detail"][0][member]);
    }
}

#[tokio::test]
async fn p6_warnings_and_the_rows_of_a_batch_are_in_spanish() {
    let api = Api::start().await;
    let mut warned = invoice("a");
    warned["payload"]["Encabezado"]["Comprador"]["RNCComprador"] = json!("222222222");
    let mut refused = invoice("b");
    refused["ecf_type"] = json!("99");
    let batch = json!({ "items": [warned, refused] });
    let answer = api
        .ask_in_spanish("/api/v1/ecf/batch", batch.to_string())
        .await
        .expect(200);
    is_spanish(&answer);
    let mut found = Vec::new();
    sentences(&answer, &mut found);
    assert!(
        found.iter().any(|sentence| sentence.contains("parece un relleno")),
        "{found:?}"
    );
    api.jobs().await;
}
