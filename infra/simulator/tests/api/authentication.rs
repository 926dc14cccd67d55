//! `autenticacion`.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    signer::{OWNER, sign},
    support::{Authority, RESULT, SEED, VALIDATE, on_one_line},
};

#[tokio::test]
async fn a_signed_seed_gives_a_token_of_one_hour() {
    let authority = Authority::new();
    let seed = authority.get(SEED, None).await;
    assert!(seed.content_type.starts_with("application/xml"));
    assert!(seed.text.contains("\n  <valor>"), "the seed is indented: {}", seed.text);
    let answer = authority
        .upload(VALIDATE, None, "semilla.xml", &sign(&on_one_line(&seed.text)))
        .await
        .json();
    assert_eq!(answer["expedido"], "2027-01-15T12:00:00Z");
    assert_eq!(answer["expira"], "2027-01-15T13:00:00Z");

    let token = answer["token"].as_str().unwrap();
    let path = format!("{RESULT}?trackid=none");
    assert_eq!(authority.get(&path, Some(token)).await.status, StatusCode::OK);
    assert_eq!(authority.get(&path, None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        authority.get(&path, Some(&format!("{token}x"))).await.status,
        StatusCode::UNAUTHORIZED
    );
    let elsewhere = path.replace("testecf", "certecf");
    assert_eq!(
        authority.get(&elsewhere, Some(token)).await.status,
        StatusCode::UNAUTHORIZED
    );
    authority.advance(Duration::from_secs(3600));
    assert_eq!(authority.get(&path, Some(token)).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_seed_that_was_signed_with_its_indentation_is_refused() {
    let authority = Authority::new();
    let seed = authority.get(SEED, None).await.text;
    let answer = authority.upload(VALIDATE, None, "semilla.xml", &sign(&seed)).await;
    assert_eq!(
        (answer.status, answer.json()),
        (StatusCode::BAD_REQUEST, json!("Firma del certificado invalida"))
    );
}

#[tokio::test]
async fn a_seed_is_good_once_and_only_if_it_was_given_out() {
    let authority = Authority::new();
    let signed = sign(&on_one_line(&authority.get(SEED, None).await.text));
    assert_eq!(
        authority.upload(VALIDATE, None, "s.xml", &signed).await.status,
        StatusCode::OK
    );
    assert_eq!(
        authority.upload(VALIDATE, None, "s.xml", &signed).await.status,
        StatusCode::BAD_REQUEST
    );
    let invented = sign("<SemillaModel><valor>x</valor><fecha>2027-01-15T08:00:00-04:00</fecha></SemillaModel>");
    assert_eq!(
        authority.upload(VALIDATE, None, "s.xml", &invented).await.status,
        StatusCode::BAD_REQUEST
    );
    let stale = sign(&on_one_line(&authority.get(SEED, None).await.text));
    authority.advance(Duration::from_secs(301));
    assert_eq!(
        authority.upload(VALIDATE, None, "s.xml", &stale).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn a_certificate_that_acts_for_nobody_gets_no_token() {
    let authority = Authority::new();
    authority
        .control(Method::PUT, &format!("certificates/{OWNER}"), json!({ "rncs": [] }))
        .await;
    let signed = sign(&on_one_line(&authority.get(SEED, None).await.text));
    let answer = authority.upload(VALIDATE, None, "s.xml", &signed).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let text = format!("El RNC {OWNER} del certificado no está delegado para realizar transaciones.");
    assert_eq!(answer.json(), json!(text));
}

#[tokio::test]
async fn an_expired_certificate_gets_no_token() {
    let authority = Authority::new();
    authority.advance(Duration::from_secs(10 * 366 * 24 * 3600));
    let signed = sign(&on_one_line(&authority.get(SEED, None).await.text));
    let answer = authority.upload(VALIDATE, None, "s.xml", &signed).await;
    assert_eq!(answer.json(), json!("El certificado digital no está vigente."));
}

#[tokio::test]
async fn the_token_also_comes_as_xml() {
    let authority = Authority::answering("application/xml");
    let signed = sign(&on_one_line(&authority.get(SEED, None).await.text));
    let answer = authority.upload(VALIDATE, None, "s.xml", &signed).await;
    assert!(answer.text.contains("<RespuestaAutenticacion><token>"), "{answer:?}");
    assert!(
        answer.text.contains("<expira>2027-01-15T13:00:00Z</expira>"),
        "{answer:?}"
    );
}
