//! The public catalogues.

use axum::body::Body;
use ecf_testkit::{request, send};
use http::{Method, Request, StatusCode, header};
use serde_json::json;

use crate::started;

const PATH: &str = "/api/v1/taxauth/catalogues";

#[tokio::test]
async fn p8_the_catalogues_are_listed_and_shown_to_anybody_in_both_spellings() {
    let (stack, router) = started().await;
    stack.calls().reset();
    let list = request(&router, Method::GET, PATH, None, None).await.expect(200);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 12);
    for item in items {
        let name = item["name"].as_str().unwrap();
        let shown = request(&router, Method::GET, &format!("{PATH}/{name}"), None, None).await;
        let other = format!("/api/v1/dgii/catalogues/{name}");
        let other = request(&router, Method::GET, &other, None, None).await;
        assert_eq!(other.bytes, shown.bytes, "{name}");
        let shown = shown.expect(200);
        assert_eq!(json!(shown["items"].as_array().unwrap().len()), item["total"]);
        assert_eq!((&shown["title"], &shown["fields"]), (&item["title"], &item["fields"]));
    }
    assert!(stack.calls().counts().is_empty(), "nothing is asked of AWS");
}

#[tokio::test]
async fn p8_codes_have_the_authoritys_words_and_taxes_their_rates() {
    let (_stack, router) = started().await;
    let first_of = async |name: &str, code: &str| {
        let shown = request(&router, Method::GET, &format!("{PATH}/{name}"), None, None)
            .await
            .expect(200);
        let items = shown["items"].as_array().unwrap();
        items.iter().find(|item| item["code"] == code).unwrap().clone()
    };
    assert_eq!(
        first_of("unidades-medida", "15").await,
        json!({ "code": "15", "name": "Galones", "abbreviation": "GL" })
    );
    assert_eq!(
        first_of("provincias-municipios", "250100").await,
        json!({ "code": "250100", "name": "MUNICIPIO SANTIAGO", "provincia": "250000" })
    );
    assert_eq!(
        first_of("monedas", "USD").await,
        json!({ "code": "USD", "name": "DOLAR ESTADOUNIDENSE" })
    );
    assert_eq!(
        first_of("impuestos-adicionales", "001").await,
        json!({
            "code": "001", "name": "Propina Legal", "amount_field": "OtrosImpuestosAdicionales", "rate_unit": "percent",
            "rates": [{ "rate": "10", "valid_from": null, "valid_until": null }],
        })
    );
    let beer = first_of("impuestos-adicionales", "006").await;
    assert_eq!(beer["rate_unit"], "pesos_per_litre_of_alcohol");
    let latest = json!({ "rate": "768.65", "valid_from": "2026-10-01", "valid_until": "2026-12-31" });
    assert!(beer["rates"].as_array().unwrap().contains(&latest), "{beer}");
}

#[tokio::test]
async fn p8_a_catalogue_may_be_cached_and_an_unknown_name_is_answered_with_the_names() {
    let (_stack, router) = started().await;
    let path = format!("{PATH}/monedas");
    let answer = request(&router, Method::GET, &path, None, None).await;
    assert_eq!(answer.header("cache-control"), Some("public, max-age=86400"));
    let again = Request::get(&path).header(header::IF_NONE_MATCH, answer.header("etag").unwrap());
    let again = send(&router, again.body(Body::empty()).unwrap()).await;
    assert_eq!((again.status, again.bytes.len()), (StatusCode::NOT_MODIFIED, 0));
    let unknown = request(&router, Method::GET, &format!("{PATH}/currencies"), None, None)
        .await
        .expect(404);
    assert_eq!(unknown["detail"]["code"], "not_found");
    let message = unknown["detail"]["message"].as_str().unwrap();
    assert!(message.contains("monedas, provincias-municipios, "), "{message}");
}
