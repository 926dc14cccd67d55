//! Many receipts at once.

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{ContentHash, Mode, NewReceipt, ReceiptId, Signed};
use ecf_testkit::TestCompany;
use jiff::{SignedDuration, Timestamp};

/// So many receipts, evenly over so many days until `now`: of four, three are of type 32; of ten, nine are accepted.
pub(crate) fn receipts(company: &TestCompany, now: Timestamp, count: u32, days: u32) -> Vec<NewReceipt> {
    let spacing = SignedDuration::from_hours(24) * i32::try_from(days).unwrap() / i32::try_from(count).unwrap();
    let receipt = |place: u32| {
        let ecf_type = if place.is_multiple_of(4) {
            ReceiptType::E31
        } else {
            ReceiptType::E32
        };
        let encf = format!("E{ecf_type}{place:010}");
        NewReceipt {
            public_id: ReceiptId::of_receipt(&company.scope, &encf),
            company_rnc: company.rnc.clone(),
            idempotency_key: encf.clone(),
            payload_hash: [0; 32],
            ecf_type,
            external_id: Some(format!("SO-{place}")),
            mode: Mode::Immediate,
            state: if place.is_multiple_of(10) {
                ReceiptState::Rejected
            } else {
                ReceiptState::Accepted
            },
            created_at: now - spacing * i32::try_from(place).unwrap(),
            scheduled_for: None,
            monto_total: "1180.00".to_owned(),
            rnc_comprador: None,
            fecha_emision: "27-11-2026".parse().unwrap(),
            signed: Some(Signed {
                encf: encf.parse().unwrap(),
                sign_date: "27-11-2026 12:00:00".to_owned(),
                security_code: "aB3/x+".to_owned(),
                signed_xml: ContentHash::of(encf.as_bytes()),
                rfce: None,
            }),
            payload: None,
            note: None,
        }
    };
    (1..=count).map(receipt).collect()
}
