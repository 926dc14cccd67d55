//! Pages of receipts, compared with a list in memory.

use std::collections::BTreeMap;

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{
    Receipt,
    receipts::{MOST_OPEN_READ, OpenReceipts, PageRequest, Position, ReceiptFilter, ReceiptPage, Recorded, Verdict},
};
use jiff::SignedDuration;

use crate::support::{App, T31, app, at, new_receipt, noon};

/// Four days of receipts of two types, newest first; two of five are accepted, one is submitted.
async fn four_days(app: &App) -> Vec<Receipt> {
    let mut all = Vec::new();
    for place in 0..40_i64 {
        let ecf_type = if place % 3 == 0 { "33" } else { "31" };
        let key = format!("order-{place}");
        let mut new = new_receipt(&app.scope, &key, &format!("E{ecf_type}{:010}", place + 1));
        new.created_at = noon() - SignedDuration::from_hours(place * 2);
        new.external_id = Some(format!("external-{}", place % 20));
        let mut receipt = app.create(new).await;
        if place % 5 < 3 {
            receipt = app.reaches_the_authority(&receipt, &format!("track-{place}")).await;
        }
        if place % 5 < 2 {
            receipt = app.is_accepted(&receipt).await;
        }
        app.counted(&receipt).await;
        all.push(receipt);
    }
    all
}

fn part(limit: usize, offset: u64) -> PageRequest {
    PageRequest {
        limit,
        offset,
        after: None,
    }
}

fn filters() -> Vec<ReceiptFilter> {
    let mut filters = vec![ReceiptFilter::default()];
    for states in [
        &[ReceiptState::Accepted][..],
        &[ReceiptState::Submitted],
        &[ReceiptState::Signed],
        &[ReceiptState::Failed],
        &[ReceiptState::Rejected, ReceiptState::Accepted],
        &[ReceiptState::Accepted, ReceiptState::Submitted, ReceiptState::Failed],
    ] {
        for ecf_type in [None, Some(T31), Some(ReceiptType::E33), Some(ReceiptType::E46)] {
            filters.push(ReceiptFilter {
                states: states.iter().copied().collect(),
                ecf_type,
                ..ReceiptFilter::default()
            });
        }
    }
    let instants = [
        (Some(at("2026-11-25T10:00:00Z")), None),
        (None, Some(at("2026-11-26T08:00:00Z"))),
        // Both instants are those of receipts, and both are included.
        (
            Some(noon() - SignedDuration::from_hours(30)),
            Some(noon() - SignedDuration::from_hours(20)),
        ),
        (Some(at("2026-11-26T04:00:00Z")), Some(at("2026-11-27T03:59:59.999Z"))),
        (Some(noon()), Some(noon() - SignedDuration::from_hours(1))),
        (Some(noon() + SignedDuration::from_hours(1)), None),
    ];
    for (from, to) in instants {
        let within = ReceiptFilter {
            from,
            to,
            ..ReceiptFilter::default()
        };
        filters.push(ReceiptFilter {
            ecf_type: Some(T31),
            ..within.clone()
        });
        filters.push(ReceiptFilter {
            states: [ReceiptState::Accepted].into(),
            ..within.clone()
        });
        filters.push(within);
    }
    filters
}

#[tokio::test]
async fn every_page_is_the_one_that_a_whole_list_would_give() {
    let app = app("pages").await;
    let all = four_days(&app).await;
    for filter in filters() {
        let wanted: Vec<_> = all.iter().filter(|receipt| filter.takes(receipt)).cloned().collect();
        for (limit, offset) in [
            (50, 0),
            (7, 0),
            (7, 3),
            (1, 12),
            (10, 25),
            (100, 39),
            (5, 40),
            (5, 1_000),
        ] {
            let page = app
                .table
                .list_receipts(&app.scope, &filter, &part(limit, offset), noon())
                .await
                .unwrap();
            let skip = usize::try_from(offset).unwrap();
            let expected: Vec<_> = wanted.iter().skip(skip).take(limit).cloned().collect();
            assert_eq!(page.receipts, expected, "{filter:?} {limit} {offset}");
            assert_eq!(page.total, wanted.len() as u64, "{filter:?} {limit} {offset}");
        }
    }
    r7_a_walk_by_cursor_gives_the_whole_list(&app, &all).await;
    for scope in app.foreign_scopes() {
        let page = app
            .table
            .list_receipts(&scope, &ReceiptFilter::default(), &part(50, 0), noon())
            .await
            .unwrap();
        assert_eq!((page.receipts, page.total), (vec![], 0));
    }
}

/// For pages of any length and any filter.
async fn r7_a_walk_by_cursor_gives_the_whole_list(app: &App, all: &[Receipt]) {
    for filter in filters() {
        let wanted: Vec<_> = all.iter().filter(|receipt| filter.takes(receipt)).collect();
        for limit in [1, 7, 40] {
            let (mut walked, mut after) = (Vec::new(), None);
            for _ in 0..=all.len() {
                let request = PageRequest {
                    limit,
                    offset: 0,
                    after,
                };
                let page = app
                    .table
                    .list_receipts(&app.scope, &filter, &request, noon())
                    .await
                    .unwrap();
                assert_eq!(page.total, wanted.len() as u64, "{filter:?} {request:?}");
                walked.extend(page.receipts);
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(walked.iter().collect::<Vec<_>>(), wanted, "{filter:?} {limit}");
        }
        // An offset counts from the cursor.
        if let [_, behind, .., last] = wanted.as_slice() {
            let after = Some(Position::of(behind));
            let offset = wanted.len() as u64 - 3;
            let request = PageRequest {
                limit: 5,
                offset,
                after,
            };
            let page = app
                .table
                .list_receipts(&app.scope, &filter, &request, noon())
                .await
                .unwrap();
            assert_eq!(page.receipts.iter().collect::<Vec<_>>(), [*last], "{filter:?}");
        }
    }
}

#[tokio::test]
async fn open_receipts_are_those_of_a_whole_list() {
    let app = app("open").await;
    let all = four_days(&app).await;
    let mut expected = BTreeMap::new();
    for receipt in all.iter().filter(|receipt| !receipt.state.is_final()) {
        *expected.entry(receipt.state).or_default() += 1;
    }
    let open = async || app.table.open_receipts(&app.scope, noon()).await.unwrap();
    let whole = OpenReceipts {
        states: expected,
        is_complete: true,
    };
    assert_eq!(open().await, whole);
    // Closed days are found by their counters.
    let closed = app
        .table
        .seed_closing(&app.scope, all.last().unwrap().day(), all[12].day());
    closed.await.unwrap();
    assert_eq!(open().await, whole);
    for scope in app.foreign_scopes() {
        let open = app.table.open_receipts(&scope, noon()).await.unwrap();
        assert_eq!((open.states, open.is_complete), (BTreeMap::new(), true));
    }
}

#[tokio::test]
async fn open_receipts_of_a_large_day_are_a_lower_bound() {
    let app = app("many open").await;
    let day = noon() - SignedDuration::from_hours(48);
    let seeded: Vec<_> = (1..=i64::try_from(MOST_OPEN_READ).unwrap() + 1)
        .map(|place| {
            let mut new = new_receipt(&app.scope, &format!("order-{place}"), &format!("E31{place:010}"));
            new.created_at = day + SignedDuration::from_secs(place);
            new
        })
        .collect();
    app.table.seed_receipts(&app.scope, &seeded).await.unwrap();
    let open = app.table.open_receipts(&app.scope, noon()).await.unwrap();
    let states = [(ReceiptState::Signed, MOST_OPEN_READ as u64)].into();
    assert_eq!((open.states, open.is_complete), (states, false));
}

#[tokio::test]
async fn a_receipt_of_today_is_listed_before_it_is_counted() {
    let app = app("uncounted").await;
    let receipt = app.create(new_receipt(&app.scope, "now", "E310000000001")).await;
    let page = app
        .table
        .list_receipts(&app.scope, &ReceiptFilter::default(), &part(50, 0), noon())
        .await
        .unwrap();
    assert_eq!((page.receipts, page.total), (vec![receipt], 1));
}

#[tokio::test]
async fn all_receipts_with_one_external_id_are_found() {
    let app = app("external list").await;
    let all = four_days(&app).await;
    let wanted: Vec<_> = all
        .iter()
        .filter(|receipt| receipt.external_id.as_deref() == Some("external-3"))
        .collect();
    let found = app
        .table
        .receipts_by_external_id(&app.scope, "external-3", &ReceiptFilter::default(), &part(50, 0))
        .await
        .unwrap();
    assert_eq!(
        (found.receipts.iter().collect::<Vec<_>>(), found.total),
        (wanted.clone(), 2)
    );
    // Page by page too, with and without a filter by state.
    for state in [None, Some(wanted[0].state)] {
        let filter = ReceiptFilter {
            states: state.into_iter().collect(),
            ..ReceiptFilter::default()
        };
        let (mut walked, mut after) = (Vec::new(), None);
        for _ in 0..3 {
            let request = PageRequest {
                limit: 1,
                offset: 0,
                after,
            };
            let page = app
                .table
                .receipts_by_external_id(&app.scope, "external-3", &filter, &request);
            let page = page.await.unwrap();
            walked.extend(page.receipts);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let wanted: Vec<_> = wanted.iter().filter(|receipt| filter.takes(receipt)).copied().collect();
        assert_eq!(walked.iter().collect::<Vec<_>>(), wanted, "{filter:?}");
    }
    let (filter, page) = (ReceiptFilter::default(), part(50, 0));
    for scope in app.foreign_scopes() {
        let found = app.table.receipts_by_external_id(&scope, "external-3", &filter, &page);
        assert_eq!(found.await.unwrap(), ReceiptPage::default());
    }
}

impl App {
    async fn reaches_the_authority(&self, receipt: &Receipt, track_id: &str) -> Receipt {
        let (id, at) = (&receipt.public_id, receipt.created_at);
        let lease = SignedDuration::from_secs(60);
        self.table.claim_send(&self.scope, id, at, lease).await.unwrap();
        self.table
            .record_submitted(&self.scope, id, track_id, at)
            .await
            .unwrap();
        self.table.receipt(&self.scope, id).await.unwrap().unwrap()
    }

    async fn is_accepted(&self, receipt: &Receipt) -> Receipt {
        let verdict = Verdict {
            state: ReceiptState::Accepted,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: Some(true),
            taxauth_response: None,
            outbox: vec![],
        };
        let recorded = self
            .table
            .record_verdict(&self.scope, &receipt.public_id, verdict, receipt.created_at);
        match recorded.await.unwrap() {
            Recorded::Now(receipt) => receipt,
            other => panic!("not accepted: {other:?}"),
        }
    }

    async fn counted(&self, receipt: &Receipt) {
        let (day, total) = (receipt.day(), &receipt.fiscal.monto_total);
        self.table
            .count_created(&self.scope, day, receipt.fiscal.ecf_type, total, None)
            .await
            .unwrap();
        if receipt.state.is_final() {
            let counted = self
                .table
                .count_verdict(&self.scope, day, receipt.fiscal.ecf_type, receipt.state, total);
            counted.await.unwrap();
        }
    }
}
