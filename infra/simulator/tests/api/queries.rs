//! `consultaestado`, `consultatrackids`, `consultadirectorio`, the QR pages.

use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    documents::{BUYER, RNC, invoice, summary},
    signer::{OWNER, sign},
    support::{Authority, DELAY, SUMMARIES, file_name},
};

const ENCF: &str = "E310000000001";

fn code(signed: &str) -> String {
    let value = signed.split_once("<SignatureValue>").unwrap().1;
    value.chars().filter(|one| !one.is_whitespace()).take(6).collect()
}

fn escaped(text: &str) -> String {
    text.replace('+', "%2B").replace('/', "%2F").replace(' ', "%20")
}

#[tokio::test]
async fn the_state_of_a_number_needs_the_right_code_and_buyer() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    authority.receive(&token, ENCF, &signed).await;
    let path = |buyer: &str, code: &str| {
        format!(
            "/testecf/consultaestado/api/consultas/estado?rncemisor={RNC}&ncfelectronico={ENCF}&rnccomprador={buyer}\
             &codigoseguridad={}",
            escaped(code)
        )
    };
    let code = code(&signed);
    assert_eq!(
        authority.get(&path(BUYER, &code), Some(&token)).await.json()["codigo"],
        0,
        "still in process"
    );
    authority.advance(DELAY);
    let answer = authority.get(&path(BUYER, &code), Some(&token)).await;
    assert!(
        answer.text.contains("\"montoTotal\":1180.00,\"totalITBIS\":180.00"),
        "{answer:?}"
    );
    let expected = json!({
        "codigo": 1, "estado": "Aceptado", "rncEmisor": RNC, "ncfElectronico": ENCF, "montoTotal": 1180.00,
        "totalITBIS": 180.00, "fechaEmision": "15-01-2027", "fechaFirma": "15-01-2027 07:59:00",
        "rncComprador": BUYER, "codigoSeguridad": code, "idExtranjero": null,
    });
    assert_eq!(answer.json(), expected);
    assert_eq!(
        authority.get(&path(BUYER, "xxxxxx"), Some(&token)).await.json()["codigo"],
        0
    );
    assert_eq!(authority.get(&path(RNC, &code), Some(&token)).await.json()["codigo"], 0);
}

#[tokio::test]
async fn conditional_is_told_for_small_consumer_invoices_alone() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let path =
        |encf: &str| format!("/testecf/consultaestado/api/consultas/estado?rncemisor={RNC}&ncfelectronico={encf}");
    authority
        .verdict(
            &token,
            ENCF,
            &invoice(ENCF).replace("<MontoTotal>1180.00", "<MontoTotal>1190.00"),
        )
        .await;
    assert_eq!(
        authority.get(&path(ENCF), Some(&token)).await.json()["estado"],
        "Aceptado"
    );
    let encf = "E320000000001";
    let document = sign(&summary(encf).replace("<MontoTotal>1180.00", "<MontoTotal>1190.00"));
    authority
        .upload(SUMMARIES, Some(&token), &file_name(encf), &document)
        .await;
    assert_eq!(
        authority.get(&path(encf), Some(&token)).await.json()["estado"],
        "Aceptado Condicional"
    );
}

#[tokio::test]
async fn all_submissions_of_a_number_are_listed() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    let first = authority.receive(&token, ENCF, &signed).await;
    authority.advance(DELAY);
    let second = authority.receive(&token, ENCF, &signed).await;
    let path = |encf: &str| format!("/testecf/consultatrackids/api/trackids/consulta?rncemisor={RNC}&encf={encf}");
    let received = "1/15/2027 8:00:00 AM";
    let expected = json!([
        { "trackId": first, "estado": "Aceptado", "fechaRecepcion": received },
        { "trackId": second, "estado": "En proceso", "fechaRecepcion": received },
    ]);
    assert_eq!(authority.get(&path(ENCF), Some(&token)).await.json(), expected);
    assert_eq!(
        authority.get(&path("E310000000009"), Some(&token)).await.json(),
        json!([])
    );
    assert_eq!(
        authority.get(&path("E31"), Some(&token)).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn queries_are_refused_to_who_is_delegated_by_neither_side() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    authority
        .control(
            Method::PUT,
            &format!("certificates/{OWNER}"),
            json!({ "rncs": ["401000000"] }),
        )
        .await;
    let path = format!("/testecf/consultatrackids/api/trackids/consulta?rncemisor={RNC}&encf={ENCF}");
    let answer = authority.get(&path, Some(&token)).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text.contains("no está delegado"), "{answer:?}");
}

#[tokio::test]
async fn the_directory_answers_an_array_and_in_production_one_object() {
    let authority = Authority::new();
    let entry =
        json!({ "nombre": "COMPRADORA", "urlRecepcion": "https://x.example", "urlAceptacion": "https://x.example" });
    authority
        .control(Method::PUT, &format!("directory/{BUYER}"), entry)
        .await;
    let full = json!({
        "nombre": "COMPRADORA", "rnc": BUYER, "urlRecepcion": "https://x.example",
        "urlAceptacion": "https://x.example", "urlOpcional": "",
    });
    for (environment, expected) in [("testecf", json!([full])), ("ecf", full.clone())] {
        let token = authority.token(environment).await;
        let base = format!("/{environment}/consultadirectorio/api/consultas");
        let by_rnc = authority
            .get(&format!("{base}/ObtenerDirectorioPorRNC?RNC={BUYER}"), Some(&token))
            .await;
        assert_eq!(by_rnc.json(), expected);
        assert_eq!(
            authority.get(&format!("{base}/listado"), Some(&token)).await.json(),
            json!([full])
        );
        let nobody = authority
            .get(&format!("{base}/obtenerdirectorioporrnc?rnc={RNC}"), Some(&token))
            .await;
        assert_eq!((nobody.status, nobody.text.as_str()), (StatusCode::OK, ""));
    }
}

#[tokio::test]
async fn the_qr_page_shows_a_receipt_to_who_has_all_its_values() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    authority.receive(&token, ENCF, &signed).await;
    authority.advance(DELAY);
    let path = |code: &str, total: &str| {
        format!(
            "/testecf/ConsultaTimbre?RncEmisor={RNC}&RncComprador={BUYER}&ENCF={ENCF}&FechaEmision=15-01-2027\
             &MontoTotal={total}&FechaFirma=15-01-2027%2007:59:00&CodigoSeguridad={}",
            escaped(code)
        )
    };
    let page = authority.get(&path(&code(&signed), "1180.00"), None).await;
    assert!(page.content_type.starts_with("text/html"));
    for text in [
        RNC,
        BUYER,
        ENCF,
        "COMPRADORA FICTICIA SRL",
        "180.00",
        "<td>Aceptado</td>",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    for wrong in [path("xxxxxx", "1180.00"), path(&code(&signed), "1180.01")] {
        assert!(
            authority
                .get(&wrong, None)
                .await
                .text
                .contains("<td>No encontrado</td>")
        );
    }
}

#[tokio::test]
async fn the_qr_page_of_a_summary_takes_four_values() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let encf = "E320000000001";
    authority
        .upload(SUMMARIES, Some(&token), &file_name(encf), &sign(&summary(encf)))
        .await;
    let path = |code: &str| {
        format!("/testecf/consultatimbrefc?rncemisor={RNC}&encf={encf}&montototal=1180.00&codigoseguridad={code}")
    };
    assert!(
        authority
            .get(&path("a%2BB%2Fc1"), None)
            .await
            .text
            .contains("<td>Aceptado</td>")
    );
    assert!(
        authority
            .get(&path("a+B/c1"), None)
            .await
            .text
            .contains("<td>No encontrado</td>")
    );
}
