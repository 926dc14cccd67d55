//! Queries: how they are sent, and which answers are accepted.

use super::wire::nobody;
use super::*;
use crate::services::{ReceiptQuery, ResultQuery, Submissions, SummaryQuery};

async fn ask(play: Play) -> Result<Estado, TaxAuthError> {
    let double = playing(vec![play]).await;
    let (rnc, encf) = (rnc(), encf());
    let submission = ResultQuery {
        track_id: "t",
        rnc_emisor: &rnc,
        encf: Some(&encf),
    };
    Ok(client(&double.base)
        .result(ENVIRONMENT, &token(), submission)
        .await?
        .verdict)
}

#[tokio::test]
async fn an_endless_answer_is_read_in_part() {
    let answer = ask(Play::new(200, vec![b'x'; 1 << 20])).await;
    assert!(matches!(answer, Ok(Estado::Unclear)));
}

#[tokio::test]
async fn a_question_is_never_failed_by_an_odd_success() {
    let rejected = Estado::Rejected {
        secuencia_utilizada: Some(true),
    };
    let cases = [
        (
            200,
            "\u{feff}{\"codigo\":\"1\",\"estado\":\"Aceptado\",\"mensajes\":[{\"valor\":\"\",\"codigo\":0}]}",
            Estado::Accepted,
        ),
        (
            200,
            r#"{"codigo":2,"estado":"Rechazado","secuenciaUtilizada":true}"#,
            rejected,
        ),
        (200, r#"{"codigo":3,"estado":"En Proceso"}"#, Estado::InProcess),
        (200, r#"{"codigo":0,"estado":"No encontrado"}"#, Estado::NotFound),
        (400, r#"{"codigo":0,"estado":"No encontrado"}"#, Estado::NotFound),
        (404, "\"TrackId no encontrado.\"", Estado::NotFound),
        (
            404,
            r#"{"mensaje":"El trackId no fue: No encontrado"}"#,
            Estado::NotFound,
        ),
        (200, "", Estado::Unclear),
        (204, "", Estado::Unclear),
        (200, "En Proceso", Estado::Unclear),
        (200, "<html><title>Mantenimiento</title></html>", Estado::Unclear),
    ];
    for (status, body, verdict) in cases {
        assert_eq!(ask(Play::new(status, body)).await.unwrap(), verdict, "{status} {body}");
    }
}

#[tokio::test]
async fn a_question_that_fails_is_no_verdict() {
    let page = "<html><title>No encontrado</title></html>";
    for (status, body) in [
        (404, page),
        (404, ""),
        (404, r#"{"title":"Not Found","status":404}"#),
        (500, page),
        (302, ""),
    ] {
        let error = ask(Play::new(status, body)).await.unwrap_err();
        assert!(
            matches!(error, TaxAuthError::Unavailable { .. }),
            "{status} {body}: {error:?}"
        );
    }
    let refused = ask(Play::new(400, "\"El RNC no está delegado\"")).await.unwrap_err();
    assert!(matches!(&refused, TaxAuthError::Refused { .. }));
    assert_eq!(
        refused.answer().unwrap().words().as_deref(),
        Some("El RNC no está delegado")
    );
    // A 4xx whose body names another state is a refusal, not that state.
    let refused = ask(Play::new(400, r#"{"codigo":1,"estado":"Aceptado"}"#)).await;
    assert!(matches!(refused, Err(TaxAuthError::Refused { .. })));
}

#[tokio::test]
async fn every_value_of_a_query_is_encoded_by_itself() {
    let double =
        Double::answering(|_| Play::new(200, r#"{"codigo":1,"estado":"Aceptado","codigoSeguridad":"a+/=&c"}"#)).await;
    let (client, token, rnc, encf) = (client(&double.base), token(), rnc(), encf());
    let submission = ResultQuery {
        track_id: "a b&trackid=c",
        rnc_emisor: &rnc,
        encf: Some(&encf),
    };
    client.result(ENVIRONMENT, &token, submission).await.unwrap();
    let comprador: Rnc = "130000002".parse().unwrap();
    let query = ReceiptQuery {
        rnc_emisor: &rnc,
        encf: &encf,
        rnc_comprador: Some(&comprador),
        codigo_seguridad: "a+/=&c",
    };
    let state = client.receipt_state(ENVIRONMENT, &token, query).await.unwrap();
    assert_eq!(state.codigo_seguridad.as_deref(), Some("a+/=&c"));
    let query = ReceiptQuery {
        rnc_comprador: None,
        ..query
    };
    client.receipt_state(ENVIRONMENT, &token, query).await.unwrap();
    let query = SummaryQuery {
        rnc_emisor: &rnc,
        encf: &encf,
        codigo_seguridad: "+/x",
    };
    client.summary_state(Environment::Ecf, &token, query).await.unwrap();
    client.submissions(ENVIRONMENT, &token, &rnc, &encf).await.unwrap();

    let targets: Vec<_> = double.seen().into_iter().map(|seen| seen.request).collect();
    assert_eq!(
        targets,
        [
            "GET /testecf/consultaresultado/api/consultas/estado?trackid=a%20b%26trackid%3Dc",
            "GET /testecf/consultaestado/api/consultas/estado?rncemisor=101672919&ncfelectronico=E310000000001\
             &rnccomprador=130000002&codigoseguridad=a%2B%2F%3D%26c",
            "GET /testecf/consultaestado/api/consultas/estado?rncemisor=101672919&ncfelectronico=E310000000001\
             &codigoseguridad=a%2B%2F%3D%26c",
            "GET /ecf/consultarfce/api/Consultas/Consulta?RNC_Emisor=101672919&ENCF=E310000000001\
             &Cod_Seguridad_eCF=%2B%2Fx",
            "GET /testecf/consultatrackids/api/trackids/consulta?rncemisor=101672919&encf=E310000000001",
        ]
    );
}

#[tokio::test]
async fn the_submissions_of_a_number_may_be_none_with_a_failure_status() {
    let ask = async |status, body: &str| {
        let double = playing(vec![Play::new(status, body)]).await;
        client(&double.base)
            .submissions(ENVIRONMENT, &token(), &rnc(), &encf())
            .await
    };
    assert!(matches!(
        ask(404, "\"TrackId no encontrado.\"").await,
        Ok(Submissions::None(_))
    ));
    assert!(matches!(ask(200, "[]").await, Ok(Submissions::None(_))));
    assert!(matches!(ask(404, "").await, Err(TaxAuthError::Unavailable { .. })));
    assert!(matches!(
        ask(400, "\"e-NCF inválido\"").await,
        Err(TaxAuthError::Refused { .. })
    ));
}

#[tokio::test]
async fn what_an_environment_does_not_offer_is_not_called() {
    let double = Double::answering(|_| Play::new(200, "[]")).await;
    let error = client(&double.base)
        .submissions(Environment::CerteCF, &token(), &rnc(), &encf())
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        TaxAuthError::NotOffered {
            service: Service::ConsultaTrackIds,
            ..
        }
    ));
    assert!(error.nothing_was_taken());
    assert!(double.seen().is_empty());
}

#[tokio::test]
async fn errors_do_not_repeat_addresses_or_tokens() {
    let base = nobody();
    let query = SummaryQuery {
        rnc_emisor: &rnc(),
        encf: &encf(),
        codigo_seguridad: "secret",
    };
    let error = client(&base)
        .summary_state(Environment::Ecf, &token(), query)
        .await
        .unwrap_err();
    let text = format!("{error:?}");
    assert!(!text.contains("secret") && !text.contains("the.token"), "{text}");
}

#[tokio::test]
async fn nothing_but_a_seed_is_handed_on_to_be_signed() {
    let seed = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<SemillaModel xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\
                \r\n  <valor>x</valor>\r\n</SemillaModel>";
    let fetch = async |body: &str| {
        let double = playing(vec![Play::new(200, body)]).await;
        let seed = client(&double.base).seed(ENVIRONMENT).await.unwrap();
        assert!(double.seen()[0].headers.get("authorization").is_none());
        seed
    };
    assert_eq!(fetch(seed).await.unwrap(), seed.as_bytes());
    assert_eq!(fetch(&format!("\u{feff}{seed}")).await.unwrap(), seed.as_bytes());
    for other in [
        "<ECF><Encabezado/></ECF>",
        "{\"valor\":\"x\"}",
        "",
        "<html></html>",
        "<SemillaModel>",
    ] {
        assert!(fetch(other).await.is_err(), "{other}");
    }
}
