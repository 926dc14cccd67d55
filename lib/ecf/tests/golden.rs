//! Golden documents: each payload in `golden/<type>` must give exactly the XML beside it, and that XML must be valid
//! under the official schema.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ecf::catalogue::CodigoMotivoNoRecibido;
use ecf::messages::{Acecf, Anecf, Arecf, Rfce, Semilla, acecf};
use ecf::{Amounts, Document, Draft, Encf, Fecha, FechaHora, Node, Numbered, ReceiptType};

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(path)
}

fn signed_at() -> FechaHora {
    "27-11-2026 10:30:00".parse().unwrap()
}

/// The receipt of a golden payload, with the first number of its type.
fn numbered(receipt_type: ReceiptType, case: &str) -> Numbered {
    let payload = fs::read(golden(&format!("{receipt_type}/{case}.json"))).unwrap();
    let payload = Node::parse(&payload).unwrap();
    let (draft, notices) = Draft::read(receipt_type, &payload, Amounts::Scaled)
        .unwrap_or_else(|violations| panic!("type {receipt_type} {case}: {violations:#?}"));
    assert!(
        notices.iter().all(|notice| notice.code == "AVISO-04"),
        "type {receipt_type} {case}: {notices:#?}"
    );
    let ecf = draft
        .check()
        .unwrap_or_else(|violations| panic!("type {receipt_type} {case}: {violations:#?}"));
    let expiry: Fecha = "31-12-2028".parse().unwrap();
    ecf.numbered(Encf::new(receipt_type, 1).unwrap(), Some(expiry)).unwrap()
}

fn cases() -> impl Iterator<Item = (ReceiptType, &'static str)> {
    ReceiptType::ALL
        .into_iter()
        .flat_map(|receipt_type| [(receipt_type, "minimal"), (receipt_type, "maximal")])
}

#[test]
fn every_golden_payload_gives_its_xml_to_the_byte() {
    for (receipt_type, case) in cases() {
        let expected = fs::read_to_string(golden(&format!("{receipt_type}/{case}.xml"))).unwrap();
        let written = String::from_utf8(numbered(receipt_type, case).to_xml(signed_at())).unwrap();
        assert!(
            written == expected,
            "type {receipt_type} {case}\n   gave {written}\nexpected {expected}"
        );
    }
}

#[test]
fn every_golden_xml_is_read_back_to_the_same_bytes() {
    for (receipt_type, case) in cases() {
        let xml = fs::read(golden(&format!("{receipt_type}/{case}.xml"))).unwrap();
        let received = Document::from_xml(&xml).unwrap();
        assert_eq!(received.receipt_type, receipt_type);
        assert_eq!(received.violations, [], "type {receipt_type} {case}");
        assert_eq!(received.document.to_xml(), xml, "type {receipt_type} {case}");
    }
}

#[test]
fn every_golden_xml_is_valid_under_the_official_schema() {
    for (receipt_type, case) in cases() {
        let xml = fs::read_to_string(golden(&format!("{receipt_type}/{case}.xml"))).unwrap();
        if !validate(&format!("e-CF-{receipt_type}"), &format!("{receipt_type}-{case}"), &xml) {
            return;
        }
    }
}

/// One of each message, with the name of its schema.
fn messages() -> [(&'static str, &'static str, Vec<u8>); 9] {
    let rnc = |text: &str| text.parse().unwrap();
    let encf = |sequence| Encf::new(ReceiptType::E31, sequence).unwrap();
    let answered = || acecf::Answered {
        rnc_emisor: rnc("130000001"),
        encf: encf(1),
        fecha_emision: "01-11-2026".parse().unwrap(),
        monto_total: "1180".parse().unwrap(),
        rnc_comprador: rnc("00113918205"),
    };
    let reason = CodigoMotivoNoRecibido::EnvioDuplicado;
    let ranges = [(encf(5), encf(50)), (encf(1), encf(1))];
    let summary = |case| Rfce::of(&numbered(ReceiptType::E32, case), "a+/9Zé").unwrap().to_xml();
    let instant = "2026-11-27T14:30:00Z".parse().unwrap();
    [
        ("RFCE-32", "rfce-minimal", summary("minimal")),
        ("RFCE-32", "rfce-maximal", summary("maximal")),
        (
            "ARECF",
            "arecf-received",
            Arecf::received(rnc("130000001"), rnc("130000002"), encf(1), signed_at()).to_xml(),
        ),
        (
            "ARECF",
            "arecf-not-received",
            Arecf::not_received(rnc("130000001"), rnc("130000002"), encf(1), reason, signed_at()).to_xml(),
        ),
        (
            "ACECF",
            "acecf-approved",
            Acecf::approved(answered(), signed_at()).to_xml(),
        ),
        (
            "ACECF",
            "acecf-rejected",
            Acecf::rejected(answered(), Some("Precio & cantidad".parse().unwrap()), signed_at()).to_xml(),
        ),
        (
            "ANECF",
            "anecf",
            Anecf::new(rnc("130000001"), ranges, signed_at()).unwrap().to_xml(),
        ),
        (
            "ANECF",
            "anecf-two-types",
            Anecf::new(
                rnc("130000001"),
                [
                    (
                        Encf::new(ReceiptType::E44, 10).unwrap(),
                        Encf::new(ReceiptType::E44, 46).unwrap(),
                    ),
                    ranges[0],
                ],
                signed_at(),
            )
            .unwrap()
            .to_xml(),
        ),
        (
            "Semilla",
            "semilla",
            Semilla::new("c2VtaWxsYQ==".parse().unwrap(), instant).to_xml(),
        ),
    ]
}

#[test]
fn every_message_is_its_golden_xml_to_the_byte() {
    for (_, case, written) in messages() {
        let expected = fs::read_to_string(golden(&format!("messages/{case}.xml"))).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), expected, "{case}");
    }
}

#[test]
fn every_message_is_read_back_to_the_same_bytes() {
    for (schema, case, written) in messages() {
        let again = match schema {
            "RFCE-32" => Rfce::from_xml(&written).unwrap().to_xml(),
            "ARECF" => Arecf::from_xml(&written).unwrap().to_xml(),
            "ACECF" => Acecf::from_xml(&written).unwrap().to_xml(),
            "ANECF" => Anecf::from_xml(&written).unwrap().to_xml(),
            _ => Semilla::from_xml(&written).unwrap().to_xml(),
        };
        assert_eq!(again, written, "{case}");
    }
}

#[test]
fn every_message_is_valid_under_the_official_schema() {
    for (schema, case, written) in messages() {
        if !validate(schema, case, &String::from_utf8(written).unwrap()) {
            return;
        }
    }
}

/// Validates a document, with a place-holder for its signature. False when schemas or xmllint are not there.
fn validate(schema: &str, case: &str, xml: &str) -> bool {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../shared/reference/xsd/{schema}.xsd"));
    if !schema.exists() {
        eprintln!("skipped: validation under the official schemas (../shared is not there)");
        return false;
    }
    let (body, close) = xml.split_at(xml.rfind("</").unwrap());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{case}.xml"));
    fs::write(&file, format!("{body}<Signature/>{close}")).unwrap();
    let Ok(output) = Command::new("xmllint")
        .arg("--noout")
        .arg("--schema")
        .arg(&schema)
        .arg(&file)
        .output()
    else {
        eprintln!("skipped: validation under the official schemas (xmllint is not there)");
        return false;
    };
    assert!(
        output.status.success(),
        "{case}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}
