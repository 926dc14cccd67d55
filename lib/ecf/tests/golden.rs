//! Golden documents: each payload in `golden/<type>` must give exactly the XML beside it, and that XML must be valid
//! under the official schema.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod schema;

use std::fs;
use std::path::{Path, PathBuf};

use ecf::catalogue::CodigoMotivoNoRecibido;
use ecf::messages::{Acecf, Anecf, Arecf, Rfce, Semilla, acecf};
use ecf::{Amounts, Document, Draft, Encf, Fecha, FechaHora, Node, Numbered, ReceiptType};
use schema::validate_all;

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(path)
}

fn signed_at() -> FechaHora {
    "27-11-2026 10:30:00".parse().unwrap()
}

fn payload(receipt_type: ReceiptType, case: &str) -> Node {
    Node::parse(&fs::read(golden(&format!("{receipt_type}/{case}.json"))).unwrap()).unwrap()
}

/// The receipt of a golden payload, with the first number of its type.
fn numbered(receipt_type: ReceiptType, case: &str) -> Numbered {
    let payload = payload(receipt_type, case);
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
fn a_summary_wants_a_security_code_of_six_characters() {
    let receipt = numbered(ReceiptType::E32, "minimal");
    for code in ["", "abcde", "abcdefg"] {
        assert_eq!(Rfce::of(&receipt, code).unwrap_err().given, code);
    }
    assert!(receipt.goes_as_summary() && !numbered(ReceiptType::E31, "minimal").goes_as_summary());
}

#[test]
fn an_incomplete_message_is_refused_with_the_paths_that_are_missing() {
    let error = Arecf::from_xml(
        b"<ARECF><DetalleAcusedeRecibo><Version>1</Version><Estado>0</Estado>\
        <CodigoMotivoNoRecibido/></DetalleAcusedeRecibo></ARECF>",
    );
    let told = error.unwrap_err().to_string();
    assert!(
        told.starts_with("DetalleAcusedeRecibo/RNCEmisor, DetalleAcusedeRecibo/RNCComprador, "),
        "{told}"
    );
    assert!(!told.contains("CodigoMotivoNoRecibido"), "{told}");
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

/// Variants of the maximal payload, each without one member at any depth.
fn without_each_member(node: &Node) -> Vec<Node> {
    match node {
        Node::Object(members) => (0..members.len())
            .flat_map(|index| {
                let mut shorter = members.clone();
                let (key, member) = shorter.remove(index);
                let inner = without_each_member(&member).into_iter().map(|member| {
                    let mut changed = members.clone();
                    changed[index] = (key.clone(), member);
                    Node::Object(changed)
                });
                inner.chain([Node::Object(shorter)]).collect::<Vec<_>>()
            })
            .collect(),
        // All elements of a list have the same fields, so the first one is enough.
        Node::Array(elements) => elements
            .first()
            .map(without_each_member)
            .unwrap_or_default()
            .into_iter()
            .map(|first| {
                let mut changed = elements.clone();
                changed[0] = first;
                Node::Array(changed)
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn what_passes_the_check_is_valid_under_the_official_schema_whatever_is_left_out() {
    for receipt_type in ReceiptType::ALL {
        let variants = without_each_member(&payload(receipt_type, "maximal"));
        let (all, mut refused) = (variants.len(), 0);
        let mut passed = Vec::new();
        for (index, variant) in variants.into_iter().enumerate() {
            let ecf = Draft::read(receipt_type, &variant, Amounts::Scaled).and_then(|(draft, _)| draft.check());
            let Ok(ecf) = ecf else {
                refused += 1;
                continue;
            };
            let expiry = Some("31-12-2028".parse().unwrap());
            let numbered = ecf.numbered(Encf::new(receipt_type, 1).unwrap(), expiry).unwrap();
            let xml = String::from_utf8(numbered.to_xml(signed_at())).unwrap();
            passed.push((format!("{receipt_type}-without-{index}"), xml));
        }
        assert!(
            refused > 5 && passed.len() > all / 2,
            "type {receipt_type}: {refused} of {all} refused"
        );
        if !validate_all(&format!("e-CF-{receipt_type}"), &passed) {
            return;
        }
    }
}

fn validate(schema: &str, case: &str, xml: &str) -> bool {
    validate_all(schema, &[(case.to_owned(), xml.to_owned())])
}

/// The signed documents of the reference: after reading and writing, the content equals what was signed, without the
/// signature.
#[test]
fn signed_documents_of_the_reference_are_written_again_as_they_were() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/vectors");
    if !vectors.exists() {
        eprintln!("skipped: signed documents of the reference (../shared is not there)");
        return;
    }
    for name in [
        "ecf-31-signed",
        "ecf-32-lt250k-signed",
        "rfce-signed",
        "acecf-signed",
        "seed-signed",
    ] {
        let xml = fs::read_to_string(vectors.join(format!("{name}.xml"))).unwrap();
        let written = match name {
            "rfce-signed" => Rfce::from_xml(xml.as_bytes()).unwrap().to_xml(),
            "acecf-signed" => Acecf::from_xml(xml.as_bytes()).unwrap().to_xml(),
            "seed-signed" => Semilla::from_xml(xml.as_bytes()).unwrap().to_xml(),
            _ => {
                let received = Document::from_xml(xml.as_bytes()).unwrap();
                assert_eq!(received.violations, [], "{name}");
                received.document.to_xml()
            }
        };
        let written = String::from_utf8(written).unwrap();
        // From after the root's start tag, which may declare namespaces, to the signature.
        let content = &xml[xml.find(">").unwrap() + 1..xml.find("<Signature").unwrap()];
        let content = content.find("><").map_or(content, |end| &content[end + 1..]);
        assert!(
            written.contains(content.trim()),
            "{name}\n   gave {written}\nexpected {content}"
        );
    }
}
