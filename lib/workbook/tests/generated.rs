//! Workbooks that are generated from random valid receipts give the same receipts back, to the byte, however their
//! cells are written.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod sheets;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ecf::{Numbered, ReceiptType};
use ecf_workbook::{Differs, Phase, receipts};
use proptest::prelude::*;
use serde_json::{Value, json};
use sheets::{Cells, SIGNED, Style, cells, criteria, only, receipt, styled, summary_xml, xml};

/// A line before its type is known.
#[derive(Debug, Clone)]
struct Line {
    name: String,
    description: Option<String>,
    /// In hundredths.
    quantity: u32,
    /// In ten-thousandths.
    price: u32,
    indicator: u8,
    discount: bool,
    codes: usize,
    taxes: usize,
}

fn line() -> impl Strategy<Value = Line> {
    let name = "[a-zA-Zñáé¿\"'&<>0-9#;_.%]{1,12}( [a-zA-Zñ&0-9x]{1,8}){0,3}";
    let description = proptest::option::of("[a-zñ]{1,9}( [A-Z0-9]{1,9}){0,20}");
    let name = name.prop_filter("the filler of empty cells", |name| name != "#e");
    let numbers = (100_u32..100_000, 10_000_u32..50_000_000, 1_u8..=4);
    (name, description, numbers, any::<bool>(), 0_usize..=5, 0_usize..=2).prop_map(
        |(name, description, (quantity, price, indicator), discount, codes, taxes)| Line {
            name,
            description,
            quantity,
            price,
            indicator,
            discount,
            codes,
            taxes,
        },
    )
}

impl Line {
    fn of(&self, receipt_type: ReceiptType) -> Value {
        use ReceiptType::{E31, E32, E33, E34, E41, E43, E45, E47};
        let mut line = sheets::line(
            receipt_type,
            &format!("{}.{:04}", self.price / 10_000, self.price % 10_000),
        );
        line["NombreItem"] = json!(self.name);
        line["CantidadItem"] = json!(format!("{}.{:02}", self.quantity / 100, self.quantity % 100));
        if let Some(description) = &self.description {
            line["DescripcionItem"] = json!(description);
        }
        let is_taxed = matches!(receipt_type, E31 | E32 | E33 | E34 | E45);
        if is_taxed {
            line["IndicadorFacturacion"] = json!(self.indicator);
        }
        if self.codes > 0 {
            let code = |index: usize| json!({"TipoCodigo": "Interna", "CodigoItem": format!("A-{index}")});
            line["TablaCodigosItem"] = json!({"CodigosItem": (0..self.codes).map(code).collect::<Vec<_>>()});
        }
        if self.discount && !matches!(receipt_type, E41 | E43 | E47) {
            line["TablaSubDescuento"] =
                json!({"SubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "5.00"}]});
        }
        if self.taxes > 0 && is_taxed && self.indicator == 1 {
            line["IndicadorBienoServicio"] = json!(2);
            let taxes: Vec<Value> = ["002", "004"][..self.taxes]
                .iter()
                .map(|code| json!({"TipoImpuesto": code}))
                .collect();
            line["TablaImpuestoAdicional"] = json!({"ImpuestoAdicional": taxes});
        }
        line
    }
}

/// Receipts of all types; notes modify the first invoice.
fn suite() -> impl Strategy<Value = Vec<Numbered>> {
    let lines = proptest::collection::vec(line(), 1..5);
    let rows = (0..ReceiptType::ALL.len(), lines);
    proptest::collection::vec(rows, 1..8).prop_map(|rows| {
        let first = [sheets::line(ReceiptType::E31, "100")];
        let mut receipts = vec![receipt(ReceiptType::E31, 9_999, &first, None)];
        for (number, (kind, lines)) in (1..).zip(rows) {
            let receipt_type = ReceiptType::ALL[kind];
            let lines: Vec<Value> = lines.iter().map(|line| line.of(receipt_type)).collect();
            let modifies = receipt_type.is_note().then_some("E310000009999");
            receipts.push(receipt(receipt_type, number, &lines, modifies));
        }
        // Notes may stand before what they modify.
        receipts.rotate_left(1);
        receipts
    })
}

fn style(seed: u64, row: usize, header: &str) -> Style {
    if header.starts_with("NombreItem") || header.starts_with("DescripcionItem") {
        return Style::Text;
    }
    let mut hasher = DefaultHasher::new();
    (seed, row, header).hash(&mut hasher);
    [Style::Text, Style::Number, Style::Formula][usize::try_from(hasher.finish() % 3).unwrap()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_generated_workbook_gives_the_same_receipts_back(suite in suite(), seed: u64) {
        let rows: Vec<Cells> = suite.iter().map(|receipt| cells(&xml(receipt))).collect();
        let small: Vec<&Numbered> = suite.iter().filter(|receipt| receipt.goes_as_summary()).collect();
        let summaries: Vec<Cells> = small.iter().map(|receipt| cells(&summary_xml(receipt))).collect();
        let mut bytes = styled(&rows, &summaries, |row, header| style(seed, row, header));
        if summaries.is_empty() {
            // Without the sheet of summaries.
            bytes = only("ECF", &rows, |row, header| style(seed, row, header));
        }
        let read = match receipts(&bytes, &criteria()) {
            Ok(read) => read,
            Err(findings) => return Err(TestCaseError::fail(format!("{findings:#?}"))),
        };
        prop_assert_eq!(read.receipts.len(), suite.len());
        let signed = SIGNED.parse().unwrap();
        for (read, receipt) in read.receipts.iter().zip(&suite) {
            let written = String::from_utf8(read.numbered().to_xml(signed)).unwrap();
            prop_assert_eq!(&written, &xml(receipt));
            prop_assert_eq!(read.differences(written.as_bytes()).unwrap(), []);
            let lost = written.replacen("<Version>1.0</Version>", "", 1);
            let differences = read.differences(lost.as_bytes()).unwrap();
            prop_assert_eq!(differences.len(), 1);
            prop_assert_eq!(differences[0].differs, Differs::Lost);
        }
        prop_assert_eq!(read.summaries.len(), small.len());
        for (read, receipt) in read.summaries.iter().zip(&small) {
            let written = read.with_security_code("a+/9Zé").unwrap().to_xml();
            prop_assert_eq!(String::from_utf8(written).unwrap(), summary_xml(receipt));
        }
        let order = read.order();
        prop_assert_eq!(order.len(), suite.len() + small.len());
        for (place, step) in order.iter().enumerate() {
            let Some(awaited) = step.awaits else { continue };
            prop_assert!(order[..place].iter().any(|before| before.encf == awaited && before.phase != Phase::Uploads));
        }
    }
}
