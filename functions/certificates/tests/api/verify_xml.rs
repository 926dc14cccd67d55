//! `POST /api/v1/client/tools/verify-xml`.

use ecf_testkit::{P12_PIN, test_p12};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use xmldsig::{Identity, sign};

use crate::{Api, FORM, VERIFY, fault, form, is};

const XML: &str = "application/xml";
const RECEIPT: &str = "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF>\
<FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
<Emisor><RNCEmisor>130000001</RNCEmisor><RazonSocialEmisor>Ejemplo SRL</RazonSocialEmisor>\
<DireccionEmisor>Calle Primera 1</DireccionEmisor><FechaEmision>27-11-2026</FechaEmision></Emisor>\
<Comprador><RNCComprador>101672919</RNCComprador><RazonSocialComprador>Cliente SRL</RazonSocialComprador></Comprador>\
<Totales><MontoExento>1000.00</MontoExento><MontoTotal>1000.00</MontoTotal></Totales></Encabezado><DetallesItems><Item>\
<NumeroLinea>1</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion><NombreItem>Yuca</NombreItem>\
<IndicadorBienoServicio>1</IndicadorBienoServicio><CantidadItem>2.00</CantidadItem>\
<PrecioUnitarioItem>500.0000</PrecioUnitarioItem><MontoItem>1000.00</MontoItem></Item></DetallesItems>\
<FechaHoraFirma>27-11-2026 10:30:00</FechaHoraFirma></ECF>";

fn signed(xml: &str) -> Vec<u8> {
    let identity = Identity::from_pkcs12(test_p12(), P12_PIN, Timestamp::UNIX_EPOCH).unwrap();
    sign(xml.as_bytes(), &identity).unwrap().xml
}

fn outcomes(report: &Value) -> Vec<&str> {
    let checks = report["signature"]["checks"].as_array().unwrap();
    checks.iter().map(|check| check["outcome"].as_str().unwrap()).collect()
}

fn codes(findings: &Value) -> Vec<&str> {
    let findings = findings.as_array().unwrap();
    findings
        .iter()
        .map(|one| one["ctx"]["code"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_good_receipt_is_told_to_be_good() {
    let api = Api::start().await;
    let part = "name=\"xml\"; filename=\"130000001E310000000001.xml\"";
    let body = form(&[(part.to_owned(), &signed(RECEIPT))]);
    let report = api.post(VERIFY, FORM, body).await.expect(200);
    let expected =
        json!({ "given": "130000001E310000000001.xml", "expected": "130000001E310000000001.xml", "fits": true });
    assert_eq!(report["file_name"], expected);
    assert_eq!(outcomes(&report), ["passed"; 8], "{report}");
    assert_eq!((&report["structure"], &report["rules"]), (&json!([]), &json!([])));
    assert_eq!(report["valid"], true);
    let expected = json!({
        "root": "ECF", "ecf_type": "31", "encf": "E310000000001", "rnc_emisor": "130000001",
        "rnc_comprador": "101672919", "monto_total": "1000.00", "fecha_emision": "27-11-2026",
        "fecha_hora": "27-11-2026 10:30:00",
    });
    assert_eq!(report["document"], expected);
    assert_eq!(report["signature"]["security_code"].as_str().unwrap().len(), 6);
    assert_eq!(
        (&report["signer"]["owner"], &report["signer"]["serves"]),
        (&json!("other"), &json!(true))
    );
}

#[tokio::test]
async fn an_altered_receipt_is_told_check_by_check_and_rule_by_rule() {
    let api = Api::start().await;
    let bytes = String::from_utf8(signed(RECEIPT)).unwrap();
    let altered = bytes.replace("<MontoTotal>1000.00", "<MontoTotal>1900.00");
    let report = api.post(VERIFY, XML, altered).await.expect(200);
    assert_eq!(report["valid"], false);
    let failed: Vec<_> = report["signature"]["checks"].as_array().unwrap().iter().collect();
    let digest = failed.iter().find(|check| check["check"] == "digest").unwrap();
    assert_eq!(digest["outcome"], "failed");
    assert!(
        digest["reason"]
            .as_str()
            .unwrap()
            .contains("changed after it was signed")
    );
    assert!(codes(&report["rules"]).contains(&"TOTALES-05"), "{}", report["rules"]);
    assert_eq!(report["file_name"]["fits"], Value::Null);
}

#[tokio::test]
async fn fields_that_are_missing_or_unknown_are_listed() {
    let api = Api::start().await;
    let without = RECEIPT.replace("<TipoIngresos>01</TipoIngresos>", "<Propina>5</Propina>");
    let report = api.post(VERIFY, XML, signed(&without)).await.expect(200);
    assert_eq!(
        (&report["signature"]["valid"], &report["valid"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        codes(&report["structure"]),
        ["ESTRUCTURA-01", "ESTRUCTURA-04"],
        "{}",
        report["structure"]
    );
    assert_eq!(
        report["structure"][0]["loc"],
        json!(["document", "Encabezado", "IdDoc", "TipoIngresos"])
    );
}

#[tokio::test]
async fn the_messages_and_the_seed_are_read_too() {
    let api = Api::start().await;
    let arecf = "<ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>130000001</RNCEmisor>\
<RNCComprador>130000002</RNCComprador><eNCF>E310000000001</eNCF><Estado>0</Estado>\
<FechaHoraAcuseRecibo>27-11-2026 10:30:00</FechaHoraAcuseRecibo></DetalleAcusedeRecibo></ARECF>";
    let report = api.post(VERIFY, XML, signed(arecf)).await.expect(200);
    assert_eq!(
        (&report["valid"], &report["document"]["root"]),
        (&json!(true), &json!("ARECF"))
    );
    assert_eq!(report["file_name"]["expected"], "130000002E310000000001.xml");
    let wrong = arecf.replace("<Estado>0", "<Estado>7");
    let report = api.post(VERIFY, XML, signed(&wrong)).await.expect(200);
    assert_eq!(
        report["structure"][0]["loc"],
        json!(["document", "DetalleAcusedeRecibo", "Estado"])
    );

    let seed = "<SemillaModel><valor>abc</valor><fecha>2026-11-27T12:00:00-04:00</fecha></SemillaModel>";
    let report = api.post(VERIFY, XML, signed(seed)).await.expect(200);
    assert_eq!(
        (&report["valid"], &report["signer"]["owner"]),
        (&json!(true), &Value::Null)
    );
    let report = api
        .post(VERIFY, XML, signed("<Postulacion>1</Postulacion>"))
        .await
        .expect(200);
    assert_eq!(
        (&report["valid"], &report["document"]["root"]),
        (&json!(true), &json!("Postulacion"))
    );
}

#[tokio::test]
async fn a_certificate_counts_at_the_time_of_signing() {
    let api = Api::start().await;
    api.stack.clock().advance(SignedDuration::from_hours(24 * 800));
    let report = api.post(VERIFY, XML, signed(RECEIPT)).await.expect(200);
    let signer = &report["signer"];
    assert_eq!((&signer["serves"], &signer["valid_now"]), (&json!(true), &json!(false)));
    let early = RECEIPT.replace("27-11-2026 10:30:00", "27-11-2025 10:30:00");
    let report = api.post(VERIFY, XML, signed(&early)).await.expect(200);
    assert_eq!(
        (&report["signer"]["serves"], &report["valid"]),
        (&json!(false), &json!(false))
    );
    assert!(
        report["signer"]["reason"]
            .as_str()
            .unwrap()
            .contains("not valid before")
    );
}

#[tokio::test]
async fn rubbish_gets_a_report_that_says_so() {
    let api = Api::start().await;
    for rubbish in [
        &b"no XML"[..],
        b"\xff\xfe\x00",
        b"<ECF>",
        b"<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
        b"<ECF><Encabezado><IdDoc><TipoeCF>99</TipoeCF></IdDoc></Encabezado></ECF>",
    ] {
        let report = api.post(VERIFY, XML, rubbish).await.expect(200);
        assert_eq!(
            (&report["valid"], &report["signature"]["valid"]),
            (&json!(false), &json!(false))
        );
        assert_eq!(report["structure"][0]["type"], "xml_invalid", "{report}");
    }
    let deep = "<a>".repeat(10_000) + &"</a>".repeat(10_000);
    assert_eq!(api.post(VERIFY, XML, deep).await.expect(200)["valid"], false);
    assert_eq!(
        fault(&api.post(VERIFY, XML, "").await.expect(422)),
        is("body", "missing")
    );
    assert_eq!(api.post(VERIFY, XML, vec![b'a'; 5 * 1024 * 1024]).await.status, 413);
}

#[tokio::test]
async fn c3_an_archived_receipt_is_judged_as_of_its_signature() {
    let api = Api::start().await;
    api.stack.clock().advance(SignedDuration::from_hours(24 * 800));
    let receipt = RECEIPT.replace(
        "<FechaVencimientoSecuencia>31-12-2028",
        "<FechaVencimientoSecuencia>31-12-2026",
    );
    let report = api.post(VERIFY, XML, signed(&receipt)).await.expect(200);
    assert_eq!(report["valid"], true, "{report}");
    assert_eq!(report["rules_as_of"], "27-11-2026");
    let rules = report["rules"].as_array().unwrap();
    let expired = rules.iter().find(|one| one["ctx"]["code"] == "IDDOC-12").unwrap();
    assert_eq!(expired["ctx"]["grade"], "notice", "{expired}");
    assert!(
        expired["msg"].as_str().unwrap().contains("today is 04-02-2029"),
        "{expired}"
    );

    // The number was expired on the day of the signature, so the document was never valid.
    let late = RECEIPT.replace(
        "<FechaVencimientoSecuencia>31-12-2028",
        "<FechaVencimientoSecuencia>31-12-2025",
    );
    let report = api.post(VERIFY, XML, signed(&late)).await.expect(200);
    assert_eq!(report["valid"], false);
    let rules = report["rules"].as_array().unwrap();
    let expired = rules.iter().find(|one| one["ctx"]["code"] == "IDDOC-12").unwrap();
    assert_eq!(expired["ctx"]["grade"], "rejected", "{expired}");
}

#[tokio::test]
async fn c3_a_signature_of_the_future_does_not_move_today() {
    let api = Api::start().await;
    let ahead = RECEIPT.replace("27-11-2026 10:30:00", "27-11-2029 10:30:00");
    let report = api.post(VERIFY, XML, signed(&ahead)).await.expect(200);
    assert_eq!(report["rules_as_of"], "27-11-2026", "{report}");
}

#[tokio::test]
async fn c11_what_the_schema_would_refuse_is_named() {
    let api = Api::start().await;
    let item = &RECEIPT[RECEIPT.find("<Item>").unwrap()..RECEIPT.find("</DetallesItems>").unwrap()];
    let items: String = (1..=1_001)
        .map(|line| item.replace("<NumeroLinea>1<", &format!("<NumeroLinea>{line}<")))
        .collect();
    for (from, to, loc, code) in [
        (
            "<RNCEmisor>130000001</RNCEmisor><RazonSocialEmisor>Ejemplo SRL</RazonSocialEmisor>",
            "<RazonSocialEmisor>Ejemplo SRL</RazonSocialEmisor><RNCEmisor>130000001</RNCEmisor>",
            json!(["document", "Encabezado", "Emisor", "RNCEmisor"]),
            "ESTRUCTURA-50",
        ),
        (
            "<DireccionEmisor>",
            "<Sucursal></Sucursal><DireccionEmisor>",
            json!(["document", "Encabezado", "Emisor", "Sucursal"]),
            "ESTRUCTURA-51",
        ),
        (
            "<Comprador>",
            "<Comprador id=\"1\">",
            json!(["document", "Encabezado", "Comprador"]),
            "ESTRUCTURA-52",
        ),
        (
            "<Comprador>",
            "<Comprador xmlns=\"urn:x\">",
            json!(["document", "Encabezado", "Comprador"]),
            "ESTRUCTURA-53",
        ),
        (
            "<Comprador>",
            "texto<Comprador>",
            json!(["document", "Encabezado"]),
            "ESTRUCTURA-54",
        ),
        (
            "<Comprador>",
            "<Nada></Nada><Comprador>",
            json!(["document", "Encabezado", "Nada"]),
            "ESTRUCTURA-04",
        ),
        (
            item,
            &items,
            json!(["document", "DetallesItems", "Item"]),
            "ESTRUCTURA-03",
        ),
    ] {
        let report = api
            .post(VERIFY, XML, signed(&RECEIPT.replacen(from, to, 1)))
            .await
            .expect(200);
        assert_eq!(
            (&report["signature"]["valid"], &report["valid"]),
            (&json!(true), &json!(false)),
            "{to}"
        );
        assert!(
            codes(&report["structure"]).contains(&code),
            "{}: {}",
            code,
            report["structure"]
        );
        let found = report["structure"].as_array().unwrap();
        assert!(
            found.iter().any(|one| one["loc"] == loc),
            "{loc}: {}",
            report["structure"]
        );
    }
    // The signature must be the last element, which the signed bytes alone do not show.
    let moved = String::from_utf8(signed(RECEIPT)).unwrap();
    let date = "<FechaHoraFirma>27-11-2026 10:30:00</FechaHoraFirma>";
    let moved = moved
        .replace(date, "")
        .replace("</Signature>", &format!("</Signature>{date}"));
    let report = api.post(VERIFY, XML, moved).await.expect(200);
    assert_eq!(codes(&report["structure"]), ["ESTRUCTURA-50"], "{report}");
    assert_eq!(
        (&report["signature"]["valid"], &report["valid"]),
        (&json!(true), &json!(false)),
        "{report}"
    );
}

#[tokio::test]
async fn c11_messages_are_held_against_their_schema_too() {
    let api = Api::start().await;
    let arecf = "<ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCComprador>130000002</RNCComprador>\
<RNCEmisor>130000001</RNCEmisor><eNCF>E310000000001</eNCF><Estado>0</Estado><CodigoMotivoNoRecibido/>\
<FechaHoraAcuseRecibo>27-11-2026 10:30:00</FechaHoraAcuseRecibo></DetalleAcusedeRecibo></ARECF>";
    let report = api.post(VERIFY, XML, signed(arecf)).await.expect(200);
    assert_eq!(
        codes(&report["structure"]),
        ["ESTRUCTURA-50", "ESTRUCTURA-51"],
        "{report}"
    );
    assert_eq!(
        (&report["valid"], &report["document"]["encf"]),
        (&json!(false), &json!("E310000000001"))
    );
}

#[tokio::test]
async fn c12_another_encoding_is_named_whatever_the_bytes() {
    let api = Api::start().await;
    let receipt = String::from_utf8(signed(&RECEIPT.replace("Yuca", "Ñame"))).unwrap();
    let latin: Vec<u8> = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{receipt}")
        .chars()
        .map(|one| one as u8)
        .collect();
    let ascii = format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>{}",
        receipt.replace('Ñ', "N")
    )
    .into_bytes();
    let newer = format!("<?xml version=\"1.1\"?>{receipt}").into_bytes();
    let wide: Vec<u8> = format!("\u{FEFF}{receipt}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (bytes, named) in [
        (latin, "ISO-8859-1"),
        (ascii, "us-ascii"),
        (newer, "XML 1.1"),
        (wide, "UTF-16"),
    ] {
        let report = api.post(VERIFY, XML, bytes).await.expect(200);
        assert_eq!(report["valid"], false);
        let words = report["structure"][0]["msg"].as_str().unwrap();
        assert!(words.contains(named), "{named}: {words}");
        assert_eq!(report["document"]["encf"], "E310000000001", "{named}: {report}");
    }
}
