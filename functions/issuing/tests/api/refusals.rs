//! Invalid requests.

use axum::body::Body;
use ecf_testkit::{Answer, send};
use http::{Method, Request, header};
use serde_json::json;

use crate::{Api, faults, payloads::invoice};

impl Api {
    async fn post_raw(&self, content_type: Option<&str>, body: impl Into<Body>) -> Answer {
        let mut request = Request::post("/api/v1/ecf").header("X-API-Key", &self.company.api_key);
        if let Some(content_type) = content_type {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        send(&self.router, request.body(body.into()).unwrap()).await
    }

    async fn call(&self, method: Method, path: &str) -> Answer {
        let request = Request::builder().method(method).uri(path);
        send(&self.router, request.body(Body::empty()).unwrap()).await
    }
}

const JSON: Option<&str> = Some("application/json");

#[tokio::test]
async fn bytes_that_are_no_utf_8_are_told_by_place() {
    let api = Api::start().await;
    let body = api
        .post_raw(JSON, &b"{\"idempotency_key\":\"\xcd\"}"[..])
        .await
        .expect(400);
    assert_eq!(body["detail"]["code"], "invalid_utf8");
    assert!(
        body["detail"]["message"].as_str().unwrap().contains("byte 20"),
        "{body}"
    );
    assert!(body["detail"]["request_id"].is_string());
}

#[tokio::test]
async fn broken_json_is_told_by_line_and_column() {
    let api = Api::start().await;
    let body = api
        .post_raw(JSON, "{\"idempotency_key\": \"a\",\n \"payload\": }")
        .await
        .expect(422);
    let error = &body["detail"][0];
    assert_eq!(error["type"], "json_invalid");
    assert_eq!(error["loc"][0], "body");
    assert_eq!(
        (&error["ctx"]["line"], &error["ctx"]["column"]),
        (&json!(2), &json!(13))
    );
}

#[tokio::test]
async fn an_empty_body_a_list_and_another_type_are_refused() {
    let api = Api::start().await;
    let body = api.post_raw(JSON, "").await.expect(422);
    assert_eq!(faults(&body), [("body".to_owned(), "missing".to_owned())]);
    let body = api.post_raw(JSON, "[]").await.expect(422);
    assert_eq!(faults(&body), [("body".to_owned(), "model_attributes_type".to_owned())]);
    for content_type in [None, Some("text/plain"), Some("application/xml")] {
        let body = api.post_raw(content_type, invoice("a").to_string()).await.expect(415);
        assert_eq!(body["detail"]["code"], "unsupported_media_type", "{content_type:?}");
    }
}

#[tokio::test]
async fn a_body_beyond_four_megabytes_is_refused_and_one_just_below_is_read() {
    let api = Api::start().await;
    let limit = ecf_api::BODY_LIMIT_BYTES;
    let body = api.post_raw(JSON, vec![b' '; limit + 1]).await.expect(413);
    assert_eq!(body["detail"]["code"], "payload_too_large");
    let body = api.post_raw(JSON, vec![b' '; limit]).await.expect(422);
    assert_eq!(body["detail"][0]["type"], "json_invalid");
}

#[tokio::test]
async fn every_bad_field_of_the_request_is_told_at_once() {
    let api = Api::start().await;
    let request = json!({
        "idempotency_key": "x".repeat(101),
        "ecf_type": "30",
        "payload": [],
        "external_id": 7,
        "environment": "prod",
        "scheduled_for": "tomorrow",
    });
    let body = api.issue(&request).await.expect(422);
    let told = |field: &str, kind: &str| (format!("body/{field}"), kind.to_owned());
    assert_eq!(
        faults(&body),
        [
            told("idempotency_key", "string_too_long"),
            told("ecf_type", "string_pattern_mismatch"),
            told("payload", "dict_type"),
            told("external_id", "string_type"),
            told("environment", "enum"),
            told("scheduled_for", "datetime_parsing"),
        ]
    );
    let expected = json!({
        "loc": ["body", "ecf_type"],
        "msg": "ecf_type: ecf type \"30\" is not one of 31 (Factura de Crédito Fiscal Electrónica), 32 (Factura de Consumo \
                Electrónica), 33 (Nota de Débito Electrónica), 34 (Nota de Crédito Electrónica), 41 (Compras \
                Electrónico), 43 (Gastos Menores Electrónico), 44 (Regímenes Especiales Electrónico), 45 \
                (Gubernamental Electrónico), 46 (Comprobante de Exportaciones Electrónico), 47 (Comprobante para \
                Pagos al Exterior Electrónico)",
        "type": "string_pattern_mismatch",
        "input": "30",
        "ctx": { "code": "string_pattern_mismatch", "pattern": "^(31|32|33|34|41|43|44|45|46|47)$" },
    });
    assert_eq!(body["detail"][1], expected);
    let body = api.issue(&json!({})).await.expect(422);
    assert_eq!(
        faults(&body),
        ["idempotency_key", "ecf_type", "payload"].map(|field| told(field, "missing"))
    );
    let body = api.post("/api/v1/ecf?mode=later", &invoice("a")).await.expect(422);
    assert_eq!(faults(&body), [("query/mode".to_owned(), "enum".to_owned())]);
}

#[tokio::test]
async fn a11_a_paper_code_for_ecf_type_is_answered_with_the_electronic_type() {
    let api = Api::start().await;
    let mut request = invoice("a");
    request["ecf_type"] = json!("B01");
    let body = api.issue(&request).await.expect(422);
    let expected = json!({
        "loc": ["body", "ecf_type"],
        "msg": "ecf_type: ecf type \"B01\" is not one of the ten: write 31 (Factura de Crédito Fiscal Electrónica)",
        "type": "string_too_long",
        "input": "B01",
        "ctx": { "code": "string_too_long", "max_length": 2, "expected": "31" },
    });
    assert_eq!(body["detail"][0], expected);
}

#[tokio::test]
async fn unknown_fields_of_the_document_come_with_a_hint() {
    let api = Api::start().await;
    let mut request = invoice("a");
    let line = &mut request["payload"]["DetallesItems"]["Item"][0];
    let name = line.as_object_mut().unwrap().remove("NombreItem").unwrap();
    line["Descripcion"] = name.clone();
    request["payload"]["Encabezado"]["Emisor"]["RazonSocialEmisr"] = json!("Ferretería");
    request["payload"]["MontoTotal"] = json!("11800.00");
    let body = api.issue(&request).await.expect(422);
    let told: Vec<&str> = body["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["msg"].as_str().unwrap())
        .collect();
    assert_eq!(
        told,
        [
            "RazonSocialEmisr is no field of Emisor; did you mean RazonSocialEmisor?",
            "line 1: Descripcion is no field of Item; did you mean NombreItem?",
            "line 1: NombreItem is mandatory in type 31",
            "MontoTotal is no field of the payload: it belongs under Encabezado/Totales",
        ]
    );
    let expected = json!({
        "loc": ["body", "payload", "DetallesItems", "Item", "0", "Descripcion"],
        "msg": "line 1: Descripcion is no field of Item; did you mean NombreItem?",
        "type": "extra_forbidden",
        "input": name,
        "ctx": { "code": "ESTRUCTURA-04", "given": "Descripcion", "expected": "NombreItem" },
    });
    assert_eq!(body["detail"][1], expected);
    assert_eq!(api.numbers_taken("31").await, 0);
}

#[tokio::test]
async fn every_bad_field_of_the_document_is_told_with_its_code_and_both_values() {
    let api = Api::start().await;
    let mut request = invoice("a");
    let document = &mut request["payload"];
    document["Encabezado"]["Emisor"]["FechaEmision"] = json!("2026-11-27");
    document["Encabezado"]["IdDoc"]
        .as_object_mut()
        .unwrap()
        .remove("TipoIngresos");
    document["DetallesItems"]["Item"][0]["PrecioUnitarioItem"] = json!("500.123456");
    let body = api.issue(&request).await.expect(422);
    let places: Vec<_> = faults(&body).into_iter().map(|(loc, _)| loc).collect();
    assert_eq!(
        places,
        [
            "body/payload/Encabezado/IdDoc/TipoIngresos",
            "body/payload/Encabezado/Emisor/FechaEmision",
            "body/payload/DetallesItems/Item/0/PrecioUnitarioItem",
        ]
    );
    for error in body["detail"].as_array().unwrap() {
        assert!(
            error["ctx"]["code"].as_str().unwrap().starts_with("ESTRUCTURA-"),
            "{error}"
        );
    }
    assert_eq!(body["detail"][1]["input"], "2026-11-27");
    // The key stays free.
    api.issue(&invoice("a")).await.expect(201);
    api.jobs().await;
}

#[tokio::test]
async fn unknown_addresses_and_methods_answer_in_one_shape() {
    let api = Api::start().await;
    for (method, path) in [
        (Method::GET, "/api/v1/ecf/a/b"),
        (Method::POST, "/api/v1/ecf/"),
        (Method::GET, "/api/v2/ecf"),
        (Method::GET, "/"),
    ] {
        let answer = api.call(method, path).await;
        let body = answer.expect(404);
        assert_eq!(body["detail"]["code"], "not_found", "{path}");
        assert_eq!(body["detail"]["request_id"], answer.header("x-request-id").unwrap());
    }
    for (method, path, allow) in [
        (Method::PUT, "/api/v1/ecf", "GET,HEAD,POST"),
        (Method::DELETE, "/api/v1/eCF/states", "GET,HEAD"),
        (
            Method::PATCH,
            "/api/v1/ecf/0000000000000000000000000000000z",
            "GET,HEAD",
        ),
    ] {
        let answer = api.call(method, path).await;
        let body = answer.expect(405);
        assert_eq!(body["detail"]["code"], "method_not_allowed", "{path}");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
        assert!(body["detail"]["request_id"].is_string());
    }
}
