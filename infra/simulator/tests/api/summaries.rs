//! `recepcionfc` and `consultarfce`.

use http::StatusCode;
use serde_json::json;

use crate::{
    documents::{RNC, summary},
    signer::sign,
    support::{Authority, SUMMARIES, file_name, outcome},
};

const ENCF: &str = "E320000000001";

#[tokio::test]
async fn a_summary_is_judged_while_the_caller_waits() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&summary(ENCF));
    let answer = authority
        .upload(SUMMARIES, Some(&token), &file_name(ENCF), &signed)
        .await
        .json();
    let accepted = json!({
        "codigo": 1, "estado": "Aceptado", "mensajes": [], "encf": ENCF, "secuenciaUtilizada": true,
    });
    assert_eq!(answer, accepted);
    let again = authority
        .upload(SUMMARIES, Some(&token), &file_name(ENCF), &signed)
        .await
        .json();
    assert_eq!(outcome(&again), json!([2, true, ["1209"]]));
}

#[tokio::test]
async fn summaries_are_held_against_themselves_and_the_threshold() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    for (number, from, to, expected) in [
        (
            1,
            "<MontoTotal>1180.00<",
            "<MontoTotal>1190.00<",
            json!([4, true, ["0"]]),
        ),
        (
            2,
            "<MontoTotal>1180.00<",
            "<MontoTotal>250000.00<",
            json!([2, true, ["0"]]),
        ),
        (
            3,
            "<MontoTotal>1180.00<",
            "<MontoTotal>1180.0<",
            json!([2, false, ["0"]]),
        ),
        (4, "<TipoeCF>32<", "<TipoeCF>31<", json!([2, false, ["0"]])),
        (
            5,
            "<RazonSocialComprador>CONSUMIDOR FINAL</RazonSocialComprador>",
            "",
            json!([2, false, ["0"]]),
        ),
    ] {
        let encf = format!("E32{number:010}");
        let document = summary(&encf).replace(from, to);
        let answer = authority
            .upload(SUMMARIES, Some(&token), &file_name(&encf), &sign(&document))
            .await
            .json();
        assert_eq!(outcome(&answer), expected, "{to}: {answer}");
    }
}

#[tokio::test]
async fn summaries_can_be_looked_up_in_production() {
    let authority = Authority::new();
    let token = authority.token("ecf").await;
    let path = SUMMARIES.replace("testecf", "ecf");
    authority
        .upload(&path, Some(&token), &file_name(ENCF), &sign(&summary(ENCF)))
        .await;
    let look_up = |code: &str| {
        format!("/ecf/consultarfce/api/Consultas/Consulta?RNC_Emisor={RNC}&ENCF={ENCF}&Cod_Seguridad_eCF={code}")
    };
    let found = authority.get(&look_up("a%2BB%2Fc1"), Some(&token)).await.json();
    let accepted = json!({
        "rnc": RNC, "encf": ENCF, "secuenciaUtilizada": true, "codigo": "1", "estado": "Aceptado", "mensajes": [],
    });
    assert_eq!(found, accepted);
    // An unescaped plus decodes to a space, so the code differs.
    assert_eq!(
        authority.get(&look_up("a+B/c1"), Some(&token)).await.json()["estado"],
        "No encontrado"
    );
    let incomplete = format!("/ecf/consultarfce/api/consultas/consulta?rnc_emisor={RNC}&encf={ENCF}");
    assert_eq!(
        authority.get(&incomplete, Some(&token)).await.status,
        StatusCode::BAD_REQUEST
    );
}
