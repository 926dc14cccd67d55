//! `recepcion`: which files it accepts and rejects, and the verdict that follows.

use axum::body::Body;
use http::{Request, StatusCode, header};
use serde_json::json;

use crate::{
    documents::{RNC, invoice, large_consumer_invoice},
    signer::sign,
    support::{Authority, DELAY, RECEPTION, RESULT, file_name, outcome},
};

const ENCF: &str = "E310000000001";

#[tokio::test]
async fn a_good_receipt_is_in_process_until_the_delay_has_passed() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let answer = authority
        .upload(RECEPTION, Some(&token), &file_name(ENCF), &sign(&invoice(ENCF)))
        .await
        .json();
    let track_id = answer["trackId"].as_str().unwrap().to_owned();
    assert_eq!(answer, json!({ "trackId": track_id, "error": null, "mensaje": null }));

    let result = |codigo, estado, secuencia_utilizada| {
        json!({
            "trackId": track_id, "codigo": codigo, "estado": estado, "rnc": RNC, "eNCF": ENCF,
            "secuenciaUtilizada": secuencia_utilizada, "fechaRecepcion": "1/15/2027 8:00:00 AM", "mensajes": [],
        })
    };
    assert_eq!(
        authority.result(&token, &track_id).await,
        result(3, "En Proceso", false)
    );
    authority.advance(DELAY);
    assert_eq!(authority.result(&token, &track_id).await, result(1, "Aceptado", true));
}

#[tokio::test]
async fn a_consumer_invoice_from_the_threshold_on_comes_in_full() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let encf = "E320000000001";
    let verdict = authority.verdict(&token, encf, &large_consumer_invoice(encf)).await;
    assert_eq!(outcome(&verdict), json!([1, true, []]), "{verdict}");
    let encf = "E320000000002";
    let small = large_consumer_invoice(encf).replace("300000.00", "249999.99");
    let verdict = authority.verdict(&token, encf, &small).await;
    assert_eq!(verdict["estado"], "Rechazado", "{verdict}");
}

#[tokio::test]
async fn paths_are_read_in_any_letter_case() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let path = "/TesteCF/Recepcion/API/FacturasElectronicas/";
    let answer = authority
        .upload(path, Some(&token), &file_name(ENCF), &sign(&invoice(ENCF)))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let track_id = answer.json()["trackId"].as_str().unwrap().to_owned();
    let path = format!("{}?TrackId={track_id}", RESULT.to_uppercase());
    assert_eq!(authority.get(&path, Some(&token)).await.json()["eNCF"], ENCF);
}

#[tokio::test]
async fn answers_come_as_xml_when_asked() {
    let authority = Authority::answering("text/xml");
    let json = Authority::new();
    let token = json.token("testecf").await;
    assert_eq!(
        authority.get(RESULT, Some(&token)).await.status,
        StatusCode::UNAUTHORIZED,
        "tokens are per simulator"
    );

    let answer = authority.get(&format!("{RESULT}?trackid=none"), None).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let authority = Authority::answering("application/xml, application/json");
    let seed = authority.get(crate::support::SEED, None).await.text;
    let signed = sign(&crate::support::on_one_line(&seed));
    let answer = authority
        .upload(crate::support::VALIDATE, None, "s.xml", &signed)
        .await
        .text;
    let token = answer
        .split_once("<token>")
        .unwrap()
        .1
        .split_once('<')
        .unwrap()
        .0
        .to_owned();
    let answer = authority
        .upload(RECEPTION, Some(&token), &file_name(ENCF), &sign(&invoice(ENCF)))
        .await;
    assert!(answer.content_type.starts_with("application/xml"));
    let track_id = answer
        .text
        .split_once("<trackId>")
        .unwrap()
        .1
        .split_once('<')
        .unwrap()
        .0
        .to_owned();
    assert!(answer.text.ends_with(&format!(
        "<RespuestaRecepcion><trackId>{track_id}</trackId></RespuestaRecepcion>"
    )));
    authority.advance(DELAY);
    let result = authority
        .get(&format!("{RESULT}?trackid={track_id}"), Some(&token))
        .await
        .text;
    assert!(result.contains("<RespuestaConsultaTrackId><trackId>"), "{result}");
    assert!(
        result.contains("<codigo>1</codigo><estado>Aceptado</estado>"),
        "{result}"
    );
}

#[tokio::test]
async fn an_unknown_track_id_is_not_found() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let result = authority.result(&token, "2a0e4fcb-5e3b-4b86-a1b4-2a6f8c2b9f11").await;
    assert_eq!(
        (&result["codigo"], &result["estado"]),
        (&json!(0), &json!("No encontrado"))
    );
}

#[tokio::test]
async fn files_are_refused_at_the_door_with_the_authoritys_codes() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    let with_mark = format!("\u{feff}{signed}");
    let large = format!("<ECF><!--{}--></ECF", "x".repeat(3_000_000));
    for (name, xml, codigo) in [
        (file_name(ENCF), with_mark.as_str(), "001"),
        (file_name(ENCF), "not xml", "001"),
        (file_name(ENCF), large.as_str(), "001"),
        (file_name(ENCF), "<!DOCTYPE x><ECF/>", "001"),
        ("x.xml".to_owned(), &signed, "3243"),
        (file_name("E310000000002"), &signed, "0"),
    ] {
        let answer = authority.upload(RECEPTION, Some(&token), &name, xml).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}");
        assert_eq!(answer.json()["error"], codigo, "{name}: {answer:?}");
        assert_eq!(answer.json()["trackId"], json!(null));
    }
}

#[tokio::test]
async fn an_upload_needs_a_token_a_length_and_one_file_named_xml() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let answer = authority.upload(RECEPTION, None, &file_name(ENCF), "<ECF/>").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);

    let part = |name: &str, kind: &str| {
        format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{RNC}{ENCF}.xml\"\r\n\
             Content-Type: {kind}\r\n\r\n<ECF/>\r\n"
        )
    };
    let request = |body: String, with_length: bool| {
        let mut request = Request::post(RECEPTION)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=b");
        if with_length {
            request = request.header(header::CONTENT_LENGTH, body.len());
        }
        request.body(Body::from(body)).unwrap()
    };
    let whole = |parts: &[String]| format!("{}--b--\r\n", parts.concat());
    for (body, with_length, text) in [
        (whole(&[part("xml", "text/xml")]), false, "Multipart cannot be empty"),
        (whole(&[]), true, "Multipart cannot be empty"),
        (
            whole(&[part("file", "text/xml")]),
            true,
            "Se espera un único archivo 'xml' de tipo text/xml.",
        ),
        (
            whole(&[part("xml", "text/plain")]),
            true,
            "Se espera un único archivo 'xml' de tipo text/xml.",
        ),
        (
            whole(&[part("xml", "text/xml"), part("xml", "text/xml")]),
            true,
            "Se espera un único archivo 'xml' de tipo text/xml.",
        ),
    ] {
        let answer = authority.send(request(body, with_length)).await;
        assert_eq!((answer.status, answer.json()), (StatusCode::BAD_REQUEST, json!(text)));
    }
}

#[tokio::test]
async fn services_exist_where_the_matrix_says() {
    let authority = Authority::new();
    for (path, environments) in [
        ("recepcion/api/facturaselectronicas", "testecf certecf ecf"),
        ("recepcionfc/api/recepcion/ecf", "testecf certecf ecf"),
        ("consultarfce/api/consultas/consulta", "testecf certecf ecf"),
        ("consultaresultado/api/consultas/estado", "testecf certecf ecf"),
        ("consultaestado/api/consultas/estado", "testecf ecf"),
        ("consultatrackids/api/trackids/consulta", "testecf ecf"),
        ("aprobacioncomercial/api/aprobacioncomercial", "testecf certecf ecf"),
        ("anulacionrangos/api/operaciones/anularrango", "testecf ecf"),
        ("consultadirectorio/api/consultas/listado", "testecf ecf"),
    ] {
        for environment in ["testecf", "certecf", "ecf"] {
            let status = authority.get(&format!("/{environment}/{path}"), None).await.status;
            let exists = environments.split(' ').any(|one| one == environment);
            assert_eq!(
                status != StatusCode::NOT_FOUND,
                exists,
                "{environment}/{path}: {status}"
            );
        }
    }
}
