//! A workbook that is generated from random valid approvals gives the same messages back, cell by cell, however its cells
//! are written.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod sheets;

use ecf::messages::Acecf;
use ecf::messages::acecf::Answered;
use ecf::{Encf, ReceiptType, Rnc, Texto};
use ecf_workbook::{Differs, approvals};
use proptest::prelude::*;
use sheets::{Cells, ISSUER, Style, cells, criteria, only};

const SHEET: &str = "ACEECF_Generadas";
const TOTAL: &str = "MontoTotal";

/// An approval, and its total as the cell has it.
#[derive(Debug, Clone)]
struct Answer {
    acecf: Acecf,
    total: String,
}

impl Answer {
    fn cells(&self) -> Cells {
        let mut cells = cells(&xml(&self.acecf));
        cells.remove("CasoPrueba");
        cells.insert(TOTAL.to_owned(), self.total.clone());
        cells
    }
}

fn xml(acecf: &Acecf) -> String {
    String::from_utf8(acecf.to_xml()).unwrap()
}

/// A total with none, one or two decimals.
fn total() -> impl Strategy<Value = String> {
    (1_u64..10_000_000_000, 0_u64..100, 0_usize..=2).prop_map(|(whole, cents, decimals)| match decimals {
        0 => whole.to_string(),
        1 => format!("{whole}.{}", cents % 10),
        _ => format!("{whole}.{cents:02}"),
    })
}

fn reason() -> impl Strategy<Value = Texto> {
    let reason = "[a-zA-Zñáé¿\"'&<>0-9#;_.%]{1,12}( [a-zA-Zñ&0-9x]{1,8}){0,20}";
    let filler = "the filler of empty cells";
    reason.prop_filter_map(filler, |text| (text != "#e").then(|| text.parse().unwrap()))
}

/// A receipt that is answered; its number is set later.
fn answered() -> impl Strategy<Value = (ReceiptType, Answered, String)> {
    let receipt_type = proptest::sample::select(ReceiptType::ALL.to_vec());
    let day = (1_u8..=28, 1_u8..=12, 2020_u16..=2026);
    (receipt_type, "[0-9]{9}|[0-9]{11}", day, total()).prop_map(|(receipt_type, issuer, (day, month, year), total)| {
        let answered = Answered {
            rnc_emisor: issuer.parse::<Rnc>().unwrap(),
            encf: Encf::new(receipt_type, 1).unwrap(),
            fecha_emision: format!("{day:02}-{month:02}-{year}").parse().unwrap(),
            monto_total: total.parse().unwrap(),
            rnc_comprador: ISSUER.parse().unwrap(),
        };
        (receipt_type, answered, total)
    })
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let verdict = proptest::option::of(proptest::option::of(reason()));
    let time = (0_u8..24, 0_u8..60, 0_u8..60);
    proptest::collection::vec((answered(), verdict, time), 1..12).prop_map(|rows| {
        let answer = |(number, ((receipt_type, answered, total), rejected, (hour, minute, second)))| {
            let answered = Answered {
                encf: Encf::new(receipt_type, number).unwrap(),
                ..answered
            };
            let at = format!("29-11-2026 {hour:02}:{minute:02}:{second:02}").parse().unwrap();
            let acecf = match rejected {
                None => Acecf::approved(answered, at),
                Some(reason) => Acecf::rejected(answered, reason, at),
            };
            Answer { acecf, total }
        };
        (1..).zip(rows).map(answer).collect()
    })
}

fn style(styles: &[Style], row: usize, header: &str) -> Style {
    match header {
        "DetalleMotivoRechazo" => Style::Text,
        _ => styles[(row + header.len()) % styles.len()],
    }
}

/// The document with each way in which one element may differ, and the difference that must be found.
fn altered(xml: &str, element: &str) -> [(String, Differs); 3] {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let (start, end) = (xml.find(&open).unwrap(), xml.find(&close).unwrap());
    let after = end + close.len();
    [
        (format!("{}9{}", &xml[..end], &xml[end..]), Differs::Changed),
        (format!("{}{}", &xml[..start], &xml[after..]), Differs::Lost),
        (
            format!("{}{}{}", &xml[..after], &xml[start..after], &xml[after..]),
            Differs::Added,
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_generated_workbook_gives_the_same_approvals_back(
        answers in answers(),
        styles in proptest::collection::vec(
            proptest::sample::select(vec![Style::Text, Style::Number, Style::Formula]), 1..20,
        ),
    ) {
        let rows: Vec<Cells> = answers.iter().map(Answer::cells).collect();
        let bytes = only(SHEET, &rows, |row, header| style(&styles, row, header));
        let read = match approvals(&bytes, &criteria()) {
            Ok(read) => read,
            Err(findings) => return Err(TestCaseError::fail(format!("{findings:#?}"))),
        };
        prop_assert!(read.notices.list.is_empty(), "{:?}", read.notices.list);
        prop_assert_eq!(read.approvals.len(), answers.len());
        for (row, (approval, answer)) in (2..).zip(read.approvals.iter().zip(&answers)) {
            let written = xml(approval.acecf());
            prop_assert_eq!(&written, &xml(&answer.acecf));
            prop_assert_eq!((approval.row(), approval.differences(written.as_bytes()).unwrap()), (row, vec![]));
            for header in answer.cells().keys() {
                let element = if header == "ENCF" { "eNCF" } else { header };
                for (document, differs) in altered(&written, element) {
                    let found = approval.differences(document.as_bytes()).unwrap();
                    prop_assert_eq!(found.len(), 1, "{} {:?}: {:?}", element, differs, found);
                    let of = if differs == Differs::Added { None } else { Some(header) };
                    prop_assert_eq!((found[0].differs, found[0].header.as_ref()), (differs, of));
                }
            }
        }
    }
}
