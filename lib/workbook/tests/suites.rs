//! The authority's own workbooks: every row becomes a document without changes, valid under the official schema.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../ecf/tests/schema/mod.rs"]
mod schema;
/// A second, independent reader of the sheets.
#[path = "../../ecf/tests/certification/workbook.rs"]
#[expect(dead_code, reason = "only its rows are used")]
mod workbook;

use std::collections::BTreeMap;
use std::path::Path;

use ecf::{Environment, FechaHora, Grade, ReceiptType};
use ecf_workbook::{Criteria, Differs, Phase, Suite, approvals, receipts};

const SUITES: [&str; 2] = ["suite-1", "suite-2"];

fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/certification")
        .join(name);
    let bytes = std::fs::read(path).ok();
    if bytes.is_none() {
        eprintln!("skipped: {name} (../shared is not there)");
    }
    bytes
}

fn criteria() -> Criteria {
    Criteria {
        company: None,
        environment: Environment::CerteCF,
        today: "27-11-2026".parse().unwrap(),
    }
}

fn signed_at() -> FechaHora {
    "27-11-2026 10:30:00".parse().unwrap()
}

fn suite(name: &str) -> Option<Suite> {
    let read = receipts(&bytes(&format!("{name}-ecf.xlsx"))?, &criteria());
    Some(read.unwrap_or_else(|findings| panic!("{name}: {findings:#?}")))
}

/// The text of every element that has text, sorted.
fn values(xml: &str) -> Vec<String> {
    let pieces = xml.split('<').filter_map(|piece| piece.split_once('>'));
    let mut values: Vec<String> = pieces
        .filter(|(_, text)| !text.is_empty())
        .map(|(_, text)| quick_xml::escape::unescape(text).unwrap().into_owned())
        .collect();
    values.sort();
    values
}

#[test]
fn both_suites_convert_without_a_lost_or_an_added_cell() {
    for name in SUITES {
        let Some(suite) = suite(name) else { return };
        assert_eq!((suite.receipts.len(), suite.summaries.len()), (25, 4), "{name}");
        assert!(suite.notices.list.iter().all(|notice| notice.grade == Grade::Notice));
        let rows = workbook::rows(&format!("{name}-ecf.xlsx")).unwrap();
        let mut cells_in_all = 0;
        for (receipt, row) in suite.receipts.iter().zip(&rows) {
            let xml = String::from_utf8(receipt.numbered().to_xml(signed_at())).unwrap();
            assert_eq!(
                receipt.differences(xml.as_bytes()).unwrap(),
                [],
                "{name} {}",
                receipt.encf()
            );
            let cells = row.iter().filter(|(header, _)| *header != "CasoPrueba");
            let mut cells: Vec<String> = cells.map(|(_, cell)| cell.clone()).collect();
            cells_in_all += cells.len();
            cells.push(signed_at().to_string());
            cells.sort();
            assert_eq!(values(&xml), cells, "{name} {}", receipt.encf());
        }
        eprintln!("{name}: {cells_in_all} cells with content");
        assert!(cells_in_all > 1_000, "{name}: {cells_in_all}");
        for summary in &suite.summaries {
            let written = summary.with_security_code("a+/9Zé").unwrap().to_xml();
            assert_eq!(summary.differences(&written).unwrap(), [], "{name} {}", summary.encf());
        }
    }
}

#[test]
fn every_document_is_valid_under_its_schema() {
    let mut documents: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for name in SUITES {
        let Some(suite) = suite(name) else { return };
        let mut add = |schema: String, case: String, xml: Vec<u8>| {
            let case = format!("workbook-{name}-{case}");
            let xml = String::from_utf8(xml).unwrap();
            documents.entry(schema).or_default().push((case, xml));
        };
        for receipt in &suite.receipts {
            let numbered = receipt.numbered();
            let schema = format!("e-CF-{}", numbered.receipt_type());
            add(schema, receipt.encf().to_string(), numbered.to_xml(signed_at()));
        }
        for summary in &suite.summaries {
            let written = summary.with_security_code("a+/9Zé").unwrap().to_xml();
            add("RFCE-32".to_owned(), format!("rfce-{}", summary.encf()), written);
        }
        let Some(bytes) = bytes(&format!("{name}-acecf.xlsx")) else {
            return;
        };
        let read = approvals(&bytes, &criteria()).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
        assert!(
            (10..=13).contains(&read.approvals.len()),
            "{name}: {}",
            read.approvals.len()
        );
        for approval in &read.approvals {
            let written = approval.acecf().to_xml();
            assert_eq!(
                approval.differences(&written).unwrap(),
                [],
                "{name} {}",
                approval.encf()
            );
            add("ACECF".to_owned(), format!("acecf-{}", approval.encf()), written);
        }
    }
    assert_eq!(documents.len(), 12);
    for (schema, documents) in &documents {
        if !schema::validate_all(schema, documents) {
            return;
        }
    }
}

#[test]
fn rows_are_sent_in_the_order_of_the_portal() {
    for name in SUITES {
        let Some(suite) = suite(name) else { return };
        let order = suite.order();
        let counts = |phase| order.iter().filter(|step| step.phase == phase).count();
        assert_eq!(
            [Phase::Receipts, Phase::Notes, Phase::Summaries, Phase::Uploads].map(counts),
            [18, 3, 4, 4],
            "{name}"
        );
        assert!(order.is_sorted_by_key(|step| step.phase), "{name}");
        for (place, step) in order.iter().enumerate() {
            let note = step.encf.receipt_type().is_note();
            assert_eq!(note, step.phase == Phase::Notes, "{name} {}", step.encf);
            if let Some(awaited) = step.awaits {
                assert!(
                    order[..place].iter().any(|before| before.encf == awaited),
                    "{name} {}",
                    step.encf
                );
            }
        }
        let types: Vec<ReceiptType> = order.iter().map(|step| step.encf.receipt_type()).collect();
        assert!(types[..18].is_sorted(), "{name}: {types:?}");
    }
}

#[test]
fn a_changed_a_lost_and_an_added_cell_are_caught() {
    let Some(suite) = suite("suite-1") else { return };
    for receipt in &suite.receipts {
        let xml = String::from_utf8(receipt.numbered().to_xml(signed_at())).unwrap();
        let total = receipt.numbered().monto_total().to_string();
        let element = format!("<MontoTotal>{total}</MontoTotal>");
        for (with, differs) in [
            ("<MontoTotal>1.23</MontoTotal>".to_owned(), Differs::Changed),
            (format!("<MontoTotal>{total}0</MontoTotal>"), Differs::Changed),
            (String::new(), Differs::Lost),
            (format!("{element}<ValorDePrueba>1</ValorDePrueba>"), Differs::Added),
            (format!("{element}{element}"), Differs::Added),
        ] {
            let other = xml.replacen(&element, &with, 1);
            let differences = receipt.differences(other.as_bytes()).unwrap();
            assert_eq!(differences.len(), 1, "{differences:#?}");
            assert_eq!(differences[0].differs, differs);
            assert!(differs == Differs::Added || differences[0].header.as_deref() == Some("MontoTotal"));
        }
        let line = xml.find("<Item>").unwrap()..xml.find("</Item>").unwrap() + "</Item>".len();
        let without = format!("{}{}", &xml[..line.start], &xml[line.end..]);
        let differences = receipt.differences(without.as_bytes()).unwrap();
        assert!(differences.iter().any(|difference| difference.differs == Differs::Lost));
        let twice = format!("{}{}{}", &xml[..line.end], &xml[line.clone()], &xml[line.end..]);
        let differences = receipt.differences(twice.as_bytes()).unwrap();
        assert!(
            differences
                .iter()
                .any(|difference| difference.differs == Differs::Added)
        );
        let signed = xml.replace("</ECF>", "<Signature xmlns=\"x\"><a><b>1</b></a></Signature></ECF>");
        assert_eq!(receipt.differences(signed.as_bytes()).unwrap(), []);
    }
}
