//! `POST /api/v1/client/tools/sign-xml`.

use base64::{Engine, prelude::BASE64_STANDARD};
use ecf_testkit::{P12_PIN, test_p12};
use jiff::SignedDuration;
use serde_json::json;
use xmldsig::{Limits, verify};

use crate::{Api, FORM, SIGN, fault, form, is};

const XML: &str = "application/xml";
const APPLICATION: &str = "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<Postulacion>\r\n  <!-- portal -->\r\n  <RazonSocial>Ñandú &amp; Hijos</RazonSocial>\r\n</Postulacion>\r\n";

async fn ready() -> Api {
    let api = Api::start().await;
    api.upload(test_p12(), P12_PIN).await.expect(201);
    api
}

#[tokio::test]
async fn a_form_of_the_portal_comes_back_signed_as_a_file() {
    let api = ready().await;
    let plain = APPLICATION.trim_start_matches('\u{FEFF}');
    let part = "name=\"xml\"; filename=\"C:\\\\portal\\\\Postulacion.xml\"\r\nContent-Type: text/xml";
    let as_form = form(&[(part.to_owned(), plain.as_bytes())]);
    let as_json = json!({ "xml_base64": BASE64_STANDARD.encode(plain), "file_name": "Postulacion.xml" });
    for (content_type, body, name) in [
        (XML, plain.as_bytes().to_vec(), "document-signed.xml"),
        (FORM, as_form, "Postulacion-signed.xml"),
        (
            "application/json",
            as_json.to_string().into_bytes(),
            "Postulacion-signed.xml",
        ),
    ] {
        let answer = api.post(SIGN, content_type, body).await;
        assert_eq!(answer.status, 200, "{content_type}");
        assert_eq!(answer.header("content-type"), Some("application/xml"));
        assert_eq!(
            answer.header("content-disposition"),
            Some(format!("attachment; filename=\"{name}\"").as_str())
        );
        let verified = verify(&answer.bytes, &Limits::default()).unwrap();
        let expected = "<Postulacion><RazonSocial>Ñandú &amp; Hijos</RazonSocial></Postulacion>";
        assert_eq!(String::from_utf8(verified.document).unwrap(), expected);
        assert!(answer.bytes.ends_with(b"</Signature></Postulacion>"));
    }
}

#[tokio::test]
async fn receipts_their_messages_and_the_seed_are_refused_however_they_are_dressed() {
    let api = ready().await;
    for root in ["ECF", "eCF", "RFCE", "ARECF", "ACECF", "ANECF", "SemillaModel"] {
        for document in [
            format!("<{root}><a>1</a></{root}>"),
            format!("<?xml version=\"1.0\"?><?pi x?><!-- c --><{root} xmlns:xsi=\"urn:x\"/>"),
            format!("<p:{root} xmlns:p=\"urn:x\"><p:a>1</p:a></p:{root}>"),
        ] {
            let refused = api.post(SIGN, XML, document.clone()).await.expect(422);
            assert_eq!(fault(&refused), is("body", "receipt_document"), "{document}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_signed_is_refused_with_the_reason() {
    let api = ready().await;
    let signed = api.post(SIGN, XML, "<Declaracion>1</Declaracion>").await.bytes;
    let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
    for (document, code) in [
        (signed, "already_signed"),
        (bomb.as_bytes().to_vec(), "not_well_formed"),
        (b"<a><b></a>".to_vec(), "not_well_formed"),
        (b"no XML".to_vec(), "not_well_formed"),
        (APPLICATION.as_bytes().to_vec(), "not_well_formed"),
    ] {
        let refused = api.post(SIGN, XML, document).await.expect(422);
        assert_eq!(fault(&refused), is("body", code), "{refused}");
    }
    assert_eq!(fault(&api.post(SIGN, XML, "").await.expect(422)), is("body", "missing"));
    assert_eq!(api.post(SIGN, "text/csv", "a").await.status, 415);
    assert_eq!(api.post(SIGN, XML, vec![b'a'; 5 * 1024 * 1024]).await.status, 413);
}

#[tokio::test]
async fn without_a_certificate_that_is_valid_now_nothing_is_signed() {
    let api = Api::start().await;
    let answer = api.post(SIGN, XML, "<a>1</a>").await;
    assert_eq!(answer.expect(409)["detail"]["code"], "certificate_missing");
    api.upload(test_p12(), P12_PIN).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_hours(24 * 766));
    let answer = api.post(SIGN, XML, "<a>1</a>").await;
    assert_eq!(answer.expect(409)["detail"]["code"], "certificate_not_valid");
}
