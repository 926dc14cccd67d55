use std::collections::BTreeMap;

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{counters::DayCounts, fiscal_day, receipts::ListedReceipt};
use jiff::{SignedDuration, civil::date};

use crate::support::{T31, app, new_receipt, noon};

#[tokio::test]
async fn a_days_receipts_come_newest_first_with_their_present_state() {
    let app = app("newest first").await;
    let mut ids = Vec::new();
    for minute in 0..5 {
        let mut new = new_receipt(
            &app.scope,
            &format!("order-{minute}"),
            &format!("E31{:010}", minute + 1),
        );
        new.created_at = noon() + SignedDuration::from_mins(minute);
        ids.push(app.create(new).await.public_id);
    }
    let mut tomorrow = new_receipt(&app.scope, "tomorrow", "E310000000099");
    tomorrow.created_at = noon() + SignedDuration::from_hours(24);
    app.create(tomorrow).await;
    app.table
        .record_submitted(&app.scope, &ids[4], "track-1", noon())
        .await
        .unwrap();

    let listed = app
        .table
        .receipts_newest(&app.scope, fiscal_day(noon()), 3)
        .await
        .unwrap();
    let entry = |place: usize, state| ListedReceipt {
        public_id: ids[place],
        state,
        ecf_type: T31,
        monto_total: "1180.00".to_owned(),
    };
    assert_eq!(
        listed,
        [
            entry(4, ReceiptState::Submitted),
            entry(3, ReceiptState::Signed),
            entry(2, ReceiptState::Signed),
        ]
    );
    let all = app
        .table
        .receipts_newest(&app.scope, fiscal_day(noon()), 1_000)
        .await
        .unwrap();
    assert_eq!(all.len(), 5);
}

#[tokio::test]
async fn counters_hold_days_types_and_states_apart() {
    let app = app("counters").await;
    let (monday, tuesday, friday) = (date(2026, 11, 23), date(2026, 11, 24), date(2026, 11, 27));
    let counts = (0..20).map(|place| {
        let (table, scope) = (app.table.clone(), app.scope);
        let day = if place < 15 { monday } else { friday };
        tokio::spawn(async move { table.count_created(&scope, day, T31, "118.00", None).await.unwrap() })
    });
    for count in counts.collect::<Vec<_>>() {
        count.await.unwrap();
    }
    app.table
        .count_created(&app.scope, monday, ReceiptType::E32, "0.05", None)
        .await
        .unwrap();
    app.table
        .count_verdict(&app.scope, monday, T31, ReceiptState::Accepted, "118.00")
        .await
        .unwrap();
    app.table
        .count_verdict(&app.scope, monday, T31, ReceiptState::ConditionallyAccepted, "7")
        .await
        .unwrap();

    let read = app.table.day_counts(&app.scope, monday, friday).await.unwrap();
    assert_eq!(
        read,
        [
            DayCounts {
                day: monday,
                created: BTreeMap::from([(T31, 15), (ReceiptType::E32, 1)]),
                ended: BTreeMap::from([
                    ((T31, ReceiptState::Accepted), 1),
                    ((T31, ReceiptState::ConditionallyAccepted), 1),
                ]),
                failed: BTreeMap::new(),
                centavos: BTreeMap::from([
                    ((T31, None), 177_000),
                    ((T31, Some(ReceiptState::Accepted)), 11_800),
                    ((T31, Some(ReceiptState::ConditionallyAccepted)), 700),
                    ((ReceiptType::E32, None), 5),
                ]),
            },
            DayCounts {
                day: friday,
                created: BTreeMap::from([(T31, 5)]),
                ended: BTreeMap::new(),
                failed: BTreeMap::new(),
                centavos: BTreeMap::from([((T31, None), 59_000)]),
            },
        ]
    );
    assert_eq!(app.table.day_counts(&app.scope, tuesday, tuesday).await.unwrap(), []);
    for scope in app.foreign_scopes() {
        assert_eq!(app.table.day_counts(&scope, monday, friday).await.unwrap(), []);
    }
}
