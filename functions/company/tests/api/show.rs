//! `GET /api/v1/client/company`.

use std::collections::BTreeMap;

use axum::Extension;
use axum::body::Body;
use company::App;
use ecf_runtime::PublicAddress;
use ecf_runtime::env::Env;
use ecf_store::numbers::{NewRange, Numbering};
use ecf_testkit::{TestStack, request, send};
use http::{Method, Request};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, COMPANY};

#[tokio::test]
async fn a_new_company_has_no_certificate_no_types_and_every_default() {
    let api = Api::start().await;
    let shown = api.get(COMPANY).await.expect(200);
    let expected = json!({
        "public_id": api.company.scope.company.to_string(), "rnc": "130000001",
        "name": "Ferretería de Prueba SRL", "trade_name": null, "address": null,
        "email": "facturas@ferreteria.example", "phone": null,
        "default_environment": "TesteCF", "is_active": true, "certificate": null, "active_ncf_types": [],
        "settings": {
            "on_conditional": null, "hold_notes": true, "hold_notes_hours": 72, "certificate_owner": "warn",
            "sequence_alert_remaining": 100, "sequence_alert_days": 30, "reception_token": false, "deliver_45": false, "approve_accepted_only": true,
        },
        "published_addresses": null,
    });
    assert_eq!(shown, expected);
}

/// A verified company, and its function with this setting of the operator.
async fn verified(public_url: Option<&str>) -> Api {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .verified()
        .without_ranges()
        .without_certificate();
    let company = company.build().await;
    let mut variables: BTreeMap<String, String> = stack.environment_of("company").clone();
    variables.extend(public_url.map(|url| ("PUBLIC_URL".to_owned(), url.to_owned())));
    let app = App::from_env(&Env::of(variables), &stack.clients_of("company"), stack.clock().clone());
    let router = company::router(app.unwrap());
    Api { stack, router, company }
}

fn addresses(of_service: &str) -> Value {
    let of_environment = |environment: &str, segment: &str| {
        let address = format!("{of_service}/130000001/{segment}");
        json!({
            "environment": environment, "url_recepcion": address, "url_aceptacion": address, "url_opcional": address,
        })
    };
    json!([
        of_environment("TesteCF", "testecf"),
        of_environment("CerteCF", "certecf"),
        of_environment("ecf", "ecf"),
    ])
}

#[tokio::test]
async fn b3_a_verified_company_sees_the_addresses_to_register_for_each_environment() {
    let api = verified(Some("https://ecf.example.com")).await;
    let shown = api.get(COMPANY).await.expect(200);
    assert_eq!(shown["published_addresses"], addresses("https://ecf.example.com"));
    let body = json!({ "phone": "809-555-0100" });
    let changed = api.call(Method::PATCH, COMPANY, Some(&body)).await.expect(200);
    assert_eq!(changed["published_addresses"], shown["published_addresses"]);
    // The caller's headers change nothing.
    let request = Request::get(COMPANY)
        .header("X-API-Key", &api.company.api_key)
        .header("Host", "forged.example")
        .header("X-Forwarded-Host", "forged.example")
        .body(Body::empty());
    let shown = send(&api.router, request.unwrap()).await.expect(200);
    assert_eq!(shown["published_addresses"], addresses("https://ecf.example.com"));
}

#[tokio::test]
async fn b3_without_a_setting_the_gateway_says_where_the_service_is() {
    let api = verified(None).await;
    let router = api
        .router
        .clone()
        .layer(Extension(PublicAddress("https://gateway.example/api".to_owned())));
    let shown = request(&router, Method::GET, COMPANY, Some(&api.company.api_key), None).await;
    let shown = shown.expect(200);
    assert_eq!(shown["published_addresses"], addresses("https://gateway.example/api"));
    let unknown = api.get(COMPANY).await.expect(200);
    assert_eq!(unknown["published_addresses"], Value::Null);
}

#[tokio::test]
async fn the_certificate_counts_its_days_and_ends() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_ranges().build().await;
    let api = Api::of(stack, company);
    let shown = api.get(COMPANY).await.expect(200);
    let serial = shown["certificate"]["serial_number"].clone();
    assert!(!serial.as_str().unwrap().is_empty());
    // From 27 November 2026, 16:00 UTC, to 1 January 2029, 04:00 UTC.
    let expected = json!({
        "active": true, "environment": "TesteCF", "expires_at": "2029-01-01T04:00:00.000Z", "days_until_expiry": 765,
        "subject_cn": "PRUEBA DEL SISTEMA", "serial_number": serial,
    });
    assert_eq!(shown["certificate"], expected);

    api.stack.clock().advance(SignedDuration::from_hours(766 * 24));
    let shown = api.get(COMPANY).await.expect(200);
    let certificate = &shown["certificate"];
    assert_eq!(
        (&certificate["active"], &certificate["days_until_expiry"]),
        (&json!(false), &json!(-1))
    );
}

#[tokio::test]
async fn only_types_that_still_have_numbers_are_active() {
    let api = Api::start().await;
    let now = api.stack.clock().now();
    let table = api.stack.table();
    for (ecf_type, start, end, valid_until) in [
        ("31", 1, 1, Some("31-12-2026")),
        ("31", 2, 2, Some("31-12-2027")),
        ("32", 1, 1, None),
        ("33", 1, 9, Some("26-11-2026")),
    ] {
        let range = NewRange {
            ecf_type: ecf_type.parse().unwrap(),
            start,
            end,
            valid_until: valid_until.map(|day| day.parse().unwrap()),
            numbering: Some(Numbering::Service),
            created_at: now,
        };
        table.open_range(&api.company.scope, range).await.unwrap();
    }
    let active = async || api.get(COMPANY).await.expect(200)["active_ncf_types"].clone();
    assert_eq!(active().await, json!(["31", "32"]));

    let today = ecf::Fecha::at(now);
    let scope = &api.company.scope;
    table
        .take_next_number(scope, "32".parse().unwrap(), today, now)
        .await
        .unwrap();
    assert_eq!(active().await, json!(["31"]));
}
