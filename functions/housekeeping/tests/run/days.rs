//! Closing past days: lists are correct even when their counters are not.

use std::collections::BTreeMap;

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{
    CompanyId, Receipt, ReceiptId, Scope,
    counters::DayCounts,
    fiscal_day,
    receipts::{Failure, NewReceipt, OutboxEntry, PageRequest, Particulars, ReceiptFilter, Recorded, Verdict},
};
use housekeeping::run;
use jiff::{SignedDuration, ToSpan as _};

use crate::world::World;

const DAYS: i64 = 70;
const A_DAY: i64 = 3;

/// Receipts of two and a half months, some without a final state, counted correctly; one day has no counter.
async fn many_receipts(world: &World) -> Vec<Receipt> {
    let (table, scope) = (world.stack.table(), world.company.scope);
    let start = world.now();
    let template = world.kept("template", ReceiptState::Cancelled, None).await;
    let states = [
        ReceiptState::Accepted,
        ReceiptState::Accepted,
        ReceiptState::Rejected,
        ReceiptState::ConditionallyAccepted,
        ReceiptState::Failed,
    ];
    let mut seeded = Vec::new();
    for place in 1..DAYS * A_DAY {
        let key = format!("seeded-{place}");
        // Only some have failed.
        let state = states[usize::try_from(place * 7 % if place % 11 == 0 { 5 } else { 4 }).unwrap()];
        seeded.push(NewReceipt {
            public_id: ReceiptId::of_receipt(&scope, &key),
            company_rnc: template.fiscal.company_rnc.clone(),
            idempotency_key: key,
            payload_hash: [0; 32],
            ecf_type: if place % 3 == 0 {
                ReceiptType::E33
            } else {
                ReceiptType::E31
            },
            external_id: None,
            mode: template.mode,
            state,
            created_at: start + SignedDuration::from_mins(place * 24 * 60 / A_DAY),
            scheduled_for: None,
            monto_total: format!("{place}.{:02}", place % 100),
            rnc_comprador: None,
            fecha_emision: template.fiscal.fecha_emision,
            particulars: Particulars::default(),
            signed: None,
            payload: None,
            note: None,
        });
    }
    table.seed_receipts(&scope, &seeded).await.unwrap();
    world.advance(SignedDuration::from_hours(24 * DAYS));
    let mut receipts = vec![template];
    for new in &seeded {
        receipts.push(table.receipt(&scope, &new.public_id).await.unwrap().unwrap());
    }
    receipts.reverse();
    receipts
}

/// The correct counters.
fn books(receipts: &[Receipt]) -> Vec<DayCounts> {
    let mut days = BTreeMap::new();
    for receipt in receipts {
        let day = receipt.day();
        let counts = days.entry(day).or_insert_with(|| DayCounts::none(day));
        counts.add(receipt.fiscal.ecf_type, receipt.state, &receipt.fiscal.monto_total);
    }
    days.into_values().collect()
}

/// Compares every page of every filter, by offset and by cursor, and its total.
async fn assert_lists(world: &World, receipts: &[Receipt]) {
    let (table, scope, now) = (world.stack.table(), world.company.scope, world.now());
    let (from, to) = (
        now - SignedDuration::from_hours(24 * 60),
        now - SignedDuration::from_hours(24 * 20 + 7),
    );
    let states = [
        &[][..],
        &[ReceiptState::Accepted],
        &[ReceiptState::Rejected],
        &[ReceiptState::Failed],
        &[ReceiptState::Submitted],
        &[ReceiptState::Rejected, ReceiptState::Failed],
    ];
    for states in states {
        for (ecf_type, from, to) in [
            (None, None, None),
            (Some(ReceiptType::E33), None, None),
            (None, Some(from), None),
            (None, Some(from), Some(to)),
        ] {
            let filter = ReceiptFilter {
                states: states.iter().copied().collect(),
                ecf_type,
                from,
                to,
            };
            let wanted: Vec<_> = receipts.iter().filter(|receipt| filter.takes(receipt)).collect();
            let (mut by_offset, mut by_cursor, mut after) = (Vec::new(), Vec::new(), None);
            let limit = 70;
            for page in 0..=receipts.len() / limit {
                let request = PageRequest {
                    limit,
                    offset: (page * limit) as u64,
                    after: None,
                };
                let found = table.list_receipts(&scope, &filter, &request, now).await.unwrap();
                assert_eq!(found.total, wanted.len() as u64, "{filter:?} {request:?}");
                by_offset.extend(found.receipts);
                if page == 0 || after.is_some() {
                    let request = PageRequest {
                        limit,
                        offset: 0,
                        after,
                    };
                    let found = table.list_receipts(&scope, &filter, &request, now).await.unwrap();
                    assert_eq!(found.total, wanted.len() as u64, "{filter:?} {request:?}");
                    by_cursor.extend(found.receipts);
                    after = found.next;
                }
            }
            // Their next look by housekeeping does not matter here.
            let ids = |receipts: &mut dyn Iterator<Item = &Receipt>| -> Vec<_> {
                receipts.map(|receipt| (receipt.public_id, receipt.state)).collect()
            };
            let wanted = ids(&mut wanted.into_iter());
            assert_eq!(ids(&mut by_offset.iter()), wanted, "{filter:?}");
            assert_eq!(ids(&mut by_cursor.iter()), wanted, "{filter:?}");
        }
    }
}

impl World {
    /// Runs once per minute until no day is due.
    async fn close_days(&self) {
        for _ in 0..10 {
            run(&self.app).await.unwrap();
            self.advance(SignedDuration::from_mins(1));
        }
    }

    async fn counters(&self) -> Vec<DayCounts> {
        let today = fiscal_day(self.now());
        let (table, first) = (self.stack.table(), today.saturating_sub(200.days()));
        let mut counts = table.day_counts(&self.company.scope, first, today).await.unwrap();
        counts.retain(|counts| *counts != DayCounts::none(counts.day));
        counts
    }

    /// Damages the counters of past days: one day in five each is lost, doubled, or slightly wrong.
    async fn damage(&self) {
        let today = fiscal_day(self.now());
        let over = self.counters().await.into_iter().filter(|counts| counts.day < today);
        for (place, counts) in over.enumerate() {
            let mut damaged = counts.clone();
            match place % 5 {
                0 => damaged = DayCounts::none(counts.day),
                1 => damaged.add_all(&counts),
                2 => damaged.add(ReceiptType::E31, ReceiptState::Rejected, "5.00"),
                3 => {
                    damaged.ended.clear();
                    damaged.failed.insert(ReceiptType::E33, 9);
                }
                _ => continue,
            }
            let table = self.stack.table();
            assert!(
                table
                    .correct_counts(&self.company.scope, &counts, &damaged)
                    .await
                    .unwrap()
            );
        }
    }
}

#[tokio::test]
async fn r2_counters_that_were_lost_or_doubled_change_no_list_after_housekeeping() {
    let world = World::start().await;
    // The events of the failed ones.
    world.stack.leave_messages();
    let receipts = many_receipts(&world).await;
    // No list was requested: housekeeping knows the environment since its first key.
    world.damage().await;
    world.close_days().await;
    assert_lists(&world, &receipts).await;
    assert_eq!(world.counters().await, books(&receipts));
}

#[tokio::test]
async fn r2_a_late_verdict_whose_count_is_lost_shows_in_lists_at_once_and_in_the_counters_later() {
    let world = World::start().await;
    let (table, scope) = (world.stack.table(), world.company.scope);
    let late = world.submitted("E310000000001").await;
    world.advance(SignedDuration::from_mins(1));
    let mut receipts = many_receipts(&world).await;
    receipts.push(late.clone());
    table
        .count_created(&scope, late.day(), late.fiscal.ecf_type, &late.fiscal.monto_total, None)
        .await
        .unwrap();
    world.close_days().await;
    assert_eq!(world.counters().await, books(&receipts));
    assert_lists(&world, &receipts).await;

    let verdict = Verdict {
        state: ReceiptState::Rejected,
        track_id: None,
        error_code: None,
        error_message: None,
        secuencia_utilizada: None,
        taxauth_response: None,
        outbox: vec![OutboxEntry::Webhook],
    };
    table
        .record_verdict(&scope, &late.public_id, verdict, world.now())
        .await
        .unwrap();
    let ended = table.receipt(&scope, &late.public_id).await.unwrap().unwrap();
    let last = receipts.len() - 1;
    receipts[last] = ended;
    // The writer of the verdict may still count it.
    run(&world.app).await.unwrap();
    assert_lists(&world, &receipts).await;
    world.stack.leave_messages();
    assert_ne!(world.counters().await, books(&receipts));
    world.advance(SignedDuration::from_mins(26));
    world.close_days().await;
    assert_eq!(world.counters().await, books(&receipts));
    assert!(table.closing(&scope).await.unwrap().late.is_empty());
    assert_lists(&world, &receipts).await;
}

#[tokio::test]
async fn r7_failed_receipts_of_closed_days_are_found_by_counters_and_nowhere_else() {
    let world = World::start().await;
    let (table, scope) = (world.stack.table(), world.company.scope);
    let early = world.signed("E310000000001").await;
    world.advance(SignedDuration::from_mins(1));
    let mut receipts = many_receipts(&world).await;
    receipts.push(early.clone());
    world.close_days().await;

    // The receipt fails long after its day was closed, and is retried later.
    let failure = Failure {
        code: "refused",
        message: "no",
        taxauth_response: None,
    };
    table.record_failed(&scope, &early, failure, world.now()).await.unwrap();
    let failed = world.receipt(&early).await;
    for (late, is_retried) in [(&failed, false), (&failed, true)] {
        if is_retried {
            let retried = table.retry_failed(&scope, late, world.now()).await.unwrap();
            assert!(matches!(retried, Recorded::Now(_)), "{retried:?}");
        }
        let last = receipts.len() - 1;
        receipts[last] = world.receipt(late).await;
        assert_lists(&world, &receipts).await;
        world.advance(SignedDuration::from_mins(26));
        world.close_days().await;
        assert!(table.closing(&scope).await.unwrap().late.is_empty());
        assert_eq!(world.counters().await, books(&receipts));
        assert_lists(&world, &receipts).await;
    }

    world.stack.leave_messages();
    // Days and months without a failed receipt are not read, nor are those after the page.
    let filter = ReceiptFilter {
        states: [ReceiptState::Failed].into(),
        ..ReceiptFilter::default()
    };
    let page = PageRequest {
        limit: 1,
        offset: 0,
        after: None,
    };
    world.stack.calls().reset();
    let found = table.list_receipts(&scope, &filter, &page, world.now()).await.unwrap();
    assert!(found.total > 2);
    let queries = world.stack.calls().counts()["DynamoDB Query"];
    // Reads: the closed days, the months, the days before and after them, today; the days of two months, and the
    // receipts of two days.
    assert_eq!(queries, 9);
}

#[tokio::test]
async fn r2_a_day_without_any_counter_is_listed() {
    let world = World::start().await;
    world.advance(SignedDuration::from_hours(1));
    run(&world.app).await.unwrap();
    let uncounted = world.told("E310000000001").await;
    // Before housekeeping closes the day, and after.
    world.advance(SignedDuration::from_hours(24 * 40));
    assert_lists(&world, std::slice::from_ref(&uncounted)).await;
    world.close_days().await;
    assert_lists(&world, std::slice::from_ref(&uncounted)).await;
    assert_eq!(world.counters().await, books(&[uncounted]));
}

#[tokio::test]
async fn r2_what_an_idle_company_costs_does_not_grow() {
    let world = World::start().await;
    world.advance(SignedDuration::from_hours(24 * 3));
    world.close_days().await;
    world.advance(SignedDuration::from_hours(24));
    run(&world.app).await.unwrap();
    let closing = world.stack.table().closing(&world.company.scope).await.unwrap();
    let yesterday = fiscal_day(world.now()).saturating_sub(1.day());
    assert_eq!(closing.until, Some(yesterday));
    let due = world
        .stack
        .table()
        .due_days(0, world.now() + SignedDuration::from_hours(12), 10)
        .await
        .unwrap();
    assert!(due.iter().all(|entry| entry.scope != world.company.scope));
}

#[tokio::test]
async fn r2_the_closing_of_a_company_that_never_came_to_be_is_forgotten() {
    let world = World::start().await;
    let table = world.stack.table();
    let company = CompanyId::from_random([7; 20]);
    let scope = Scope {
        company,
        ..world.company.scope
    };
    table.begin_closing(&scope, world.now()).await.unwrap();
    run(&world.app).await.unwrap();
    assert!(!table.closing(&scope).await.unwrap().is_begun);
}
