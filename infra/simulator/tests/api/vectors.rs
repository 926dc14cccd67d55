//! The published vectors, which another program has signed.

use std::path::PathBuf;

use crate::support::{Authority, DELAY, RECEPTION, SUMMARIES, outcome};

const ISSUER: &str = "199000013";

fn vector(name: &str) -> Option<String> {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/reference/vectors"
    ));
    if folder.is_dir() {
        return Some(std::fs::read_to_string(folder.join(name)).unwrap());
    }
    eprintln!("skipped: the signed vector {name} (../shared is not there)");
    None
}

async fn verdict(name: &str) -> Option<serde_json::Value> {
    let document = vector(name)?;
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let file = format!("{ISSUER}E310000000002.xml");
    let answer = authority.upload(RECEPTION, Some(&token), &file, &document).await.json();
    authority.advance(DELAY);
    Some(authority.result(&token, answer["trackId"].as_str().unwrap()).await)
}

#[tokio::test]
async fn a_signed_receipt_of_another_program_is_accepted() {
    let Some(verdict) = verdict("ecf-31-signed.xml").await else {
        return;
    };
    assert_eq!(verdict["estado"], "Aceptado", "{verdict}");
}

#[tokio::test]
async fn the_tampered_receipt_is_rejected() {
    let Some(verdict) = verdict("bad-ecf-31-tampered.xml").await else {
        return;
    };
    assert_eq!(outcome(&verdict), serde_json::json!([2, false, [0]]), "{verdict}");
    assert!(
        verdict["mensajes"][0]["valor"].as_str().unwrap().contains("firma"),
        "{verdict}"
    );
}

#[tokio::test]
async fn a_signed_summary_of_another_program_is_accepted() {
    let Some(document) = vector("rfce-signed.xml") else {
        return;
    };
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let file = format!("{ISSUER}E320000000012.xml");
    let answer = authority.upload(SUMMARIES, Some(&token), &file, &document).await.json();
    assert_eq!(answer["estado"], "Aceptado", "{answer}");
}
