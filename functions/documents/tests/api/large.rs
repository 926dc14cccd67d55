//! Lists of many receipts: where they come from, and how long a page deep in them takes.

use std::time::Instant;

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{ContentHash, Mode, NewReceipt, ReceiptId, Signed};
use ecf_testkit::TestCompany;
use jiff::{SignedDuration, Timestamp};

use crate::{Api, DOCUMENTS};

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

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "what it measures is for people to read")]
#[ignore = "seeds 100,000 receipts and prints; run it with --nocapture"]
async fn a_page_at_offset_10_000_of_100_000() {
    let api = Api::start().await;
    let began = Instant::now();
    let seeded = receipts(&api.company, api.stack.clock().now(), 100_000, 90);
    api.stack
        .table()
        .seed_receipts(&api.company.scope, &seeded)
        .await
        .unwrap();
    println!("100,000 receipts over 90 days: {:?}", began.elapsed());
    for (query, total) in [
        ("limit=50", 100_000),
        ("limit=50&offset=10000", 100_000),
        ("limit=50&offset=10000&status=accepted", 90_000),
        ("limit=100&offset=10000&status=accepted&ecf_type=32", 70_000),
        ("limit=50&offset=9000&status=rejected", 10_000),
        ("limit=50&offset=50000&date_from=2026-09-01T09:00:00", 0),
        ("limit=50&status=signed", 0),
    ] {
        let path = format!("{DOCUMENTS}?{query}");
        api.stack.calls().reset();
        let page = api.get(&path).await.expect(200);
        let calls = api.stack.calls().counts();
        if total > 0 {
            assert_eq!(page["total"], total, "{query}");
        }
        let mut times = Vec::new();
        for _ in 0..10 {
            let began = Instant::now();
            api.get(&path).await.expect(200);
            times.push(began.elapsed());
        }
        times.sort_unstable();
        println!(
            "{query}: total {}, {:?}, at most {:?}, {calls:?}",
            page["total"], times[5], times[9]
        );
    }
}
