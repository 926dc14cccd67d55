//! Uploads: which answers prove that a document was taken, and which prove that it was not.

use std::time::Duration;

use super::wire::{Wire, nobody, wire};
use super::*;
use crate::client::TimeOuts;
use crate::error::Lost;
use crate::services::Sent;

const XML: &[u8] = "<ECF><a>ñ</a></ECF>".as_bytes();

fn upload() -> Upload {
    Upload::receipt(&rnc(), &encf(), XML.to_vec())
}

async fn send(base: &str) -> Result<Sent, TaxAuthError> {
    client(base).send_receipt(ENVIRONMENT, &token(), &upload()).await
}

async fn send_to(play: Play) -> Result<Sent, TaxAuthError> {
    send(&playing(vec![play]).await.base).await
}

#[test]
fn c14_an_upload_waits_at_least_half_a_minute() {
    let time_outs = TimeOuts::default();
    assert!(time_outs.total >= Duration::from_secs(30), "{time_outs:?}");
}

#[tokio::test]
async fn an_upload_is_one_part_of_known_length_with_the_bytes_as_they_are() {
    let double = playing(vec![Play::new(200, r#"{"trackId":"t-1","error":null,"mensaje":null}"#)]).await;
    let sent = send(&double.base).await.unwrap();
    assert!(matches!(sent, Sent::Track { track_id, .. } if track_id == "t-1"));

    let [seen] = double.seen().try_into().unwrap();
    assert_eq!(seen.request, "POST /testecf/recepcion/api/facturaselectronicas");
    let header = |name: &str| seen.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(header("authorization").as_deref(), Some("Bearer the.token"));
    assert_eq!(header("accept").as_deref(), Some("application/json"));
    assert_eq!(header("content-length"), Some(seen.body.len().to_string()));
    assert_eq!(header("transfer-encoding"), None);
    let content_type = header("content-type").unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = [
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"xml\"; filename=\"101672919E310000000001.xml\"\r\n\
             Content-Type: text/xml\r\n\r\n"
        )
        .as_bytes(),
        XML,
        format!("\r\n--{boundary}--\r\n").as_bytes(),
    ]
    .concat();
    assert_eq!(
        String::from_utf8(seen.body).unwrap(),
        String::from_utf8(expected).unwrap()
    );
}

#[tokio::test]
async fn a_refusal_of_an_upload_keeps_the_authoritys_words() {
    let cases = [
        (
            400,
            r#"{"mensajes":[{"valor":"La longitud del nombre del archivo no es válida","codigo":3243}]}"#,
            "3243",
        ),
        (400, r#"{"error":"Firma inválida","codigo":"001"}"#, "001"),
        (422, r#"{"codigo":7,"mensaje":"no"}"#, "7"),
        (403, r#"{"codigo":8,"mensaje":"no está delegado"}"#, "8"),
        (200, r#"{"trackId":null,"codigo":9,"mensaje":"no"}"#, "9"),
    ];
    for (status, body, code) in cases {
        let Ok(Sent::Refused(answer)) = send_to(Play::new(status, body)).await else {
            panic!("{status} {body}")
        };
        assert_eq!(answer.error_code(), Some(code));
        assert!(answer.words().is_some());
    }
    // The symptom of an invalid signature.
    let refused = send_to(Play::new(400, "<html><body></body></html>")).await;
    assert!(matches!(refused, Ok(Sent::Refused(_))));
    let refused = send_to(Play::new(400, "")).await;
    assert!(matches!(refused, Ok(Sent::Refused(_))));
}

#[tokio::test]
async fn what_proves_that_an_upload_was_not_taken_is_told_from_what_does_not() {
    let page = "<html><title>x</title></html>";
    // (status, body, nothing was taken, outage)
    let cases = [
        (401, "", true, false),
        (403, page, true, false),
        (404, page, true, false),
        (404, r#"{"error":"Not Found"}"#, true, false),
        (405, "", true, false),
        (429, "", true, false),
        (408, "", false, false),
        (302, "", false, false),
        (500, "", false, true),
        (502, page, false, true),
        (503, page, false, true),
        (504, r#"{"mensaje":"Rechazado"}"#, false, true),
        (200, "", false, false),
        (200, page, false, false),
        (200, "OK", false, false),
        (200, r#"{"codigo":1,"estado":"Aceptado"}"#, false, false),
        (204, "", false, false),
    ];
    for (status, body, nothing_was_taken, is_outage) in cases {
        let error = send_to(Play::new(status, body)).await.unwrap_err();
        assert_eq!(
            error.nothing_was_taken(),
            nothing_was_taken,
            "{status} {body} {error:?}"
        );
        assert_eq!(error.outage().is_some(), is_outage, "{status} {body} {error:?}");
    }
}

#[tokio::test]
async fn each_status_has_its_error() {
    let reply = |status| send_to(Play::new(status, "").with_header("retry-after", "7"));
    assert!(matches!(
        reply(401).await,
        Err(TaxAuthError::Unauthorized {
            service: Service::Recepcion
        })
    ));
    let error = reply(429).await.unwrap_err();
    assert!(matches!(error, TaxAuthError::Throttled { .. }));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    let error = reply(503).await.unwrap_err();
    assert!(matches!(
        error,
        TaxAuthError::Unknown {
            cause: Lost::Status { status: 503, .. },
            ..
        }
    ));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    let error = reply(404).await.unwrap_err();
    assert!(matches!(error, TaxAuthError::Unavailable { status: 404, .. }));

    let wait = |value: &str| {
        let play = Play::new(429, "").with_header("retry-after", value);
        async move { send_to(play).await.unwrap_err().retry_after() }
    };
    assert_eq!(wait("999999999").await, Some(Duration::from_secs(3600)));
    assert_eq!(wait("soon").await, None);
    let until = async |date| {
        let play = Play::new(503, "").with_header("retry-after", "Fri, 27 Nov 2026 12:02:00 GMT");
        let error = send_to(play.with_header("date", date)).await.unwrap_err();
        error.retry_after()
    };
    assert_eq!(
        until("Fri, 27 Nov 2026 12:00:00 GMT").await,
        Some(Duration::from_secs(120))
    );
    assert_eq!(until("Fri, 27 Nov 2026 12:02:01 GMT").await, None);
    assert_eq!(wait("-1").await, None);
}

#[tokio::test]
async fn a_connection_that_never_stood_proves_that_nothing_was_sent() {
    let error = send(&nobody()).await.unwrap_err();
    assert!(matches!(error, TaxAuthError::NotReached { .. }), "{error:?}");
    assert!(error.nothing_was_taken() && error.outage().is_some());
}

#[tokio::test]
async fn an_answer_lost_on_the_way_leaves_the_outcome_unknown() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"trackId\":\"t\"}";
    for behaviour in [
        Wire::Closes,
        Wire::Says(cut),
        Wire::Says("HTTP/1.1 200"),
        Wire::Says("nonsense\r\n\r\n"),
    ] {
        let error = send(&wire(behaviour)).await.unwrap_err();
        assert!(
            matches!(
                error,
                TaxAuthError::Unknown {
                    cause: Lost::Broken(_),
                    ..
                }
            ),
            "{behaviour:?}: {error:?}"
        );
        assert!(!error.nothing_was_taken() && error.outage().is_some());
    }
    let base = wire(Wire::Stalls);
    let time_outs = TimeOuts {
        connect: Duration::from_secs(2),
        total: Duration::from_millis(200),
    };
    let client = TaxAuth::new(Endpoints::from_bases(&base, &base, &base).unwrap(), time_outs).unwrap();
    let error = client.send_receipt(ENVIRONMENT, &token(), &upload()).await.unwrap_err();
    assert!(
        matches!(
            error,
            TaxAuthError::Unknown {
                cause: Lost::TimedOut(_),
                ..
            }
        ),
        "{error:?}"
    );
    assert!(!error.nothing_was_taken());
}

#[tokio::test]
async fn a_refusal_stands_when_its_explanation_is_cut() {
    let base = wire(Wire::Says(
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\nArchivo no",
    ));
    let Ok(Sent::Refused(answer)) = send(&base).await else {
        panic!()
    };
    assert_eq!(answer.words().as_deref(), Some("Archivo no"));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let play = Play::new(307, "").with_header("location", "/elsewhere");
    let double = playing(vec![play]).await;
    assert!(matches!(send(&double.base).await, Err(TaxAuthError::Unknown { .. })));
    assert_eq!(double.seen().len(), 1);
}

#[tokio::test]
async fn a_summary_is_judged_at_once() {
    let send = async |status, body: &str| {
        let double = playing(vec![Play::new(status, body)]).await;
        let judged = client(&double.base)
            .send_summary(ENVIRONMENT, &token(), &upload())
            .await;
        assert_eq!(double.seen()[0].request, "POST /testecf/recepcionfc/api/recepcion/ecf");
        judged.map(|judged| judged.verdict)
    };
    let freed = Estado::Rejected {
        secuencia_utilizada: Some(false),
    };
    let verdicts = [
        (
            200,
            r#"{"codigo":1,"estado":"Aceptado","mensajes":[],"encf":"E310000000001","secuenciaUtilizada":true}"#,
            Estado::Accepted,
        ),
        (
            200,
            r#"{"codigo":4,"estado":"Aceptado Condicional"}"#,
            Estado::ConditionallyAccepted,
        ),
        (
            200,
            r#"{"codigo":2,"estado":"Rechazado","secuenciaUtilizada":false}"#,
            freed,
        ),
        (
            400,
            r#"{"codigo":"2","estado":"Rechazado","secuenciaUtilizada":"false"}"#,
            freed,
        ),
        (200, r#"{"codigo":3,"estado":"En Proceso"}"#, Estado::InProcess),
        (
            200,
            "<Respuesta><codigo>1</codigo><estado>Aceptado</estado><secuenciaUtilizada>true</secuenciaUtilizada></Respuesta>",
            Estado::Accepted,
        ),
    ];
    for (status, body, verdict) in verdicts {
        assert_eq!(send(status, body).await.unwrap(), verdict, "{body}");
    }
    for (status, body) in [
        (200, ""),
        (200, "OK"),
        (200, r#"{"codigo":0,"estado":"No encontrado"}"#),
        (500, ""),
    ] {
        let error = send(status, body).await.unwrap_err();
        assert!(!error.nothing_was_taken(), "{status} {body}");
    }
    for body in ["", "\"Archivo no válido\"", r#"{"codigo":1,"estado":"Aceptado"}"#] {
        assert!(
            matches!(send(400, body).await, Err(TaxAuthError::Refused { status: 400, .. })),
            "{body}"
        );
    }
}
