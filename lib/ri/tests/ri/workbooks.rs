//! The authority's certification data, printed.

use ecf::{Amounts, Draft, ReceiptType};
use ecf_ri::Format;

use crate::paper::{flat, print};
use crate::receipts::{SIGNED_AT, sign};
use crate::workbook::{SUITES, payload};

#[test]
fn every_row_of_the_certification_is_printed_with_its_number_and_its_total() {
    for (_, rows) in SUITES.iter() {
        for row in rows {
            let receipt_type: ReceiptType = row["TipoeCF"].parse().unwrap();
            let (draft, _) = Draft::read(receipt_type, &payload(row, receipt_type), Amounts::Verbatim).unwrap();
            let ecf = draft.check().unwrap();
            let encf = *ecf.encf().unwrap();
            let numbered = ecf.numbered(encf, None).unwrap();
            let signed = sign(&numbered.to_xml(SIGNED_AT.parse().unwrap()));
            for format in Format::ALL {
                let text = flat(&print(&signed, format));
                let digits = text.replace(',', "");
                let total = row["MontoTotal"].trim_end_matches('0').trim_end_matches('.');
                assert!(
                    text.contains(&encf.to_string()) && digits.contains(total),
                    "{encf} on {format}: {text}"
                );
            }
        }
    }
}
