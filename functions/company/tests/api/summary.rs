//! `GET /api/v1/client/summary`.

use ecf::{Environment, ReceiptState};
use ecf_store::{
    WebhookId,
    authority::{AuthorityStatus, MaintenanceWindow},
    breaker::{Breaker, Cause, Host, OpenBreaker},
    fiscal_day,
    numbers::{NewRange, Numbering},
    webhooks::NewWebhook,
};
use ecf_testkit::seeded_receipt;
use jiff::{SignedDuration, ToSpan as _};
use serde_json::{Value, json};

use crate::Api;

const SUMMARY: &str = "/api/v1/client/summary";

#[tokio::test]
async fn a_new_company_has_counted_nothing() {
    let api = Api::start().await;
    let nothing = |from: &str| json!({ "from": from, "to": "2026-11-27", "created": 0, "states": {}, "types": {} });
    let expected = json!({
        "environment": "TesteCF", "generated_at": "2026-11-27T16:00:00.000Z",
        "receipts": {
            "today": nothing("2026-11-27"), "month": nothing("2026-11-01"), "days": [],
            "open": {
                "received": 0, "deferred": 0, "signed": 0, "contingency": 0, "submitted": 0, "failed": 0, "complete": true,
            },
        },
        "certificate": null, "sequences": [], "inbox": { "unread": 0 },
        "webhooks": { "active": 0, "inactive": 0, "failing": 0, "failing_since": null },
        "taxauth": { "receipts": "sent", "summaries": "sent", "recommend_contingency": false },
    });
    assert_eq!(api.get(SUMMARY).await.expect(200), expected);
}

#[tokio::test]
async fn receipts_are_counted_by_type_and_state_for_today_and_the_month() {
    let api = Api::start().await;
    let (table, scope) = (api.stack.table(), &api.company.scope);
    let today = fiscal_day(api.stack.clock().now());
    let [invoice, note] = ["31", "34"].map(|ecf_type| ecf_type.parse().unwrap());
    let yesterday = today - 1.day();
    let last_month = today - 27.days();
    for (day, ecf_type, amount, state) in [
        (today, invoice, "118.00", Some(ReceiptState::Accepted)),
        (today, invoice, "0.5", Some(ReceiptState::Rejected)),
        (today, note, "1", None),
        (yesterday, invoice, "9999999999999999.99", Some(ReceiptState::Accepted)),
        (last_month, invoice, "7.00", Some(ReceiptState::Accepted)),
    ] {
        table.count_created(scope, day, ecf_type, amount, None).await.unwrap();
        if let Some(state) = state {
            table.count_verdict(scope, day, ecf_type, state, amount).await.unwrap();
        }
    }
    let mut receipts = api.get(&format!("{SUMMARY}?days=3")).await.expect(200)["receipts"].clone();
    let day = |date: &str, created: u32, states: Value, amount: &str| json!({ "date": date, "created": created, "states": states, "amount": amount });
    assert_eq!(
        receipts["days"],
        json!([
            day("2026-11-25", 0, json!({}), "0.00"),
            day("2026-11-26", 1, json!({ "accepted": 1 }), "9999999999999999.99"),
            // The credit note is subtracted.
            day("2026-11-27", 3, json!({ "accepted": 1, "rejected": 1 }), "117.50"),
        ])
    );
    let all = api.get(&format!("{SUMMARY}?days=90")).await.expect(200)["receipts"]["days"].clone();
    assert_eq!(
        (&all[0]["date"], &all[89]["date"]),
        (&json!("2026-08-30"), &json!("2026-11-27"))
    );
    assert_eq!(all[62]["date"], "2026-10-31");
    assert_eq!(all[62]["amount"], "7.00");
    for bad in ["days=91", "days=-1", "days=month"] {
        api.get(&format!("{SUMMARY}?{bad}")).await.expect(422);
    }
    for name in ["days", "open"] {
        receipts.as_object_mut().unwrap().remove(name);
    }
    let expected = json!({
        "today": {
            "from": "2026-11-27", "to": "2026-11-27", "created": 3, "states": { "accepted": 1, "rejected": 1 },
            "types": {
                "31": {
                    "created": 2, "amount": "118.50", "states": { "accepted": 1, "rejected": 1 },
                    "amounts": { "accepted": "118.00", "rejected": "0.50" },
                },
                "34": { "created": 1, "amount": "1.00", "states": {}, "amounts": {} },
            },
        },
        "month": {
            "from": "2026-11-01", "to": "2026-11-27", "created": 4, "states": { "accepted": 2, "rejected": 1 },
            "types": {
                "31": {
                    "created": 3, "amount": "10000000000000118.49", "states": { "accepted": 2, "rejected": 1 },
                    "amounts": { "accepted": "10000000000000117.99", "rejected": "0.50" },
                },
                "34": { "created": 1, "amount": "1.00", "states": {}, "amounts": {} },
            },
        },
    });
    assert_eq!(receipts, expected);
}

#[tokio::test]
async fn what_is_under_way_is_counted_over_all_time() {
    let api = Api::start().await;
    let (table, scope, now) = (api.stack.table(), &api.company.scope, api.stack.clock().now());
    let today = fiscal_day(now);
    let open = async || api.get(SUMMARY).await.expect(200)["receipts"]["open"].clone();
    let states = [
        (0, ReceiptState::Signed),
        (0, ReceiptState::Accepted),
        (1, ReceiptState::Failed),
        (1, ReceiptState::Submitted),
        (40, ReceiptState::Contingency),
        (40, ReceiptState::Rejected),
        (70, ReceiptState::Failed),
        (70, ReceiptState::Accepted),
    ];
    let seeded: Vec<_> = (1_i64..)
        .zip(states)
        .map(|(place, (ago, state))| {
            let created_at = now - SignedDuration::from_hours(24 * ago) - SignedDuration::from_secs(place);
            seeded_receipt(&api.company, &format!("E31{place:010}"), state, created_at)
        })
        .collect();
    table.seed_receipts(scope, &seeded).await.unwrap();
    let closed = table.seed_closing(scope, today.saturating_sub(100.days()), today.saturating_sub(2.days()));
    closed.await.unwrap();
    let expected = json!({
        "received": 0, "deferred": 0, "signed": 1, "contingency": 1, "submitted": 1, "failed": 2, "complete": true,
    });
    assert_eq!(open().await, expected);
    // Days without open receipts are not read: the day of the oldest failed one is counted.
    api.stack.calls().reset();
    open().await;
    let queries = api.stack.calls().counts()["DynamoDB Query"];
    // Counters, ranges, unread, webhooks; closed days, months, the days before and after them, the days of one month; the
    // receipts of three days.
    assert_eq!(queries, 12);
}

#[tokio::test]
async fn numbers_that_run_low_and_ranges_that_expire_are_told() {
    let api = Api::start().await;
    let table = api.stack.table();
    for (ecf_type, start, end, valid_until, numbering) in [
        ("31", 1, 60, "01-01-2027", Numbering::Service),
        ("31", 61, 100, "31-12-2028", Numbering::Service),
        ("31", 101, 900, "26-11-2026", Numbering::Service),
        ("33", 1, 5, "27-12-2026", Numbering::Service),
        ("34", 1, 5, "31-12-2028", Numbering::Caller),
        ("41", 1, 500, "26-11-2026", Numbering::Service),
    ] {
        let range = NewRange {
            ecf_type: ecf_type.parse().unwrap(),
            start,
            end,
            valid_until: Some(valid_until.parse().unwrap()),
            numbering: Some(numbering),
            created_at: api.stack.clock().now(),
        };
        table.open_range(&api.company.scope, range).await.unwrap();
    }
    // Four of five numbers are used: one is left, and the threshold is a fifth of the range.
    let now = api.stack.clock().now();
    for _ in 0..4 {
        let note = "33".parse().unwrap();
        let taken = table
            .take_next_number(&api.company.scope, note, ecf::Fecha::at(now), now)
            .await;
        taken.unwrap();
    }
    let sequences = api.get(SUMMARY).await.expect(200)["sequences"].clone();
    let expected = json!([
        {
            "ecf_type": "31", "remaining": 100, "caller_remaining": null, "valid_until": "2027-01-01",
            "low": false, "expiring": false,
        },
        {
            "ecf_type": "33", "remaining": 1, "caller_remaining": null, "valid_until": "2026-12-27",
            "low": true, "expiring": true,
        },
        {
            "ecf_type": "34", "remaining": null, "caller_remaining": 5, "valid_until": "2028-12-31",
            "low": false, "expiring": false,
        },
        {
            "ecf_type": "41", "remaining": 0, "caller_remaining": null, "valid_until": null,
            "low": true, "expiring": false,
        },
    ]);
    assert_eq!(sequences, expected);
}

#[tokio::test]
async fn webhooks_that_are_switched_off_are_counted_apart() {
    let api = Api::start().await;
    for (id, is_active) in [([1; 20], true), ([2; 20], false), ([3; 20], true)] {
        let webhook = NewWebhook {
            id: WebhookId::from_random(id),
            url: "https://erp.example.com/".to_owned(),
            events: vec!["*".to_owned()],
            is_active,
            sealed_secret: vec![1],
            created_at: api.stack.clock().now(),
        };
        api.stack
            .table()
            .create_webhook(&api.company.scope, webhook)
            .await
            .unwrap();
    }
    // A webhook that is switched off gets no deliveries, so it cannot fail.
    let (table, scope, now) = (api.stack.table(), &api.company.scope, api.stack.clock().now());
    for (id, ago) in [([1; 20], 1), ([2; 20], 60)] {
        let id = WebhookId::from_random(id);
        table.webhook_failed(scope, &id, now - ago.minutes()).await.unwrap();
    }
    let webhooks = api.get(SUMMARY).await.expect(200)["webhooks"].clone();
    let expected = json!({ "active": 2, "inactive": 1, "failing": 1, "failing_since": "2026-11-27T15:59:00.000Z" });
    assert_eq!(webhooks, expected);
}

#[tokio::test]
async fn receipts_of_others_count_until_they_are_acknowledged() {
    let api = Api::start().await;
    let mut items = Vec::new();
    for encf in ["E310000000001", "E310000000002"] {
        items.push(
            api.stack
                .received(&api.company, encf, None, b"<ECF/>", b"<ARECF/>")
                .await,
        );
    }
    let unread = async || api.get(SUMMARY).await.expect(200)["inbox"].clone();
    assert_eq!(unread().await, json!({ "unread": 2 }));
    let (scope, now) = (&api.company.scope, api.stack.clock().now());
    api.stack
        .table()
        .ack_inbox_item(scope, &items[0].id, now)
        .await
        .unwrap();
    assert_eq!(unread().await, json!({ "unread": 1 }));
}

#[tokio::test]
async fn an_authority_out_of_reach_is_told() {
    let api = Api::start().await;
    let now = api.stack.clock().now();
    let status = AuthorityStatus {
        checked_at: now,
        available: Some(true),
        services: vec![],
        windows: vec![MaintenanceWindow {
            start: now - 1.hour(),
            end: now + 1.hour(),
        }],
    };
    api.stack
        .table()
        .record_status(Environment::TesteCF, &status)
        .await
        .unwrap();
    let taxauth = api.get(SUMMARY).await.expect(200)["taxauth"].clone();
    let expected = json!({ "receipts": "held", "summaries": "held", "recommend_contingency": true });
    assert_eq!(taxauth, expected);
}

#[tokio::test]
async fn r8_summaries_are_held_while_no_token_can_be_had_for_them() {
    for (away, receipts) in [(Host::Ecf, "held"), (Host::Fc, "sent")] {
        let api = Api::start().await;
        let now = api.stack.clock().now();
        let open = OpenBreaker {
            since: now,
            cause: Cause::Failures,
            probe_at: now + 10.minutes(),
            probing_until: None,
        };
        let next = Breaker {
            open: Some(open),
            ..Breaker::default()
        };
        let table = api.stack.table();
        table
            .replace_breaker(Environment::TesteCF, away, &Breaker::default(), next)
            .await
            .unwrap();
        let taxauth = api.get(SUMMARY).await.expect(200)["taxauth"].clone();
        let expected = json!({ "receipts": receipts, "summaries": "held", "recommend_contingency": true });
        assert_eq!(taxauth, expected, "{away}");
    }
}
