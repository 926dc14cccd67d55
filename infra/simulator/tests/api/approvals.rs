//! `aprobacioncomercial` and `anulacionrangos`.

use serde_json::json;

use crate::{
    documents::{RNC, annulment, approval, invoice},
    signer::sign,
    support::{Authority, file_name, outcome},
};

const ENCF: &str = "E310000000001";
const APPROVALS: &str = "/testecf/aprobacioncomercial/api/aprobacioncomercial";
const ANNULMENTS: &str = "/testecf/anulacionrangos/api/operaciones/anularrango";

#[tokio::test]
async fn an_approval_is_taken_for_a_receipt_that_was_accepted() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&approval(ENCF));
    let early = authority
        .upload(APPROVALS, Some(&token), &file_name(ENCF), &signed)
        .await
        .json();
    assert_eq!(early["codigo"], "2");
    assert_eq!(early["mensaje"], json!(["La factura no fue encontrada."]));

    authority.verdict(&token, ENCF, &invoice(ENCF)).await;
    let answer = authority
        .upload(APPROVALS, Some(&token), "any name.xml", &signed)
        .await
        .json();
    assert_eq!(
        answer,
        json!({ "mensaje": [], "estado": "Aprobación Comercial Aprobada.", "codigo": "1" })
    );
    for (from, to) in [
        ("<MontoTotal>1180.00<", "<MontoTotal>1180.01<"),
        ("<MontoTotal>1180.00<", "<MontoTotal>1180<"),
        ("<FechaEmision>15-01-2027<", "<FechaEmision>14-01-2027<"),
        ("<eNCF>E31", "<eNCF>E32"),
    ] {
        let document = sign(&approval(ENCF).replace(from, to));
        let answer = authority
            .upload(APPROVALS, Some(&token), &file_name(ENCF), &document)
            .await
            .json();
        assert_eq!(answer["codigo"], "2", "{to}");
    }
    let tampered = signed.replace("<Estado>1", "<Estado>2");
    let answer = authority
        .upload(APPROVALS, Some(&token), &file_name(ENCF), &tampered)
        .await
        .json();
    assert_eq!(answer["mensaje"], json!(["La firma del documento no es válida."]));
}

#[tokio::test]
async fn annulled_numbers_can_never_be_used_and_used_ones_not_be_annulled() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let annul = async |document: String| {
        authority
            .upload(ANNULMENTS, Some(&token), &format!("{RNC}ANECF.xml"), &sign(&document))
            .await
            .json()
    };
    let answer = annul(annulment("31", "E310000000002", "E310000000004", 3)).await;
    let done = json!({ "rnc": RNC, "codigo": "1", "nombre": "", "mensajes": ["Secuencias anuladas."] });
    assert_eq!(answer, done);
    let encf = "E310000000003";
    assert_eq!(
        outcome(&authority.verdict(&token, encf, &invoice(encf)).await),
        json!([2, true, [1209]])
    );

    authority.verdict(&token, ENCF, &invoice(ENCF)).await;
    for refused in [
        annulment("31", ENCF, ENCF, 1),
        annulment("31", "E310000000004", "E310000000005", 2),
        annulment("31", "E310000000009", "E310000000008", 1),
        annulment("31", "E310000000008", "E310000000009", 3),
        annulment("32", "E310000000008", "E310000000009", 2),
    ] {
        let answer = annul(refused).await;
        assert_eq!(answer["codigo"], "2", "{answer}");
    }
}
