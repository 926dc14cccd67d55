//! Many receipts in one write.

use ecf::{ReceiptState, ReceiptType};
use ecf_store::receipts::NewReceipt;
use ecf_testkit::{TestCompany, seeded_receipt};
use jiff::{SignedDuration, Timestamp};

/// `count` receipts, evenly over `days` days until `now`: three of four are of type 32, nine of ten are accepted.
pub(crate) fn receipts(company: &TestCompany, now: Timestamp, count: u32, days: u32) -> Vec<NewReceipt> {
    let spacing = SignedDuration::from_hours(24) * i32::try_from(days).unwrap() / i32::try_from(count).unwrap();
    let receipt = |place: u32| {
        let ecf_type = match place.is_multiple_of(4) {
            true => ReceiptType::E31,
            false => ReceiptType::E32,
        };
        let state = match place.is_multiple_of(10) {
            true => ReceiptState::Rejected,
            false => ReceiptState::Accepted,
        };
        let created_at = now - spacing * i32::try_from(place).unwrap();
        NewReceipt {
            external_id: Some(format!("SO-{place}")),
            ..seeded_receipt(company, &format!("E{ecf_type}{place:010}"), state, created_at)
        }
    };
    (1..=count).map(receipt).collect()
}
