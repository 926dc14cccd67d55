//! The samples of a gift certificate: its sale is outside the invoice, its redemption is a sale that it pays for.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod schema;

use ecf::messages::Rfce;
use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Encf, Environment, Node, Numbered, ReceiptType};

const SALE: &str = include_str!("../../../docs/samples/gift-certificate/sale.json");
const REDEMPTION: &str = include_str!("../../../docs/samples/gift-certificate/redemption.json");

/// The receipt with its number. Findings are only about computed amounts and the anonymous buyer.
fn issued(sample: &str) -> Numbered {
    let payload = Node::parse(sample.as_bytes()).unwrap();
    let (draft, mut told) = Draft::read(ReceiptType::E32, &payload, Amounts::Scaled).unwrap();
    let rates = IscRates::of(Environment::Ecf);
    let today = "27-11-2026".parse().unwrap();
    let (ecf, warnings) = judge(draft, Environment::Ecf, today, &rates, OnConditional::Refuse).unwrap();
    told.extend(warnings);
    let expected = |code: &str| matches!(code, "CALCULO-10" | "AVISO-06");
    assert!(told.iter().all(|notice| expected(notice.code)), "{told:#?}");
    ecf.numbered(Encf::new(ReceiptType::E32, 1).unwrap(), None).unwrap()
}

#[test]
fn the_sale_of_a_gift_certificate_is_outside_the_invoice_and_its_redemption_is_taxed_once() {
    let sale = issued(SALE);
    let sums = &sale.document().encabezado.totales;
    assert_eq!(sums.monto_total.as_ref().unwrap().to_string(), "0.00");
    assert_eq!(sums.monto_no_facturable.as_ref().unwrap().to_string(), "2500.00");
    assert_eq!(sums.total_itbis, None);
    let redemption = issued(REDEMPTION);
    let sums = &redemption.document().encabezado.totales;
    assert_eq!(sums.monto_total.as_ref().unwrap().to_string(), "2950.00");
    assert_eq!(sums.total_itbis.as_ref().unwrap().to_string(), "450.00");
}

#[test]
fn both_samples_and_their_summaries_are_valid_under_the_official_schemas() {
    let signed_at = "27-11-2026 10:30:00".parse().unwrap();
    let (mut receipts, mut summaries) = (Vec::new(), Vec::new());
    for (name, sample) in [("sale", SALE), ("redemption", REDEMPTION)] {
        let receipt = issued(sample);
        assert!(receipt.goes_as_summary(), "{name}");
        let summary = Rfce::of(&receipt, "a+/9Zé").unwrap();
        receipts.push((
            format!("gift-{name}"),
            String::from_utf8(receipt.to_xml(signed_at)).unwrap(),
        ));
        summaries.push((
            format!("gift-{name}-rfce"),
            String::from_utf8(summary.to_xml()).unwrap(),
        ));
    }
    if schema::validate_all("e-CF-32", &receipts) {
        schema::validate_all("RFCE-32", &summaries);
    }
}
