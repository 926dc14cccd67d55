//! The signed and stored documents.

use ecf_store::{ArtifactKind, ContentHash};
use serde_json::Value;
use xmldsig::{Limits, verify};

use crate::{
    Api,
    payloads::{invoice, large_consumer_invoice, numbered_invoice, small_consumer_invoice},
};

/// The stored document with this hash.
async fn stored(api: &Api, issued: &Value, kind: ArtifactKind, hash: ContentHash) -> Vec<u8> {
    let receipt = api.record(issued).await;
    let found = api
        .stack
        .artifacts()
        .get(&api.company.scope, receipt.created_at, &receipt.public_id, kind, &hash)
        .await;
    found.unwrap().expect("the document is kept").to_vec()
}

/// The signed XML of an answer.
pub(crate) async fn signed_xml(api: &Api, issued: &Value) -> String {
    let hash = api.record(issued).await.fiscal.signed.unwrap().signed_xml;
    String::from_utf8(stored(api, issued, ArtifactKind::SignedXml, hash).await).unwrap()
}

async fn rfce(api: &Api, issued: &Value) -> Option<String> {
    let hash = api.record(issued).await.fiscal.signed.unwrap().rfce?;
    Some(String::from_utf8(stored(api, issued, ArtifactKind::Rfce, hash).await).unwrap())
}

#[tokio::test]
async fn the_signed_document_verifies_and_says_what_was_answered() {
    let api = Api::start().await;
    let issued = api.issue(&numbered_invoice("a", "E310000000001")).await.expect(201);
    let xml = signed_xml(&api, &issued).await;
    let verified = verify(xml.as_bytes(), &Limits::default()).unwrap();
    assert!(!verified.whitespace_dropped);
    assert_eq!(verified.certificate.subject_cn, "PRUEBA DEL SISTEMA");
    assert_eq!(&verified.signature_value[..6], issued["security_code"]);
    let document = String::from_utf8(verified.document).unwrap();
    for expected in [
        "<eNCF>E310000000001</eNCF><FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia>",
        "<MontoTotal>11800.00</MontoTotal>",
        "<FechaHoraFirma>27-11-2026 12:00:00</FechaHoraFirma>",
        "<NombreItem>Cemento gris, funda de 42.5 kg</NombreItem>",
        "<RazonSocialEmisor>Ferretería de Prueba SRL</RazonSocialEmisor>",
    ] {
        assert!(document.contains(expected), "{expected} in {document}");
    }
    assert_eq!(issued["sign_date"], "27-11-2026 12:00:00");
    api.jobs().await;
}

#[tokio::test]
async fn frozen_bytes_do_not_change_with_a_repetition() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let first = signed_xml(&api, &issued).await;
    api.stack.clock().advance(jiff::SignedDuration::from_mins(5));
    api.stack.calls().reset();
    api.issue(&invoice("a")).await.expect(200);
    assert_eq!(api.stack.calls().count("PutObject"), 0);
    assert_eq!(signed_xml(&api, &issued).await, first);
    api.jobs().await;
}

#[tokio::test]
async fn a_small_consumer_invoice_is_kept_with_its_signed_summary() {
    let api = Api::start().await;
    api.stack.calls().reset();
    let issued = api.issue(&small_consumer_invoice("a")).await.expect(201);
    assert_eq!(api.stack.calls().count("PutObject"), 2);
    assert_eq!(issued["encf"], "E320005000000");
    let stamp = issued["electronic_stamp"].as_str().unwrap();
    assert!(
        stamp.starts_with(
            "https://fc.dgii.gov.do/testecf/consultatimbrefc?rncemisor=130000001&encf=E320005000000&montototal=1000%2E00&codigoseguridad="
        ),
        "{stamp}"
    );
    let xml = signed_xml(&api, &issued).await;
    verify(xml.as_bytes(), &Limits::default()).unwrap();

    let summary = rfce(&api, &issued).await.expect("the summary is kept");
    let verified = verify(summary.as_bytes(), &Limits::default()).unwrap();
    let document = String::from_utf8(verified.document).unwrap();
    let code = issued["security_code"].as_str().unwrap();
    for expected in [
        "<RFCE".to_owned(),
        "<eNCF>E320005000000</eNCF>".to_owned(),
        "<MontoTotal>1000.00</MontoTotal>".to_owned(),
        format!("<CodigoSeguridadeCF>{code}</CodigoSeguridadeCF>"),
    ] {
        assert!(document.contains(&expected), "{expected} in {document}");
    }
    api.jobs().await;
}

#[tokio::test]
async fn a_large_consumer_invoice_has_no_summary() {
    let api = Api::start().await;
    api.stack.calls().reset();
    let issued = api.issue(&large_consumer_invoice("a")).await.expect(201);
    assert_eq!(api.stack.calls().count("PutObject"), 1);
    assert_eq!(rfce(&api, &issued).await, None);
    let stamp = issued["electronic_stamp"].as_str().unwrap();
    assert!(
        stamp.starts_with("https://ecf.dgii.gov.do/testecf/consultatimbre?"),
        "{stamp}"
    );
    verify(signed_xml(&api, &issued).await.as_bytes(), &Limits::default()).unwrap();
    api.jobs().await;
}
