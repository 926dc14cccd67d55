//! `emisorreceptor`: its answers to receipts and approvals, and its verdicts on the acknowledgements of its own
//! receipts.

use axum::{Router, routing::post};
use http::{Request, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    documents::{RNC, approval, invoice},
    signer::sign,
    support::{Authority, file_name, on_one_line},
};

const BASE: &str = "/testecf/emisorreceptor";
const ENCF: &str = "E310000000001";

async fn token(authority: &Authority) -> String {
    let seed = authority
        .get(&format!("{BASE}/fe/autenticacion/api/semilla"), None)
        .await;
    let path = format!("{BASE}/fe/autenticacion/api/validacioncertificado");
    let signed = sign(&on_one_line(&seed.text));
    let answer = authority.upload(&path, None, "semilla.xml", &signed).await;
    answer.json()["token"].as_str().unwrap().to_owned()
}

/// The text of an element of an acknowledgement.
fn value<'a>(arecf: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = arecf.split_once(&format!("<{name}>"))?;
    rest.split('<').next()
}

#[tokio::test]
async fn what_it_receives_is_acknowledged_with_the_reason_that_it_deserves() {
    let authority = Authority::new();
    let token = token(&authority).await;
    let path = format!("{BASE}/fe/recepcion/api/ecf");
    let signed = sign(&invoice(ENCF));
    for (xml, estado, motivo) in [
        (signed.replace("1180.00", "1180.01"), "1", Some("2")),
        (invoice(ENCF), "1", Some("2")),
        (
            sign(&invoice(ENCF).replace("<TipoPago>1</TipoPago>", "")),
            "1",
            Some("1"),
        ),
        (signed.clone(), "0", None),
        (signed.clone(), "1", Some("3")),
    ] {
        let answer = authority.upload(&path, Some(&token), &file_name(ENCF), &xml).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        let found = ["Estado", "CodigoMotivoNoRecibido", "eNCF"].map(|name| value(&answer.text, name));
        assert_eq!(found, [Some(estado), motivo, Some(ENCF)], "{answer:?}");
        assert!(answer.text.contains("<SignatureValue>"));
    }
    let answer = authority.upload(&path, Some(&token), "a.xml", "<ECF></ECF>").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{answer:?}");
    let answer = authority.upload(&path, None, &file_name(ENCF), &signed).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{answer:?}");
}

#[tokio::test]
async fn an_approval_is_200_when_it_is_right_and_400_when_not() {
    let authority = Authority::new();
    let token = token(&authority).await;
    let path = format!("{BASE}/fe/aprobacioncomercial/api/ecf");
    let signed = sign(&approval(ENCF));
    for (xml, status) in [
        (signed.clone(), StatusCode::OK),
        (signed.replace("<Estado>1", "<Estado>2"), StatusCode::BAD_REQUEST),
        (
            sign(&approval(ENCF).replace("<Estado>1</Estado>", "")),
            StatusCode::BAD_REQUEST,
        ),
    ] {
        let answer = authority.upload(&path, Some(&token), &file_name(ENCF), &xml).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

/// Starts a receiver that acknowledges every receipt with this reason, signed or not.
async fn receiver(motivo: &'static str, is_signed: bool) -> String {
    let acknowledge = move |body: String| async move {
        let encf = value(&body, "eNCF").unwrap();
        let motivo = match motivo {
            "" => "<Estado>0</Estado>".to_owned(),
            motivo => format!("<Estado>1</Estado><CodigoMotivoNoRecibido>{motivo}</CodigoMotivoNoRecibido>"),
        };
        let arecf = format!(
            "<ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>131880738</RNCEmisor>\
             <RNCComprador>{RNC}</RNCComprador><eNCF>{encf}</eNCF>{motivo}\
             <FechaHoraAcuseRecibo>15-01-2027 08:00:00</FechaHoraAcuseRecibo></DetalleAcusedeRecibo></ARECF>"
        );
        if is_signed { sign(&arecf) } else { arecf }
    };
    let app = Router::new().route("/fe/recepcion/api/ecf", post(acknowledge));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Has a receipt sent to that address; returns its number and the verdict on the acknowledgement.
async fn sent(authority: &Authority, token: &str, url: &str, defecto: Option<&str>) -> (String, Value) {
    let order = json!({ "rnc": RNC, "tipoEncf": "31", "urlRecepcion": url, "defecto": defecto });
    let request = Request::post(format!("{BASE}/api/emision/emisioncomprobantes"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(order.to_string().into());
    let answer = authority.send(request.unwrap()).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let encf = value(&answer.text, "eNCF").unwrap().to_owned();
    let query = format!("{BASE}/api/emision/consultaacuserecibo?Rnc={RNC}&Encf={encf}");
    (encf, authority.get(&query, Some(token)).await.json())
}

#[tokio::test]
async fn the_acknowledgement_of_what_it_sends_is_judged() {
    let authority = Authority::new();
    let token = token(&authority).await;
    let good = receiver("", true).await;
    let (first, judged) = sent(&authority, &token, &good, None).await;
    assert_eq!(
        (&judged["estado"], &judged["mensajes"]),
        (&json!("Aceptado"), &json!([]))
    );

    // Each defect requires its reason; the verdict names a receiver that acknowledges with another one.
    for (defecto, motivo) in [
        ("estructura", "1"),
        ("tipo", "1"),
        ("firma", "2"),
        ("sin_firma", "2"),
        ("duplicado", "3"),
        ("comprador", "4"),
    ] {
        let (encf, judged) = sent(&authority, &token, &receiver(motivo, true).await, Some(defecto)).await;
        assert_eq!(judged["estado"], "Aceptado", "{defecto} {judged}");
        let (_, judged) = sent(&authority, &token, &good, Some(defecto)).await;
        let expected = format!("CodigoMotivoNoRecibido debe ser '{motivo}', no ''.");
        assert_eq!(
            (&judged["estado"], &judged["mensajes"]),
            (&json!("Rechazado"), &json!([expected])),
            "{defecto}"
        );
        assert_ne!(encf, first, "{defecto}");
    }

    let (_, judged) = sent(&authority, &token, &receiver("", false).await, None).await;
    assert_eq!(judged["mensajes"], json!(["La firma del acuse no es válida."]));
    let (_, judged) = sent(&authority, &token, "http://127.0.0.1:1", None).await;
    assert_eq!(judged["estado"], "No recibido");
}
